"""Numbers of the report, against others that are computed in another way."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from sklearn_interpret.report import InspectionReport, _inspection, _inspection_report

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["age", "bmi", "bp", "s5"]]
WEIGHTS = np.where(X["age"] > 50, 5.0, 0.2)
FOLDS = list(KFold(4, shuffle=True, random_state=1).split(X))
NUMBERS = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=[*"abc"])


def sections(model, X, y, *names, weights=None, **options):
    """Sections of some names, which must not have been refused."""
    options = {"checks": [], "random_state": 0, **options}
    report = InspectionReport(model, sections=names, **options).fit(X, y, weights)
    return report.sections_


def table(section, caption):
    """Columns of the table whose caption starts so."""
    parts = (p for p in section.parts if p.caption.startswith(caption))
    return next(parts).columns


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor()])
def test_losses_are_weighted(model):
    """Means of folds, and the references, which are fitted with the weights, too."""
    (found,) = sections(model, X, Y, "overview", weights=WEIGHTS, cv=FOLDS)
    losses = table(found, "Mean loss")
    totals = np.zeros(2)
    for k, (train, test) in enumerate(FOLDS):
        weights = {"sample_weight": WEIGHTS[train]} if "alpha" in vars(model) else {}
        fitted = clone(model).fit(X.iloc[train], Y[train], **weights)
        mean = np.average(Y[train], weights=WEIGHTS[train])
        predictions = fitted.predict(X.iloc[test]), np.full(len(test), mean)
        errors = [np.square(Y[test] - one) @ WEIGHTS[test] for one in predictions]
        expected = np.array(errors) / WEIGHTS[test].sum()
        np.testing.assert_allclose(losses[f"fold {k + 1}"][::2], expected)
        totals += errors
    np.testing.assert_allclose(losses["mean loss"][::2], totals / WEIGHTS.sum())
    assert losses["removed"][0] == f"{1 - totals[0] / totals[1]:.1%}"


@pytest.mark.parametrize("classifies", [False, True])
def test_noise_with_weights_is_no_better_than_chance(classifies):
    """Also where the weights know the target."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=200)
        weights = np.where(noise > 0.3, 0.2, 5.0)
        model = LogisticRegression() if classifies else LinearRegression()
        report = InspectionReport(
            model, sections=[], checks=["chance"], random_state=0
        ).fit(rng.normal(size=(200, 3)), noise > 0 if classifies else noise, weights)
        assert report.checks_[0].verdict == "warned"


@pytest.mark.thorough
def test_drop_column_uses_the_folds_and_the_weights():
    (found,) = sections(
        LinearRegression(), X, Y, "importance", weights=WEIGHTS, cv=FOLDS
    )
    columns = table(found, "Importance")
    by_fold = []
    for train, test in FOLDS:
        scores = []
        for Z in (X, *(X.drop(columns=name) for name in columns["feature"])):
            model = LinearRegression().fit(Z.iloc[train], Y[train], WEIGHTS[train])
            predictions = model.predict(Z.iloc[test])
            scores.append(r2_score(Y[test], predictions, sample_weight=WEIGHTS[test]))
        by_fold.append(scores[0] - np.array(scores[1:]))
    np.testing.assert_allclose(columns["drop column"], np.mean(by_fold, axis=0))
    # Nadeau and Bengio (2003).
    ratio = np.mean([len(test) / len(train) for train, test in FOLDS])
    widths = np.sqrt(1 / 4 + ratio) * np.std(by_fold, axis=0, ddof=1)
    np.testing.assert_allclose(columns["± (drop)"], stats.t.ppf(0.975, 3) * widths)


@pytest.mark.thorough
def test_order_of_rows_moves_no_importance():
    """Sorted by target, rows of unshuffled folds have targets of their own."""
    order = np.argsort(Y, kind="stable")
    (found,) = sections(LinearRegression(), X, Y, "importance")
    (again,) = sections(LinearRegression(), X.iloc[order], Y[order], "importance")
    found, again = (
        pd.DataFrame(dict(table(one, "Importance"))).set_index("feature")
        for one in (found, again)
    )
    moves = (found["drop column"] - again["drop column"][found.index]).abs()
    assert (moves < found["± (drop)"]).all()


@pytest.mark.thorough
def test_no_clock_decides_what_is_there(monkeypatch):
    """Columns depend on the model and on sizes; those of a slow search are missing."""
    clock = iter(range(0, 10**9, 10**4))
    monkeypatch.setattr(_inspection_report, "perf_counter", lambda: next(clock))
    (found,) = sections(LinearRegression(), X, Y, "importance")
    assert "drop column" in table(found, "Importance")
    (found,) = sections(SVR(), X[:80], Y[:80], "importance")
    assert "drop column" not in table(found, "Importance")


@pytest.mark.thorough
def test_shares_of_sage_agree_over_seeds():
    """They differ by less than their errors; a frozen model has such errors, too."""
    model = make_pipeline(StandardScaler(), SVR(C=20))
    frozen = FrozenEstimator(clone(model).fit(X[::2], Y[::2]))
    for one, rows in ((model, slice(250)), (frozen, slice(1, None, 2))):
        shares, widths = [], []
        for seed in range(3):
            options = {"random_state": seed, "max_features": 4}
            (found,) = sections(one, X[rows], Y[rows], "importance", **options)
            columns = table(found, "Importance")
            for numbers, name in ((shares, "SAGE, share"), (widths, "± (SAGE)")):
                percent = [float(cell.rstrip("%")) for cell in columns[name]]
                numbers.append(pd.Series(percent, columns["feature"]))
        shares, widths = pd.DataFrame(shares), pd.DataFrame(widths)
        assert (shares.max() - shares.min() < widths.mean()).all()
        np.testing.assert_allclose(shares.sum(axis=1), 100, atol=0.3)
        assert widths.min().min() > 0


