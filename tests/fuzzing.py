"""One machine that tries estimators on anything, and what it allows to come out.

A case is a table in some container, with some dtypes, weights and parameters, sound or
odd. Allowed are an error that this library or scikit-learn raises on purpose, or
results that are numbers.
"""

import traceback
import warnings
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.estimator_checks._results import all_results
from tests.instances import (
    OF_LINES,
    OF_ONE_KIND,
    OF_TREES,
    suited_to_any_data,
    wraps_a_model,
)
from tests.speeds import examples

# Columns by kind: a generator and a number of rows to a list or an array.
COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(3, size=n).astype(float),
    "whole": lambda rng, n: rng.integers(-5, 6, size=n),
    "constant": lambda rng, n: np.full(n, 1.5),
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "small": lambda rng, n: rng.integers(-100, 100, size=n).astype(np.int8),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "tiny": lambda rng, n: 1e-300 * rng.normal(size=n),
    "far": lambda rng, n: 1e9 + rng.normal(size=n),
    "huge": lambda rng, n: 1e307 * rng.normal(size=n),
    "extreme": lambda rng, n: rng.choice([-(2**63), 0, 1, 2**63 - 1], size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "missing": lambda rng, n: np.full(n, np.nan),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.2, np.inf, 1.0),
}
OF_FRAMES = {
    "text": lambda rng, n: rng.choice(["a", "b", "<i>", ""], size=n).astype(object),
    "category": lambda rng, n: pd.Categorical(rng.choice(["u", "v"], size=n)),
    "date": lambda rng, n: pd.date_range("2020-01-01", periods=n),
    "zone": lambda rng, n: pd.date_range("2020-01-01", periods=n, tz="Asia/Tokyo"),
    # With gaps, scikit-learn's own imputer fails.
    "nullable": lambda rng, n: pd.array(rng.integers(5, size=n), dtype="Int64"),
    "thin": lambda rng, n: pd.arrays.SparseArray(rng.integers(3, size=n), fill_value=0),
}
if find_spec("pyarrow"):
    import pyarrow

    OF_FRAMES["arrow"] = lambda rng, n: pd.array(
        rng.choice(["u", "v"], size=n), dtype=pd.ArrowDtype(pyarrow.string())
    )
SOUND = ("normal", "few", "whole")

WEIGHTS = {
    "ones": lambda rng, n: np.ones(n),
    "some": lambda rng, n: rng.integers(3, size=n),
    "list": lambda rng, n: rng.random(n).tolist(),
    "small": lambda rng, n: 1e-12 * rng.random(n),
    "large": lambda rng, n: 1e300 * rng.random(n),
    "zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: rng.normal(size=n),
    "missing": lambda rng, n: np.full(n, np.nan),
    "short": lambda rng, n: np.ones(n + 1),
    "table": lambda rng, n: np.ones((n, 2)),
}

_PACKAGE = "/sklearn_interpret/"

# Values for parameters of these names, sound and odd.
ODD = [None, True, False, 0, -1, 1.5, np.nan, 10**20, "no such", (), [], object()]
SENSIBLE = {
    "features": [[0], [0, (0, 1)], np.array(0), ["a"], [-1], slice(0, 1), [[0, 1]]],
    "categorical_features": ["auto", [0], [True]],
    "feature_groups": [{"g": [0, 1]}, {"g": [0]}, {"": [0]}],
    "response_method": ["auto", "predict", "predict_proba", "centered_log_proba"],
    "target": [0, 1, "a", [0]],
    "subsample": [2, 0.5, 1.0],
    "random_state": [0],
    "grid_resolution": [2, 3],
    "n_intervals": [1, 3],
    "percentiles": [(0, 1), (0.5, 0.5), (0.2, 0.1)],
    "confidence_level": [0.9],
    "pairs": [[(0, 1)], np.array(3), [(0, 0)]],
    "three_way": [True, [(0, 1, 2)]],
    "n_repeats": [1, 2],
    "n_permutations": [1, 2, 4],
    "n_coalitions": [4, 8],
    "n_samples": [2, 8],
    "test": ["gcm", "pcm", "hrt", "loco"],
    "nuisance": [Ridge(), DecisionTreeRegressor(monotonic_cst=[1, 0])],
    "cv": [2, "abc", 1],
    "comparison": ["difference", "ratio"],
    "method": ["auto", "brute", "exact", "split", "permutation"],
    "perturbation": ["interventional", "path_dependent", "correlation"],
    "algorithm": ["auto", "exact", "kernel", "permutation"],
    "background": [np.zeros((1, 3)), np.zeros((2, 2)), np.zeros(3)],
    "surrogate": [DecisionTreeRegressor(max_depth=2, random_state=0), Ridge, Ridge()],
    "scoring": ["r2", "accuracy", "neg_log_loss", "neg_brier_score"],
    "link": ["logit", "identity"],
    "center": ["start", "end", 0.0],
    "n_features_to_select": [1, 2],
    "covariance": ["HC0", "HC1", "HC2", "HC3"],
    "dispersion": ["quasi"],
    "interval": ["profile"],
    "offset": [0, 1, "c0"],
    "weights": ["precision"],
    "kernel_width": [0.1, 1e-300],
    "threshold": [0.0, 0.5, np.inf],
    "desired": ["other", 1, "a", ["a", "b"], [0, 1], (0.2, None), np.array([0, 1])],
    "permitted_range": [None, "any", {0: (0, 1)}, {0: (-np.inf, 1e300)}],
    "direction": [{0: "increase"}, {0: "decrease"}],
    "distance": ["std", "gower", {0: 1e-320}, {0: 1e-100}],
    "max_changes": [1, 2],
    "n_counterfactuals": [1, 3],
    "constraints": [[({0: 1}, 1)], [({0: 1e300}, -1e300)]],
    "objective": ["distance", "n_changed"],
    "bounds": [(0, 1), {0: (-1, 1)}, (-np.inf, np.inf)],
    "delta": [0.1, 1e-320],
    "metric": ["gower", "cosine", dict, len],
    "kernel": ["auto", "gower", dict, len],
    "embedding": [np.abs, np.ravel, dict],
    "class_weight": ["balanced", {"a": 3.0, 0: 1e-9}, {"b": "x"}, {1: -1.0}],
}

