"""MMDCritic: prototypes and criticisms by definition, of rows of any kind."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from sklearn_interpret._core.statistics.weighted import averaged_quantile
from sklearn_interpret.prototypes import MMDCritic, _mmd_critic
from tests.references.memory import peak_memory
from tests.references.mmd import criticisms_of, mmd_squared, prototypes_of
from tests.speeds import examples

X, CLASSES = load_iris(return_X_y=True)
X = X[::3] + np.random.default_rng(0).normal(scale=1e-3, size=(50, 4))
CLASSES = CLASSES[::3]
FEW = {"n_prototypes": 5, "n_criticisms": 4}
LEVELS = ["low", "high", None]


def median_gamma(distances, weights=None):
    """Half the inverse of the median of positive distances, from a matrix."""
    weights = np.ones(len(distances)) if weights is None else weights
    above = np.triu_indices(len(distances), 1)
    distances, weights = distances[above], np.outer(weights, weights)[above]
    positive = distances > 0
    return 0.5 / averaged_quantile(distances[positive], [0.5], weights[positive])[0]


def squared(Z):
    """Squared distances of all rows, one by one."""
    return np.array([[((a - b) ** 2).sum() for b in Z] for a in Z])


def assert_by_definition(critic, K, shares):
    """Compare all that `fit` finds with objectives computed anew for each set."""
    chosen, mmd = prototypes_of(K, shares, critic.n_prototypes)
    assert critic.prototype_indices_.tolist() == chosen
    assert_allclose(critic.mmd_, mmd, atol=1e-10)
    spread = critic.criticism_regularizer == "logdet"
    criticisms = criticisms_of(
        K, shares, chosen, critic.n_criticisms, log_determinant=spread
    )
    assert critic.criticism_indices_.tolist() == criticisms


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("regularizer", ["logdet", None])
@pytest.mark.parametrize("standardize", [True, False])
def test_definition(standardize, regularizer, weighted):
    weights = np.random.default_rng(1).random(50) if weighted else np.ones(50)
    critic = MMDCritic(
        **FEW, standardize=standardize, criticism_regularizer=regularizer
    ).fit(X, sample_weight=weights if weighted else None)
    Z = X
    if standardize:
        Z = StandardScaler().fit_transform(X, sample_weight=weights)
    distances = squared(Z)
    gamma = median_gamma(distances, weights)
    assert critic.gamma_ == pytest.approx(gamma, rel=1e-10)
    K, shares = np.exp(-gamma * distances), weights / weights.sum()
    assert_by_definition(critic, K, shares)
    assert_array_equal(critic.prototypes_, X[critic.prototype_indices_])
    assert_array_equal(critic.criticisms_, X[critic.criticism_indices_])
    prototypes = K[:, critic.prototype_indices_]
    assert_allclose(critic.transform(X), prototypes, rtol=1e-10)
    expected = K @ shares - prototypes.mean(axis=1)
    assert_allclose(critic.witness(X), expected, atol=1e-12)


@examples(10)
@given(seed=st.integers(0, 1000), gamma=st.floats(0.01, 10))
def test_rows_on_a_grid(seed, gamma):
    """Many ties and copies: the first of ties, and no copy, is taken."""
    Z = np.random.default_rng(seed).integers(3, size=(18, 2)).astype(float)
    critic = MMDCritic(**FEW, gamma=gamma, standardize=False).fit(Z)
    assert_by_definition(critic, np.exp(-gamma * squared(Z)), np.full(18, 1 / 18))


def test_all_ways_to_give_a_kernel():
    by_number = MMDCritic(**FEW, gamma=0.7, standardize=False).fit(X)
    K = rbf_kernel(X, gamma=0.7)
    new = X[:7] + 0.1
    others = {
        "precomputed": (K, rbf_kernel(new, X, gamma=0.7)),
        rbf_kernel_of_seven: (X, new),
    }
    for kernel, (rows, some) in others.items():
        critic = MMDCritic(**FEW, kernel=kernel).fit(rows)
        assert critic.gamma_ is None
        assert_array_equal(critic.prototype_indices_, by_number.prototype_indices_)
        assert_array_equal(critic.criticism_indices_, by_number.criticism_indices_)
        assert_allclose(critic.mmd_, by_number.mmd_, atol=1e-12)
        assert_allclose(critic.transform(some), by_number.transform(new), rtol=1e-10)
        assert_allclose(critic.witness(some), by_number.witness(new), atol=1e-12)


def rbf_kernel_of_seven(A, B):
    return rbf_kernel(A, B, gamma=0.7)


def test_precomputed_with_weights_of_zero_and_classes():
    weights = np.tile([1.0, 0.0, 2.0, 1.0, 1.0], 10)
    args = {"sample_weight": weights, "y": CLASSES}
    few = {"n_prototypes": 2, "n_criticisms": 2, "by_class": True}
    rows = MMDCritic(**few, gamma=0.7, standardize=False).fit(X, **args)
    K = rbf_kernel(X, gamma=0.7)
    critic = MMDCritic(**few, kernel="precomputed").fit(K, **args)
    assert_array_equal(critic.prototype_indices_, rows.prototype_indices_)
    assert_array_equal(critic.criticism_indices_, rows.criticism_indices_)
    assert_allclose(critic.witness(K, CLASSES), rows.witness(X, CLASSES), atol=1e-12)
    assert (weights[critic.prototype_indices_] > 0).all()
    assert (weights[critic.criticism_indices_] > 0).all()


def mixed(library, n_rows=40):
    """A frame with numbers, whole numbers, categories and missing ones."""
    module = pytest.importorskip(library)
    rng = np.random.default_rng(3)
    columns = {
        "size": rng.normal(size=n_rows).round(2).tolist(),
        "count": rng.integers(5, size=n_rows).tolist(),
        "level": [LEVELS[k] for k in rng.integers(3, size=n_rows)],
        "flag": (rng.random(n_rows) < 0.5).tolist(),
    }
    return module.DataFrame(columns)


def slow_gower(frame):
    """Gower's distances of all rows, cell by cell."""
    columns = [list(frame[name]) for name in frame.columns]
    n_rows = len(frame)
    distances = np.zeros((n_rows, n_rows))
    for values in columns:
        numbers = not isinstance(values[0], bool | np.bool_ | str | None)
        extent = max(values) - min(values) if numbers else 1
        for i in range(n_rows):
            for j in range(n_rows):
                both = values[i], values[j]
                distances[i, j] += (
                    abs(both[0] - both[1]) / extent
                    if numbers
                    else level_of(both[0]) != level_of(both[1])
                )
    return distances / len(columns)


