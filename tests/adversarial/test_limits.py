"""Rows as returned, in their dtype, are within the ball and the box."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import (
    AdversarialPatch,
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    OnePixelAttack,
    ProjectedGradient,
    SubstituteAttack,
)
from tests.speeds import examples

ORDERS = {"inf": np.inf, "2": 2, "1": 1}
FEW = {"n_steps": 2, "random_state": 0}


def plane(rng, centre, names=None):
    """A linear classifier whose boundary is near some point."""
    model = LogisticRegression()
    slopes = rng.normal(size=(1, len(centre)))
    model.coef_, model.intercept_ = slopes, -slopes @ centre
    model.classes_, model.n_features_in_ = np.arange(2), len(centre)
    if names is not None:
        model.feature_names_in_ = np.asarray(names, dtype=object)
    return FrozenEstimator(model)


@pytest.mark.parametrize(
    ("dtype", "offset", "epsilon"),
    [("f2", 1000, 0.3), ("f4", 1e6, 0.04), ("f4", 0.7, 0.3), ("f8", 1e6, 0.04)],
)
@pytest.mark.parametrize("norm", ORDERS)
def test_rounding_goes_towards_the_row(dtype, offset, epsilon, norm):
    rng = np.random.default_rng(0)
    rows = (offset + rng.normal(size=(40, 4))).astype(dtype)
    attack = FastGradientSign(
        plane(rng, rows.mean(axis=0, dtype="f8")),
        epsilon=epsilon,
        units="raw",
        norm=norm,
        bounds=(offset - 9, offset + 9),
    )
    found = attack.fit(rows).explain(rows).rows
    assert found.dtype == rows.dtype
    sizes = np.linalg.norm(found.astype("f8") - rows, ORDERS[norm], axis=1)
    assert sizes.max() <= epsilon


@pytest.mark.filterwarnings("ignore:Allow more changes")
@examples(4)
@given(
    seed=st.integers(0, 10**6),
    dtype=st.sampled_from(["f2", "f4", "f8", "i1", "i4", "u1", "Float32", "Int8"]),
    offset=st.sampled_from([0, 1, 60, 1e3, 1e6]),
    epsilon=st.sampled_from([1e-3, 0.04, 0.3, 1.0, 2.5]),
    norm=st.sampled_from(list(ORDERS)),
    units=st.sampled_from(["std", "raw"]),
    bounds=st.sampled_from([None, (-0.1, 0.7)]),
)
def test_rows_as_returned_are_within_limits(
    seed, dtype, offset, epsilon, norm, units, bounds
):
    rng = np.random.default_rng(seed)
    offset = min(offset, 1e3 if dtype == "f2" else 60 if "1" in dtype else np.inf)
    table = offset + rng.normal(size=(8, 4))
    model = plane(rng, table.mean(axis=0), names := list("abcd"))
    if dtype[0] not in "fF":
        table = np.rint(np.clip(table, 0, 100))
    rows = pd.DataFrame(table, columns=names).astype(dtype)
    table = rows.to_numpy("f8")
    if bounds is not None:
        bounds = tuple(offset + end for end in bounds)
    ball = {"norm": norm, "units": units}
    attacks = [
        FastGradientSign(model, epsilon=epsilon, **ball),
        ProjectedGradient(model, epsilon=epsilon, **ball, **FEW),
        MinimalPerturbation(model, **ball),
        HopSkipJump(model, n_draws=4, **ball, **FEW),
        OnePixelAttack(model, population_size=8, n_generations=2, random_state=0),
        AdversarialPatch(
            model, image_shape=(2, 2), n_transforms=2, n_restarts=0, **FEW
        ),
    ]
    ends = bounds or (table.min(axis=0), table.max(axis=0))
    for attack in attacks:
        found = attack.set_params(bounds=bounds).fit(rows).explain(rows)
        assert (found.rows.dtypes == rows.dtypes).all()
        changed = found.rows.to_numpy("f8")
        inside = (ends[0] <= changed) & (changed <= ends[1])
        assert (inside | (changed == table)).all()
        if hasattr(attack, "epsilon"):
            assert found.distances.max() <= epsilon
            if units == "raw":
                sizes = np.linalg.norm(changed - table, ORDERS[norm], axis=1)
                assert sizes.max() <= epsilon


@pytest.mark.thorough
def test_rows_of_another_dtype_or_container_than_those_of_fit():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    model = plane(rng, np.zeros(2), ["a", "b"])
    known = pd.DataFrame(
        rng.integers(-3, 4, size=(9, 2)).astype("i1"), columns=["a", "b"]
    )
    for table in (known.astype("Int8"), pl.from_pandas(known)):
        attack = HopSkipJump(model, bounds=(-5, 5), **FEW).fit(table)
        rows = known + 0.37
        found = attack.explain(rows).rows
        cells = found.to_numpy().astype("f8")
        assert ((cells == rows) | (cells == np.rint(cells))).all(axis=None)


def frame(n_rows=80):
    """Numbers of several dtypes, a category, a flag and a constant; two classes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "double": rng.normal(size=n_rows),
            "single": rng.normal(size=n_rows).astype("float32"),
            "whole": rng.integers(0, 30, n_rows).astype("uint8"),
            "kind": pd.Categorical(rng.choice(list("abc"), n_rows)),
            "flag": rng.random(n_rows) < 0.5,
            "constant": 1.0,
        }
    )
    score = table.double + table.single + table.whole / 10 + (table.kind == "a")
    return table, np.where(score > score.median(), "yes", "no")