# Results that are undefined for some rows, by the end of their names: no number, or
# infinite, is then what their documentation promises.
UNDEFINED = (
    *("fidelity", "fidelity_", "r2_"),  # R² of what does not vary
    "nuisance_scores_",  # of tests without such a regression
    "total_",  # the share of all features, where some are left out
    "local_effects_",  # of cells without rows
    "lower_bounds",  # infinite where no row can be found
    # Rows of leverage one, and fits without residual degrees of freedom.
    *("dfbetas_", "dffits_", "covratio_", "residuals_studentized_", "sigma_"),
    *("dfbeta_", "cooks_distances_", "residuals_standardized_"),
    *("statistics_", "pvalues_", "standard_errors_", "intervals_", "dispersion_"),
    # Weights that the rows do not determine, or that are infinite.
    *("covariance_", "intervals_low_", "intervals_high_", "exponentiated_"),
)


@st.composite
def cases(draw, arguments):
    """An estimator with parameters, a table, targets and weights."""
    estimator_class = draw(st.sampled_from(list(arguments)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 12))
    container = draw(st.sampled_from(["array", "pandas", "polars", "sparse", "list"]))
    kinds = list(COLUMNS) + (list(OF_FRAMES) if container == "pandas" else [])
    odd_or_sound = st.one_of(st.sampled_from(SOUND), st.sampled_from(kinds))
    chosen = draw(st.lists(odd_or_sound, min_size=1, max_size=4))
    columns = [{**COLUMNS, **OF_FRAMES}[kind](rng, n_rows) for kind in chosen]
    y, pool = draw(st.sampled_from([_regression, _classification]))(
        draw, rng, n_rows, estimator_class
    )
    weights = draw(
        st.sampled_from([None] * 9 + ["ones", "some", "list"] * 2 + [*WEIGHTS])
    )
    params = dict(arguments[estimator_class])
    if wraps_a_model(estimator_class):
        mixed = any(kind in OF_FRAMES for kind in chosen)
        model = draw(st.sampled_from(pool))
        params = {"estimator": _encoded(model, mixed)} | suited_to_any_data(
            estimator_class, params, model
        )
    known = signature(estimator_class).parameters
    names = sorted(set(known) - {"estimator", "n_jobs", "verbose"})
    for name in draw(st.lists(st.sampled_from(names), max_size=2)) if names else []:
        values = SENSIBLE.get(name, []) if draw(st.integers(0, 3)) else ODD
        params[name] = draw(st.sampled_from(values or [params.get(name)]))
    weights = None if weights is None else WEIGHTS[weights](rng, n_rows)
    return estimator_class(**params), _contained(container, columns), y, weights


def _contained(container, columns):
    names = [f"c{j}" for j in range(len(columns))]
    if container == "pandas":
        return pd.DataFrame(dict(zip(names, columns, strict=True)))
    if container == "polars":
        return pl.DataFrame(dict(zip(names, columns, strict=True)))
    array = np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)
    if container == "sparse":
        return sparse.csr_array(array)
    return array.tolist() if container == "list" else array