def level_of(value):
    """None for what is missing, in pandas NaN."""
    return value if isinstance(value, str | bool | np.bool_) else None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_mixed_frames(library):
    frame = mixed(library)
    critic = MMDCritic(**FEW).fit(frame)
    distances = slow_gower(frame)
    gamma = median_gamma(distances)
    assert critic.gamma_ == pytest.approx(gamma, rel=1e-10)
    K = np.exp(-gamma * distances)
    assert_by_definition(critic, K, np.full(40, 1 / 40))
    assert_allclose(critic.transform(frame), K[:, critic.prototype_indices_])
    for rows, index in (
        (critic.prototypes_, critic.prototype_indices_),
        (critic.criticisms_, critic.criticism_indices_),
    ):
        assert isinstance(rows, type(frame))
        assert dict(rows.dtypes if library == "pandas" else rows.schema) == dict(
            frame.dtypes if library == "pandas" else frame.schema
        )
        assert list(rows["count"]) == [list(frame["count"])[i] for i in index]


def test_rows_of_a_frame_keep_their_labels():
    frame = mixed("pandas")
    frame.index = [("a", "b")[i % 2] for i in range(40)]  # not unique
    given = frame.copy()
    critic = MMDCritic(**FEW).fit(frame)
    for rows, index in (
        (critic.prototypes_, critic.prototype_indices_),
        (critic.criticisms_, critic.criticism_indices_),
    ):
        assert rows.equals(given.iloc[index])
        rows.iloc[:, 0] = -1.0
    assert frame.equals(given)


