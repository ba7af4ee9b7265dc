"""Slices of large loss: planted, by chance, and what each number of them says."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.svm import LinearSVC

from sklearn_interpret.diagnosis import (
    ErrorSlices,
    ErrorSlicesDisplay,
    SliceLossDisplay,
)


class Zero(RegressorMixin, BaseEstimator):
    """A model that predicts zero, whatever the rows are."""

    def fit(self, X, y=None):
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(X.columns, dtype=object)
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return np.zeros(len(X))


NULL_LOSSES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy": lambda rng, n: rng.standard_t(3, n) ** 2,
    "zero_one": lambda rng, n: (rng.random(n) < 0.2).astype(float),
}


def target(y, prediction):
    """A loss that is the target: any losses can be given."""
    return y


def slices_of(X, losses, **params):
    """Slices of given losses."""
    params = {"loss": target, "random_state": 0, **params}
    return ErrorSlices(FrozenEstimator(Zero().fit(X)), **params).fit(X, losses)


def planted(rng, n_rows, kind="exponential"):
    """Ten features, losses that are doubled in 5 % of the rows, and a mask of these."""
    X = rng.uniform(size=(n_rows, 10))
    side = np.sqrt(0.05)
    start = rng.random(2) * (1 - side)
    inside = ((X[:, :2] >= start) & (X[:, :2] < start + side)).all(axis=1)
    losses = rng.exponential(size=n_rows)
    if kind == "absolute":
        losses = np.abs(rng.normal(size=n_rows))
    return X, losses * np.where(inside, 2, 1), inside


def overlap(first, second):
    """Share of the rows in both among those in any of the two."""
    return (first & second).sum() / (first | second).sum()


@pytest.mark.thorough(after=0)
@pytest.mark.parametrize("n_rows", [200, 2000])
@pytest.mark.parametrize("kind", NULL_LOSSES)
def test_few_alarms_without_a_slice(kind, n_rows):
    n_tables, n_alarms = 50, 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 6))
        slices = slices_of(X, NULL_LOSSES[kind](rng, n_rows)).slices_
        n_alarms += any(part.adjusted_pvalue < 0.05 for part in slices)
    # Of alarms in 5 % of tables, more than 7 have a probability of 1 %.
    assert n_alarms <= 7


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("seed", range(20))
def test_planted_slices_are_found(seed):
    X, losses, inside = planted(np.random.default_rng(seed), 10000)
    assert any(
        overlap(part.holds(X), inside) > 0.5 and part.adjusted_pvalue < 0.05
        for part in slices_of(X, losses).slices_
    )


def test_numbers_of_a_slice():
    rng = np.random.default_rng(3)
    X, losses, _ = planted(rng, 3000, "absolute")
    inspector = slices_of(X, losses)
    frame = inspector.to_frame()
    assert_allclose(inspector.mean_loss_, losses.mean())
    for part, row in zip(inspector.slices_, frame.itertuples(), strict=True):
        holds = part.holds(X)
        assert_allclose([part.n_rows, part.share], [holds.sum(), holds.mean()])
        assert part.n_tested < part.n_rows
        assert_allclose(part.difference, part.mean_loss - part.mean_loss_elsewhere)
        assert part.low < part.difference < part.high
        assert part.pvalue <= part.adjusted_pvalue
        assert row.slice == str(part)
    assert (frame.pvalue.diff().dropna() >= 0).all()
    assert_array_equal(
        inspector.transform(X).T, [part.holds(X) for part in inspector.slices_]
    )
    assert_array_equal(
        inspector.get_feature_names_out(), [str(part) for part in inspector.slices_]
    )
    for i, part in enumerate(inspector.slices_):
        for other in inspector.slices_[:i]:
            assert overlap(part.holds(X), other.holds(X)) <= 0.5


def test_smaller_losses_are_found_as_the_negative_of_larger_ones():
    rng = np.random.default_rng(5)
    X, losses, _ = planted(rng, 3000, "absolute")
    worse, better = slices_of(X, losses), slices_of(X, -losses, direction="better")
    assert [str(part) for part in worse.slices_] == [
        str(part) for part in better.slices_
    ]
    assert_allclose(
        [part.difference for part in worse.slices_],
        [-part.difference for part in better.slices_],
    )


def test_levels_dates_and_missing_values():
    rng = np.random.default_rng(0)
    n_rows = 3000
    X = pd.DataFrame(
        {
            "job": rng.choice(["cook", "nurse", "smith", "clerk"], n_rows),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 300, n_rows), "D"),
            "age": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
        }
    )
    is_missing, is_late = X.age.isna(), X.day >= "2024-08-01"
    for inside, text in [
        (is_missing & X.job.isin(["cook", "clerk"]), "age is missing"),
        (is_late & (X.job == "nurse"), "day > 2024-"),
    ]:
        losses = rng.exponential(size=n_rows) * np.where(inside, 3, 1)
        best = slices_of(X, losses).slices_[0]
        assert overlap(best.holds(X), inside.to_numpy()) > 0.7
        assert text in str(best)


def test_held_out_losses():
    X, y = make_classification(300, 5, random_state=0)
    model, folds = LogisticRegression(), KFold(4)
    inspector = ErrorSlices(model, cv=folds, random_state=0).fit(X, y)
    probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    assert_allclose(inspector.losses_, -np.log(probability[np.arange(300), y]))
    wrong = ErrorSlices(model, loss="zero_one", cv=folds, random_state=0).fit(X, y)
    assert_array_equal(wrong.losses_, probability.argmax(axis=1) != y)
    brier = ErrorSlices(model, loss="brier", cv=folds, random_state=0).fit(X, y)
    assert_allclose(brier.losses_, (1 - probability[np.arange(300), y]) ** 2)


def test_frozen_models_are_judged_on_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = LinearRegression().fit(X[:100], y[:100])
    inspector = ErrorSlices(FrozenEstimator(model), loss="absolute_error")
    inspector.fit(X[100:], y[100:])
    assert_allclose(inspector.losses_, np.abs(model.predict(X[100:]) - y[100:]))


def test_rows_of_weight_zero_and_rows_in_no_fold():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(90, 3)), rng.normal(size=90), np.ones(90)
    weights[:10] = 0
    splits = [(np.arange(45), np.arange(60, 90))]
    inspector = ErrorSlices(LinearRegression(), cv=splits, random_state=0)
    inspector.fit(X, y, sample_weight=weights)
    assert_array_equal(np.isnan(inspector.losses_), np.arange(90) < 60)


def test_groups_stay_together():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 25)
    X = rng.normal(size=(40, 4))[groups]
    losses = rng.exponential(size=40)[groups]  # of groups: rows repeat each other
    alone = slices_of(X, losses, cv=GroupKFold(2))
    assert alone.slices_[0].adjusted_pvalue < 0.01  # copies confirm what they found
    params = {"loss": target, "random_state": 0, "cv": GroupKFold(2)}
    together = ErrorSlices(FrozenEstimator(Zero()), **params)
    together.fit(X, losses, groups=groups)
    assert together.slices_[0].adjusted_pvalue > 0.05


def test_no_slice():
    for losses in (np.ones(100), np.arange(12.0)):
        X = np.arange(float(len(losses)))[:, None]
        inspector = slices_of(X, losses)
        assert inspector.slices_ == []
        assert inspector.transform(X).shape == (len(X), 0)
        assert inspector.to_frame().empty
        assert "mean loss" in inspector.to_text()
        with pytest.raises(ValueError, match="no slices"):
            ErrorSlicesDisplay.from_estimator(inspector)


@pytest.mark.parametrize(
    "model, params, message",
    [
        (LinearRegression(), {"loss": "log_loss"}, "is one of classifiers"),
        (LogisticRegression(), {"loss": "squared_error"}, "is one of regressors"),
        (LinearSVC(), {}, "takes probabilities"),
        (LogisticRegression(), {"loss": lambda y, p: 0.0}, "one number for each row"),
        (LogisticRegression(), {"loss": lambda y, p: y * np.nan}, "must be finite"),
        (LogisticRegression(), {"max_conditions": 4}, "max_conditions"),
    ],
)
def test_bad_parameters(model, params, message):
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(ValueError, match=message):
        ErrorSlices(model, **params).fit(X, y)


def test_targets_are_needed():
    with pytest.raises(ValueError, match="requires y"):
        ErrorSlices(FrozenEstimator(Zero())).fit([[0.0], [1.0]])


def test_losses_around_a_slice():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.uniform(size=2000),
            "job": rng.choice(["cook", "nurse", "smith"], 2000),
        }
    )
    losses = np.where((X.x > 0.6) & (X.job == "nurse"), 5, 1) * rng.exponential(
        size=2000
    )
    inspector = slices_of(X, losses)
    display = SliceLossDisplay.from_estimator(inspector)
    frame = display.to_frame()
    inside = frame[frame.in_slice]
    assert inside.mean_loss.min() > 3 > frame[~frame.in_slice].mean_loss.max()
    assert set(inside.job) == {"nurse"}
    cell = frame.iloc[0]
    assert cell.x.startswith("<= ")
    rows = (X.x <= float(cell.x[3:])) & (cell.job == X.job)
    assert_allclose(cell.mean_loss, losses[rows].mean())
    with pytest.raises(ValueError, match="out of range"):
        SliceLossDisplay.from_estimator(inspector, number=99)
