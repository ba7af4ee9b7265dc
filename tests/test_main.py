"""The command `python -m sklearn_interpret`."""

import joblib
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
    assert message in capsys.readouterr().err


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


def test_a_model_that_was_not_fitted_is_refused(files, capsys):
    paths = [str(files / "unfitted.pkl"), str(files / "rows.csv")]
    with pytest.raises(SystemExit):
        command.main(["report", *paths, "--target", "target"])
    assert "fit" in capsys.readouterr().err


def test_help_warns_of_pickles(capsys):
    with pytest.raises(SystemExit):
        command.main(["report", "--help"])
    assert "A pickle runs code" in capsys.readouterr().out