def test_an_unknown_level_is_far_from_all():
    frame = mixed("pandas")
    critic = MMDCritic(**FEW, gamma=4.0).fit(frame)
    new = critic.prototypes_.iloc[:1].copy()
    assert critic.transform(new)[0, 0] == 1
    new["level"] = pd.Series(["unheard of"], new.index, new["level"].dtype)
    assert critic.transform(new)[0, 0] == pytest.approx(np.exp(-1))


def test_missing_numbers():
    """With Gower's distance, what is missing is like nothing but the missing."""
    Z = np.array([[0.0, 1], [np.nan, 1], [np.nan, 1], [1, 2], [0.5, 1]])
    critic = MMDCritic(n_prototypes=5, n_criticisms=0, kernel="gower", gamma=2.0)
    found = critic.fit(Z).transform(Z)
    place = critic.prototype_indices_.tolist().index(1)
    assert_allclose(found[:, place], np.exp([-1, 0, 0, -2, -1]))
    assert sorted(critic.prototype_indices_) == [0, 1, 3, 4]


@pytest.mark.parametrize("kernel", ["rbf", "gower"])
def test_by_class_is_a_critic_for_each_class(kernel):
    names = np.array(["c", "a", "b"])[CLASSES]
    critic = MMDCritic(**FEW, kernel=kernel, gamma=0.8, by_class=True)
    critic.fit(X, names)
    # All classes have the units of all rows.
    if kernel == "rbf":
        Z = StandardScaler().fit_transform(X)
        K = rbf_kernel(Z, gamma=0.8)
    else:
        Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
        K = laplacian_kernel(Z, gamma=0.8 / 4)
    witness = critic.witness(X, names)
    for position, name in enumerate(["a", "b", "c"]):
        own = np.flatnonzero(names == name)
        single = MMDCritic(**FEW, kernel="precomputed").fit(K[np.ix_(own, own)])
        some = slice(5 * position, 5 * position + 5)
        chosen = critic.prototype_indices_[some]
        assert_array_equal(chosen, own[single.prototype_indices_])
        assert_allclose(critic.mmd_[some], single.mmd_, atol=1e-12)
        odd = critic.criticism_indices_[4 * position : 4 * position + 4]
        assert_array_equal(odd, own[single.criticism_indices_])
        expected = single.witness(K[np.ix_(own, own)])
        assert_allclose(witness[own], expected, atol=1e-12)


def test_a_class_may_have_few_rows():
    names = np.array(["many"] * 48 + ["few"] * 2)
    critic = MMDCritic(**FEW, by_class=True).fit(X, names)
    assert names[critic.prototype_indices_].tolist() == ["few"] * 2 + ["many"] * 5
    assert names[critic.criticism_indices_].tolist() == ["many"] * 4


def test_leaves_of_a_forest():
    """Gower's distance of leaves is the share of trees that tell rows apart."""
    forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, CLASSES)
    critic = MMDCritic(
        **FEW, embedding=forest.apply, categorical_features=slice(None), gamma=1.5
    ).fit(X)
    leaves = forest.apply(X)
    apart = (leaves[:, None] != leaves).mean(axis=2)
    assert_by_definition(critic, np.exp(-1.5 * apart), np.full(50, 0.02))
    assert_array_equal(critic.prototypes_, X[critic.prototype_indices_])
    assert clone(critic).fit(X).mmd_.tolist() == critic.mmd_.tolist()


def test_outputs_of_a_model():
    forest = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, CLASSES)
    embedded = MMDCritic(**FEW, embedding=forest.predict_proba).fit(X)
    direct = MMDCritic(**FEW).fit(forest.predict_proba(X))
    assert_array_equal(embedded.prototype_indices_, direct.prototype_indices_)
    one = MMDCritic(**FEW, embedding=first_column).fit(X)
    column = MMDCritic(**FEW).fit(X[:, :1])
    assert_array_equal(one.prototype_indices_, column.prototype_indices_)


def first_column(rows):
    return rows[:, 0]


def test_a_callable_gets_rows_as_they_are():
    frame = mixed("pandas")
    critic = MMDCritic(**FEW, kernel=same_levels).fit(frame)
    K = same_levels(frame, frame)
    assert_by_definition(critic, K, np.full(40, 1 / 40))


def same_levels(A, B):
    """Share of the columns with the same text."""
    pairs = [(A[c].astype(str).to_numpy(), B[c].astype(str).to_numpy()) for c in A]
    return np.mean([a[:, None] == b for a, b in pairs], axis=0)


