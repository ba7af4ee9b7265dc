"""The command `python -m sklearn_interpret`."""

import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret import __main__ as command
from sklearn_interpret.report import Check, InspectionReport


@pytest.fixture
def files(tmp_path):
    """A folder with models and rows."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X.iloc[:40, :3], y[:40]
    joblib.dump(Ridge().fit(X, y), tmp_path / "model.joblib")
    joblib.dump(Ridge(), tmp_path / "unfitted.pkl")
    skops.io.dump(Ridge().fit(X, y), tmp_path / "model.skops")
    joblib.dump(X, tmp_path / "table.pkl")
    joblib.dump(Ridge, tmp_path / "class.pkl")
    whole = (tmp_path / "model.joblib").read_bytes()
    (tmp_path / "cut.joblib").write_bytes(whole[:150])
    for kind in ("pkl", "skops"):
        (tmp_path / f"text.{kind}").write_text("target\n1\n")
    X.assign(target=y).to_csv(tmp_path / "rows.csv", index=False)
    X.assign(target=y).to_parquet(tmp_path / "rows.parquet")
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Reports that note what they are given, and warn of one thing."""
    seen = {}

    def fit(report, X, y):
        seen.update(report=report, X=X, y=y)
        report.estimator_, report.sections_ = report.estimator, []
        report._seconds = {}
        report.checks_ = [
            Check("one", "Is it?", "warned", 1.0, 0.0, "It is.", ""),
            Check("two", "Is it not?", "passed", 1.0, 0.0, "It is.", ""),
        ]
        return report

    monkeypatch.setattr(InspectionReport, "fit", fit)
    return seen


@pytest.mark.parametrize("model", ["model.joblib", "model.skops"])
@pytest.mark.parametrize("rows", ["rows.csv", "rows.parquet"])
def test_report_is_written(files, quick, capsys, model, rows):
    """The path and the checks that warn are printed."""
    page = files / "page.html"
    paths = [str(files / model), str(files / rows)]
    command.main(["report", *paths, "--target", "target", "-o", str(page)])
    assert "<title>Inspection of Ridge</title>" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().out == f"{page}\nwarned: Is it? It is.\n"
    assert quick["X"].columns.tolist() == ["age", "sex", "bmi"]
    assert quick["y"].name == "target"
    assert type(quick["report"].estimator).__name__ == "FrozenEstimator"


def test_parameters_are_passed_on(files, quick):
    """With folds the model is not fitted, for it is to be refitted."""
    page = str(files / "page.html")
    paths = [str(files / "model.joblib"), str(files / "rows.csv")]
    numbers = ["--cv=3", "--max-features=4", "--n-jobs=2", "--random-state=5"]
    command.main(["report", *paths, "--target", "target", "-o", page, *numbers])
    found = quick["report"].get_params(deep=False)
    assert isinstance(found["estimator"], Ridge)
    assert not hasattr(found["estimator"], "coef_")
    given = {key: found[key] for key in ("cv", "max_features", "n_jobs")}
    assert given == {"cv": 3, "max_features": 4, "n_jobs": 2}
    assert (found["random_state"], found["verbose"]) == (5, 1)


@pytest.mark.parametrize(
    "model, rows, target, message",
    [
        ("cut.joblib", "rows.csv", "target", "holds no model that can be loaded. "),
        ("text.pkl", "rows.csv", "target", "holds no model that can be loaded. "),
        (
            "text.skops",
            "rows.csv",
            "target",
            "holds no model that can be loaded. BadZipFile",
        ),
        ("model.joblib", "rows.csv", "targte", "no column 'targte'; there are target"),
        ("model.joblib", "rows.csv", "?", "there are age, sex, bmi, target"),
        ("absent.joblib", "rows.csv", "target", "absent.joblib"),
        ("model.joblib", "absent.csv", "target", "absent.csv"),
        ("rows.csv", "rows.csv", "target", "must be a .skops, .joblib or .pkl"),
    ],
)
def test_what_is_wrong_is_said(files, quick, capsys, model, rows, target, message):
    paths = [str(files / model), str(files / rows)]
    with pytest.raises(SystemExit) as ended:
        command.main(["report", *paths, "--target", target])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not quick


@pytest.mark.parametrize("output", ["absent/page.html", "", "rows.csv/page.html"])
def test_output_is_checked_first(files, quick, capsys, output):
    """And so is the library that writes it."""
    paths = [str(files / "model.joblib"), str(files / "rows.csv")]
    with pytest.raises(SystemExit) as ended:
        command.main(["report", *paths, "--target", "age", "-o", str(files / output)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is no file that can be written" in line
    assert not quick


def test_missing_library_is_named_first(files, quick, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    paths = [str(files / "model.joblib"), str(files / "rows.csv")]
    with pytest.raises(SystemExit):
        command.main(["report", *paths, "--target", "age"])
    assert "jinja2" in capsys.readouterr().err
    assert not quick


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.nan, "y must have a number for each row. Input y contains NaN."),
        ("high", "y must have a number for each row. could not convert string"),
    ],
)
def test_targets_are_checked_first(files, capsys, values, message):
    rows = pd.read_csv(files / "rows.csv").assign(target=values)
    rows.to_csv(files / "bad.csv", index=False)
    paths, page = [str(files / "model.joblib"), str(files / "bad.csv")], files / "page"
    with pytest.raises(SystemExit) as ended:
        command.main(["report", *paths, "--target", "target", "-o", str(page)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not page.exists()


def test_types_of_a_skops_file_have_to_be_trusted(files, quick, capsys):
    """Those that are not are listed; with --trust the model is loaded."""
    model = make_pipeline(FunctionTransformer(load_diabetes), Ridge())
    skops.io.dump(model, files / "own.skops")
    (name,) = skops.io.get_untrusted_types(file=files / "own.skops")
    rest = [str(files / "rows.csv"), "--target", "target"]
    rest += ["-o", str(files / "page.html"), "--cv", "2"]
    with pytest.raises(SystemExit):
        command.main(["report", str(files / "own.skops"), *rest])
    assert f"--trust {name}" in capsys.readouterr().err
    command.main(["report", str(files / "own.skops"), *rest, "--trust", name])
    assert (files / "page.html").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("table.pkl", "DataFrame has none of the methods predict_proba"),
        ("class.pkl", "class.pkl holds the class "),
        ("unfitted.pkl", "This Ridge instance is not fitted yet"),
    ],
)
def test_what_is_no_fitted_model_is_refused(files, capsys, model, message):
    paths, page = [str(files / model), str(files / "rows.csv")], files / "page"
    with pytest.raises(SystemExit) as ended:
        command.main(["report", *paths, "--target", "target", "-o", str(page)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_help_warns_of_pickles(capsys):
    with pytest.raises(SystemExit):
        command.main(["report", "--help"])
    assert "A pickle runs code" in capsys.readouterr().out