@pytest.mark.thorough
def test_errors_of_a_frozen_model_count_the_rows():
    """A linear model's permutation importance is known: 2 b beta / var y."""
    held, slopes = 0, np.array([2.0, 1.0, 0.0])
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, noise = rng.normal(size=(200, 3)), rng.normal(size=200)
        model = LinearRegression().fit(X[:100], (X @ slopes + noise)[:100])
        (found,) = sections(
            FrozenEstimator(model), X[100:], (X @ slopes + noise)[100:], "importance"
        )
        columns = table(found, "Importance")
        places = [int(name[1:]) for name in columns["feature"]]
        truth = (2 * model.coef_ * slopes)[places] / 6
        errors = np.abs(columns["permutation"] - truth)
        held += np.sum(errors <= columns["± (permutation)"])
    assert held >= 0.88 * 45


@pytest.mark.thorough
def test_weights_and_copies_have_the_same_effects():
    copies = np.repeat(np.arange(120), np.arange(120) % 3 + 1)
    model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    y = NUMBERS["a"] ** 3 + NUMBERS["b"] * NUMBERS["c"]
    folds = [(np.arange(40, 120), np.arange(40)), (np.arange(80), np.arange(80, 120))]
    repeated = [[np.flatnonzero(np.isin(copies, one)) for one in f] for f in folds]
    (weighted,) = sections(
        model, NUMBERS, y, "effects", weights=np.arange(120) % 3 + 1.0, cv=folds
    )
    Z = NUMBERS.iloc[copies].reset_index(drop=True)
    (copied,) = sections(model, Z, y[copies].to_numpy(), "effects", cv=repeated)
    (plain,) = sections(model, NUMBERS, y, "effects", cv=folds)
    first = (one.summary.split(" Regions")[0] for one in (weighted, copied, plain))
    weighted, copied, plain = first
    # Regions are those of different subsamples.
    assert weighted == copied != plain


@pytest.mark.parametrize("n_rows", [300, 1200])
def test_influence_is_that_of_refits(n_rows):
    """With weights, and with more rows than other methods take."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n_rows, 2))
    y, weights = Z[:, 0] + rng.normal(size=n_rows), rng.uniform(0.2, 5, n_rows)
    (found,) = sections(LinearRegression(), Z, y, "training", weights=weights)
    assert not found.notes
    columns = table(found, "Rows that move the model most")
    row, share = columns["row"][0], columns["self-influence"][0]
    without = np.where(np.arange(n_rows) == row, 0.0, weights)
    before, after = (
        np.square(y[row] - LinearRegression().fit(Z, y, w).predict(Z[[row]])[0])
        for w in (weights, without)
    )
    np.testing.assert_allclose(share, after - before)


def test_noise_is_weighed_by_a_refit_with_weights():
    """Noisy rows of next to no weight make no noise important."""
    rng = np.random.default_rng(0)
    Z, heavy = rng.normal(size=(300, 4)), np.arange(300) < 150
    y = np.where(heavy, 3 * Z[:, 0], 200 * rng.normal(size=300))
    weights = np.where(heavy, 1.0, 1e-9)
    report = InspectionReport(
        LinearRegression(), sections=[], checks=["noise"], random_state=0
    )
    assert report.fit(Z, y).checks_[0].statistic > 0.1
    assert report.fit(Z, y, weights).checks_[0].statistic < 1e-3


@pytest.mark.thorough
def test_sentences_of_several_outputs():
    """Each output has its direction; what explains one output names it."""
    y = np.column_stack([2 * NUMBERS["a"], NUMBERS["b"] - NUMBERS["a"]])
    names = "overview", "effects", "interactions", "rows", "training"
    found = {s.name: s for s in sections(LinearRegression(), NUMBERS, y, *names)}
    one, other = found["effects"].summary.split("; ")
    assert one.startswith("On average, the prediction of output 0 goes up by")
    assert "with a" in one
    assert "with b" not in one
    assert other.startswith("the prediction of output 1 goes down by")
    assert "with a and up by" in other
    assert "Targets have several values" in found["overview"].summary
    assert found["training"].summary.startswith("The rows have targets of several")
    for name in ("interactions", "rows"):
        assert found[name].summary.endswith("This is about predictions of output 0.")
    many = np.column_stack([y, y, y])
    (section,) = sections(LinearRegression(), NUMBERS, many, "effects")
    assert section.summary.endswith("Of 6 outputs, these are the first 3.")


@pytest.mark.thorough
def test_targets_in_a_column_are_one_target():
    found = sections(LinearRegression(), X, Y.to_frame(), "overview", "importance")
    assert "removes" in found[0].summary
    assert found[1].parts


@pytest.mark.thorough
def test_small_forests_are_refitted(monkeypatch):
    """What counts is their number of trees, and the sizes of tables."""
    n_cells = 5 * (1 + 2) * X.size  # five folds, one feature and the others
    monkeypatch.setattr(_inspection, "_MOST_CELLS", 7 * n_cells)
    for n_trees in (7, 8):
        forest = RandomForestRegressor(n_trees, min_samples_leaf=40, random_state=0)
        (found,) = sections(forest, X, Y, "importance", max_features=1)
        assert ("drop column" in table(found, "Importance")) == (n_trees == 7)