def test_many_rows_are_drawn_for_the_median():
    Z = np.random.default_rng(0).normal(size=(1200, 3))
    critic = MMDCritic(n_prototypes=1, n_criticisms=0, standardize=False)
    gammas = [critic.set_params(random_state=seed).fit(Z).gamma_ for seed in (0, 0, 1)]
    assert gammas[0] == gammas[1] != gammas[2]
    distances = ((Z[:, None] - Z) ** 2).sum(axis=2)
    assert_allclose(gammas, median_gamma(distances), rtol=0.1)


@pytest.mark.parametrize("kernel", ["rbf", "gower", rbf_kernel_of_seven])
@pytest.mark.parametrize("block_rows", [16, 64])
def test_blocks_and_workers_change_nothing(kernel, block_rows, monkeypatch):
    Z = np.random.default_rng(0).normal(size=(150, 3)).round(1)
    whole = MMDCritic(kernel=kernel).fit(Z)
    monkeypatch.setattr(_mmd_critic, "_BLOCK_ROWS", block_rows)
    critic = MMDCritic(kernel=kernel, n_jobs=2).fit(Z)
    witness = critic.witness(Z)
    assert_array_equal(critic.prototype_indices_, whole.prototype_indices_)
    assert_array_equal(critic.criticism_indices_, whole.criticism_indices_)
    assert_allclose(critic.mmd_, whole.mmd_, atol=1e-12)
    assert_allclose(witness, whole.witness(Z), atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", ["rbf", "gower"])
def test_the_matrix_of_all_pairs_is_never_held(kernel):
    Z = np.random.default_rng(0).normal(size=(4000, 2))
    critic = MMDCritic(kernel=kernel, gamma=0.5)
    peak = peak_memory(lambda: critic.fit(Z))
    witness = peak_memory(lambda: critic.witness(Z))
    assert peak < 4000**2 * 8 / 32
    assert witness < 4000**2 * 8 / 32


# Degenerate tables


def test_one_row():
    critic = MMDCritic().fit([[1.0, 2.0]])
    assert critic.prototype_indices_.tolist() == [0]
    assert critic.criticism_indices_.tolist() == []
    assert critic.criticisms_.shape == (0, 2)
    assert critic.mmd_.tolist() == [0]
    assert critic.gamma_ == 1
    assert critic.transform([[1.0, 2.0]]).tolist() == [[1]]


def test_copies_of_one_row():
    critic = MMDCritic().fit(np.full((20, 3), 0.1))
    assert critic.prototype_indices_.tolist() == [0]
    assert critic.criticism_indices_.tolist() == []
    assert critic.mmd_.tolist() == [0]


def test_as_many_prototypes_as_rows():
    critic = MMDCritic(n_prototypes=60).fit(X)
    assert sorted(critic.prototype_indices_) == list(range(50))
    assert critic.mmd_[-1] == 0
    assert len(critic.criticisms_) == 0
    assert_allclose(critic.witness(X), 0, atol=1e-12)
    assert critic.get_feature_names_out().tolist()[-1] == "mmdcritic49"


def test_copies_of_far_rows_are_seen():
    """Products of large numbers would not be exact enough to tell."""
    Z = np.random.default_rng(0).normal(size=(30, 3))
    Z[[3, 17]] = 1e7 + np.pi
    critic = MMDCritic(n_prototypes=40, standardize=False).fit(Z)
    assert len(critic.prototype_indices_) == 29


def test_large_means_do_not_count():
    plain = MMDCritic(standardize=False).fit(X)
    moved = MMDCritic(standardize=False).fit(X + 1e6)
    assert_array_equal(moved.prototype_indices_, plain.prototype_indices_)
    assert_allclose(moved.mmd_, plain.mmd_, atol=1e-8)


def test_constant_columns_do_not_count():
    wider = np.column_stack([np.full(50, 1e6 + 0.1), X, np.zeros(50)])
    for kernel in ("rbf", "gower"):
        plain = MMDCritic(kernel=kernel, gamma=1.0).fit(X)
        # The mean over the columns is over all of them.
        gamma = 1.0 if kernel == "rbf" else 6 / 4
        critic = MMDCritic(kernel=kernel, gamma=gamma).fit(wider)
        assert_array_equal(critic.prototype_indices_, plain.prototype_indices_)
        assert_allclose(critic.mmd_, plain.mmd_, atol=1e-12)


def test_mmd_of_the_definition_is_never_negative():
    critic = MMDCritic(n_prototypes=50).fit(X)
    assert (critic.mmd_ >= 0).all()
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=critic.gamma_)
    expected = mmd_squared(K, np.full(50, 0.02), critic.prototype_indices_[:49])
    assert critic.mmd_[48] == pytest.approx(expected, abs=1e-14)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "table", "words"),
    [
        ({"kernel": "linear"}, X, ["kernel", "linear", "gower"]),
        ({"gamma": 0}, X, ["gamma", "0", "median"]),
        ({"embedding": np.sum}, X, ["embedding", "50 rows"]),
        ({"embedding": np.transpose}, X, ["embedding", "50 rows", "(4, 50)"]),
        ({"by_class": True}, X, ["by_class", "y"]),
        ({"categorical_features": [7]}, X, ["categorical_features", "7"]),
        ({"kernel": "rbf", "categorical_features": [1]}, X, ["rbf", "x1", "gower"]),
        ({"kernel": "precomputed"}, X, ["precomputed", "symmetric", "(50, 4)"]),
        ({"kernel": "precomputed"}, X[:4], ["precomputed", "symmetric", "(4, 4)"]),
        (
            {"kernel": "precomputed", "embedding": np.sqrt},
            X @ X.T,
            ["embedding", "precomputed"],
        ),
        ({"kernel": dict}, X, ["kernel=<class 'dict'> cannot be used"]),
        ({"embedding": int}, X, ["embedding=<class 'int'> cannot be used"]),
        ({"embedding": lambda A: A[None]}, X, ["embedding", "cannot be used"]),
        (
            {"embedding": np.abs},
            pd.DataFrame({"a": pd.array(["u", "v"], dtype="string[pyarrow]")}),
            ["embedding", "cannot be used", "no kernel"],
        ),
        ({"kernel": lambda A, B: A @ A.T}, X[:40], ["kernel", "finite", "(40, 1)"]),
        ({"kernel": lambda A, B: A @ B.T * np.nan}, X, ["kernel", "finite"]),
        ({}, np.where(X > 5, np.nan, X), ["NaN"]),
        ({}, X + np.inf, ["infinity"]),
        ({}, X * 1e200, ["e+200", "not finite"]),
        ({}, X[:0], ["0 sample"]),
    ],
)
def test_bad_input(arguments, table, words):
    with pytest.raises((ValueError, TypeError)) as error:
        MMDCritic(**arguments).fit(table)
    for word in words:
        assert word in str(error.value)