def encoded(model):
    """A model of these frames."""
    encode = OneHotEncoder(sparse_output=False), ["kind", "flag"]
    scale = StandardScaler(), ["double", "single", "whole", "constant"]
    return make_pipeline(make_column_transformer(encode, scale), model)


LINEAR, VECTORS = encoded(LogisticRegression()), encoded(SVC())
TREE = encoded(DecisionTreeClassifier(max_depth=4, random_state=0))
NETWORK = encoded(MLPClassifier(5, solver="lbfgs", alpha=1.0, random_state=0))
ATTACKS = {
    "sign, linear": FastGradientSign(LINEAR, epsilon=1.0),
    "sign, vectors": FastGradientSign(VECTORS, epsilon=1.0),
    "gradient, linear": ProjectedGradient(LINEAR, epsilon=1.0, **FEW),
    "gradient, vectors": ProjectedGradient(VECTORS, epsilon=1.0, **FEW),
    "least, linear": MinimalPerturbation(LINEAR, norm="inf"),
    "least, network": MinimalPerturbation(NETWORK, norm="1"),
    "least, vectors": MinimalPerturbation(VECTORS, norm="2"),
    "labels, tree": HopSkipJump(TREE, **FEW),
    "a class, tree": HopSkipJump(TREE, target="yes", **FEW),
    "pixels, linear": OnePixelAttack(LINEAR, n_pixels=2, random_state=0),
    "substitute, tree": SubstituteAttack(
        TREE, attack=FastGradientSign(None), n_rounds=1, random_state=0
    ),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", ATTACKS)
def test_frames_keep_categories_dtypes_and_what_is_frozen(name):
    attack, (known, y) = ATTACKS[name], frame()
    before = known.copy(deep=True)
    asked = attack.attack if name.startswith("substitute") else attack
    asked.set_params(features_to_vary=["single", "whole", "kind", "constant"])
    attack.fit(known, y)
    rows, y_rows = known[:4], y[:4]
    found = attack.explain(rows, y_rows)
    pd.testing.assert_frame_equal(known, before)
    assert found.rows.dtypes.equals(known.dtypes)
    same = ["double", "kind", "flag", "constant"]
    pd.testing.assert_frame_equal(found.rows[same], rows[same])
    for column in ("single", "whole"):
        ends = known[column].min(), known[column].max()
        assert found.rows[column].between(*ends).all()
    answers = attack.predict(found.rows)
    holds = answers == "yes" if name.startswith("a class") else answers != y_rows
    assert_array_equal(found.valid, holds)
    assert (found.status == "found").any()
    if hasattr(attack, "epsilon"):
        assert (found.distances <= 1 + 1e-6).all()
        assert set(np.flatnonzero(found.perturbations.any(axis=0))) == {1, 2}
    if name != "a class, tree":
        assert attack.robust_score(rows, y_rows) == np.mean(~found.valid)