def _regression(draw, rng, n_rows, estimator_class):
    """Numbers to predict, and models of them that the class takes."""
    scale = draw(st.sampled_from([1.0, 1.0, 1.0, 1e-300, 1e150, 1e307]))
    return scale * rng.normal(size=n_rows), _suitable(
        estimator_class,
        [
            DecisionTreeRegressor(max_depth=3, random_state=0),
            RandomForestRegressor(2, max_depth=3, random_state=0),
        ],
        [LinearRegression(), Ridge()],
        [],
    )


def _classification(draw, rng, n_rows, estimator_class):
    """Labels to predict, and models of them that the class takes."""
    labels = draw(st.sampled_from([[0, 1], ["a", "b"], ["a", "b", "c"], ["only"]]))
    return np.array(labels)[rng.integers(len(labels), size=n_rows)], _suitable(
        estimator_class,
        [
            DecisionTreeClassifier(max_depth=3, random_state=0),
            RandomForestClassifier(2, max_depth=3, random_state=0),
        ],
        [LogisticRegression()],
        [GaussianNB()],
    )


def _suitable(estimator_class, trees, linear, others):
    """The models that a class takes, of these and those of its one kind."""
    if estimator_class in OF_ONE_KIND:
        kind = is_classifier(trees[0])
        known = OF_ONE_KIND[estimator_class]
        return [model for model in known if is_classifier(model) == kind] or known
    if estimator_class in OF_TREES:
        return trees
    return linear if estimator_class in OF_LINES else trees + linear + others


def _encoded(model, mixed):
    """The model behind an encoder of what is no number, where there is such."""
    if not mixed:
        return model
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True))
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder = make_column_transformer((numbers, _columns_of_numbers), remainder=levels)
    return make_pipeline(encoder, model)


def _columns_of_numbers(X):
    return [
        j for j, dtype in enumerate(X.dtypes) if pd.api.types.is_numeric_dtype(dtype)
    ]


def fuzz(request, arguments):
    """Try classes, given with quick parameters, on as many cases as the switch says."""
    asked = request.config.getoption("--fuzz")
    budget = settings(
        settings(max_examples=asked, derandomize=False) if asked else examples(100),
        suppress_health_check=list(HealthCheck),
    )
    budget(given(cases(arguments))(holds))()


def holds(case):
    """One case: an error on purpose, or results that are numbers."""
    estimator, X, y, weights = case
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            takes_weights = "sample_weight" in signature(estimator.fit).parameters
            given_weights = {"sample_weight": weights} if takes_weights else {}
            estimator.fit(X, y, **given_weights)
            found = all_results(estimator, X[:3])
        except (ValueError, TypeError) as error:
            if not is_on_purpose(error):
                raise
            return
    numbers = [
        (name, values)
        for name, values in numbers_in("", found)
        if not name.partition("[")[0].endswith(UNDEFINED)
    ]
    # A level of a column that is named as a category may be anything.
    odd = [
        name
        for name, values in numbers
        if np.isinf(values).any() and ".levels[" not in name
    ]
    assert not odd, f"infinite: {odd}"
    # Outside of the rows that count, effects are not known.
    drawn = getattr(estimator, "subsample", None) is not None
    outside = drawn or (weights is not None and not np.all(weights))
    some_pairs = getattr(estimator, "pairs", None) is not None  # nor are the others
    if not (outside or some_pairs or _has_gaps(X)):
        odd = [name for name, values in numbers if np.isnan(values).any()]
        assert not odd, f"not a number: {odd}"


def is_on_purpose(error):
    """Whether we raised an error, or what scikit-learn does for us or for the model.

    Not so numpy or scipy that we called ourselves.
    """
    frames = traceback.extract_tb(error.__traceback__)
    files = [frame.filename for frame in frames]
    inside = (i for i, file in enumerate(files) if _PACKAGE in file)
    ours = max(inside, default=0)  # none of ours: a check by scikit-learn
    return ours == len(files) - 1 or "/sklearn/" in files[ours + 1]


def _has_gaps(X):
    if sparse.issparse(X):
        return np.isnan(X.data).any()
    frame = X.to_pandas() if isinstance(X, pl.DataFrame) else pd.DataFrame(X)
    return frame.isna().to_numpy().any()


def numbers_in(name, value):
    """Arrays of floats in nested results, by name."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
        value.pop("data", None)
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers_in(f"{name}.{key}", part)
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from numbers_in(f"{name}[{i}]", part)
    elif isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
        yield name, np.asarray(value)