def test_bad_labels():
    critic = MMDCritic(by_class=True)
    with pytest.raises(ValueError, match="inconsistent"):
        critic.fit(X, CLASSES[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        critic.fit(X, X[:, 0])
    critic.fit(X, CLASSES)
    with pytest.raises(ValueError, match="by_class"):
        critic.witness(X)
    with pytest.raises(ValueError, match=r"y has the class 9.*0, 1, 2"):
        critic.witness(X[:1], [9])


def test_sparse_rows_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        MMDCritic().fit(sparse.csr_array(X))


@pytest.mark.parametrize("kernel", ["rbf", "gower", "precomputed", rbf_kernel])
def test_the_nearest_prototype(kernel):
    """Also of rows so far away that the kernel is zero."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    given = rbf_kernel(X) if kernel == "precomputed" else X
    critic = MMDCritic(n_prototypes=5, n_criticisms=0, kernel=kernel).fit(given)
    nearest = critic.predict(given)
    assert_array_equal(nearest, critic.transform(given).argmax(axis=1))
    assert_array_equal(nearest[critic.prototype_indices_], np.arange(5))
    if kernel == "rbf":
        scale = X.std(axis=0)
        far = 1e4 * X
        distances = cdist(far / scale, critic.prototypes_ / scale)
        assert_array_equal(critic.predict(far), distances.argmin(axis=1))
