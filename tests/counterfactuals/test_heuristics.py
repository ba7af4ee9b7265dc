"""Growing spheres and Wachter's descent: valid, near, and within all limits."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.counterfactuals import GrowingSpheres, WachterCounterfactual
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.counterfactuals.data import LEVELS, Scores, mixed
from tests.speeds import examples

METHODS = [GrowingSpheres, WachterCounterfactual]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda c: c.__name__)
MIXED, _ = mixed()
CANCER = load_breast_cancer(return_X_y=True)


def baseline(inspector, X, rows):
    """Distances of the nearest rows of the other class, changes undone one by one."""
    actionability, model = inspector._actionability, inspector
    known, values = (actionability.encode(as_rows(part)) for part in (X, rows))
    classes, own = model.predict(X), model.predict(rows)
    distances = []
    for row, value in enumerate(values):
        others = np.flatnonzero(classes != own[row])
        origins = np.repeat(value[None], len(others), axis=0)
        nearest = others[actionability.distances(known[others], origins).argmin()]
        native = _one(rows, row)
        savings = (
            actionability.changes(known[[nearest]], value[None])[0]
            * actionability.costs
        )
        changed = list(np.argsort(-savings, kind="stable"))
        for j in list(changed):
            kept = [k for k in changed if k != j]
            if model.predict(_exchanged(native, _one(X, nearest), kept)) != own[row]:
                changed = kept
        distances.append(savings[changed].sum())
    return np.array(distances)


def _one(X, row):
    return X.iloc[[row]] if hasattr(X, "iloc") else X[[row]]


def _exchanged(row, donor, columns):
    """A row with some columns of another."""
    row = row.copy()
    for j in columns:
        if hasattr(row, "iloc"):
            row.isetitem(j, donor.iloc[:, j].array)
        else:
            row[:, j] = donor[:, j]
    return row


def on_cancer(model):
    X, y = CANCER
    return model.fit(X, y), X, X[::190]


CASES = {
    "logistic": lambda: on_cancer(
        make_pipeline(StandardScaler(), LogisticRegression())
    ),
    "forest": lambda: on_cancer(
        RandomForestClassifier(10, max_depth=5, random_state=0)
    ),
    "mixed smooth": lambda: (Scores().fit(MIXED), MIXED, MIXED[:4]),
    "mixed steps": lambda: (Scores(steps=True).fit(MIXED), MIXED, MIXED[:4]),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("case", CASES)
def test_valid_and_no_farther_than_the_baseline(case):
    model, X, rows = CASES[case]()
    inspectors = [m(FrozenEstimator(model), random_state=0).fit(X) for m in METHODS]
    expected = baseline(inspectors[0], X, rows).mean()
    for inspector in inspectors:
        explanation = inspector.explain(rows)
        assert explanation.status.tolist() == ["found"] * len(rows)
        assert (model.predict(explanation.rows) != model.predict(rows)).all()
        assert explanation.distances.mean() <= expected


def test_a_linear_model_has_a_closed_form():
    """Only the feature that closes most of the gap at its cost is changed."""
    X, y = CANCER
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    inspector = WachterCounterfactual(FrozenEstimator(model), permitted_range="any")
    inspector.fit(X)
    assert inspector.method_ == "differences"
    slopes = model[-1].coef_[0] / model[0].scale_ / inspector._actionability.costs
    explanation = inspector.explain(X[::56])
    gaps = np.abs(model.decision_function(X[::56]))
    expected = gaps / np.abs(slopes).max()
    assert_allclose(explanation.distances, expected, rtol=1e-3)
    assert (explanation.n_changed == 1).all()


def test_how_rows_are_found():
    X, y = CANCER
    X, y = X[:100, :4], y[:100]
    smooth = make_pipeline(StandardScaler(), MLPClassifier(5, "tanh", max_iter=3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps are few
        smooth.fit(X, y)
    for model, method in (
        (smooth, "differences"),
        (DecisionTreeClassifier().fit(X, y), "search"),
        (RandomForestClassifier(3).fit(X, y), "search"),
    ):
        inspector = WachterCounterfactual(FrozenEstimator(model)).fit(X)
        assert inspector.method_ == method
        assert 0 <= inspector.n_iter_ <= 100
    searching = WachterCounterfactual(FrozenEstimator(smooth), method="search")
    assert searching.fit(X).method_ == "search"


def test_all_rows_are_asked_about_together():
    """More rows take hardly more calls of the model."""
    calls = []

    class Counting(Scores):
        def decision_function(self, X):
            calls.append(len(X))
            return super().decision_function(X)

    model = Counting().fit(MIXED)
    inspector = GrowingSpheres(FrozenEstimator(model), n_samples=20, random_state=0)
    inspector.fit(MIXED)
    numbers = []
    for rows in (MIXED[:1], MIXED[:20]):
        calls.clear()
        inspector.explain(rows)
        numbers.append(len(calls))
    assert numbers[1] < 4 * numbers[0]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    "parameters",
    [{"first_radius": 20.0}, {"first_radius": 0.01}, {"decrease": 10**200}],
)
def test_any_first_radius_and_decrease_will_do(parameters):
    model = Scores().fit(MIXED)
    inspector = GrowingSpheres(
        FrozenEstimator(model), n_samples=100, random_state=0, **parameters
    )
    explanation = inspector.fit(MIXED).explain(MIXED[:5])
    assert explanation.status.tolist() == ["found"] * 5


limits_of_numbers = st.dictionaries(
    st.sampled_from(["a", "b", "n", "small", "single"]),
    st.tuples(st.floats(-3, 8), st.floats(0, 60)).map(lambda t: (t[0], t[0] + t[1])),
    max_size=3,
)
limits_of_levels = st.dictionaries(
    st.just("job"), st.lists(st.sampled_from("wxyz"), min_size=1, unique=True)
)
directions = st.dictionaries(
    st.sampled_from(["a", "n", "single", "size", "flag"]),
    st.sampled_from(["increase", "decrease"]),
    max_size=3,
)


@every_method
@examples(6)
@given(
    vary=st.lists(st.sampled_from(list(MIXED)), min_size=1, unique=True),
    numbers=limits_of_numbers,
    levels=limits_of_levels,
    directions=directions,
    most=st.sampled_from([None, 1, 3]),
    n_found=st.sampled_from([1, 2]),
    steps=st.booleans(),
    desired=st.sampled_from(["other", 1, (0.3, 0.5), (None, 0.2)]),
    distance=st.sampled_from(["mad", "std", "gower", {"a": 3.0, "job": 0.1}]),
)
def test_all_limits_are_kept(
    method, vary, numbers, levels, directions, most, n_found, steps, desired, distance
):
    model, rows = Scores(steps).fit(MIXED), MIXED[:2]
    inspector = method(
        FrozenEstimator(model),
        desired=desired,
        features_to_vary=vary,
        permitted_range=numbers | levels,
        direction=directions,
        max_changes=most,
        n_counterfactuals=n_found,
        distance=distance,
        random_state=0,
        **({"n_samples": 15} if method is GrowingSpheres else {"max_iter": 10}),
    ).fit(MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCounterfactualWarning)
        explanation = inspector.explain(rows)
    after, before = explanation.rows, rows.iloc[explanation.origin]
    assert after.dtypes.equals(MIXED.dtypes)
    if not len(after):
        return
    check_answers(model, desired, before, after)
    for name in MIXED:
        old, new = before[name].to_numpy(), after[name].to_numpy()
        moved = old != new
        if name not in vary:
            assert not moved.any()
        if name in numbers:
            low, high = numbers[name]
            assert ((new[moved] >= low) & (new[moved] <= high)).all()
        if name in levels:
            assert np.isin(new[moved].astype(object), levels[name]).all()
        if name in directions:
            ranks = [np.array([rank(name, v) for v in part]) for part in (old, new)]
            sign = 1 if directions[name] == "increase" else -1
            assert (sign * (ranks[1] - ranks[0]) >= 0).all()
    if most is not None:
        assert (explanation.n_changed <= most).all()


def check_answers(model, desired, before, after):
    """The model, asked again, satisfies the target."""
    if isinstance(desired, tuple):
        low, high = (
            end if end is not None else at
            for end, at in zip(desired, (0, 1), strict=True)
        )
        probability = model.predict_proba(after)[:, 1]
        assert ((probability >= low) & (probability <= high)).all()
    elif desired == "other":
        assert (model.predict(after) != model.predict(before)).all()
    else:
        assert (model.predict(after) == desired).all()


def rank(name, value):
    """A value as a number in the order of its column."""
    return LEVELS.index(value) if name == "size" else float(value)
