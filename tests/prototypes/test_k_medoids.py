"""k-medoids: metrics, containers, weights, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import pairwise_distances

from sklearn_interpret._core.kernels.medoids import build, fasterpam
from sklearn_interpret.prototypes import KMedoids

X, _ = make_blobs(90, n_features=3, centers=4, random_state=0)


def mixed(n_rows=40):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "rooms": rng.integers(1, 6, n_rows),
            "colour": pd.Categorical(rng.choice(["red", "blue"], n_rows)),
            "town": rng.choice(["A", "B", "C"], n_rows),
        }
    )


def gower(frame, other):
    """Gower's distances, one column after the other."""
    total = 0.0
    for name in ("size", "rooms"):
        gaps = np.abs(other[name].to_numpy() - frame[name].to_numpy()[:, None])
        total = total + gaps / np.ptp(frame[name])
    for name in ("colour", "town"):
        same = other[name].to_numpy().astype(str)
        total = total + (same != frame[name].to_numpy().astype(str)[:, None])
    return total / 4


@pytest.mark.parametrize(
    "metric",
    ["euclidean", "manhattan", "cosine", "chebyshev", "seuclidean", "mahalanobis"],
)
def test_metrics(metric):
    model = KMedoids(n_clusters=4, metric=metric, random_state=0).fit(X)
    expected = pairwise_distances(X, metric=metric)[:, model.prototype_indices_]
    if metric in ("seuclidean", "mahalanobis"):  # by the rows as they are, no sample
        expected = expected * np.sqrt(90 / 89)
    assert_allclose(model.transform(X), expected, atol=1e-7)
    assert_array_equal(model.labels_, expected.argmin(axis=1))
    assert model.inertia_ == pytest.approx(expected.min(axis=1).sum())


def test_equals_that_of_the_matrix_and_of_a_function():
    one = KMedoids(n_clusters=5, n_init=1).fit(X)
    matrix = pairwise_distances(X)
    other = KMedoids(n_clusters=5, n_init=1, metric="precomputed").fit(matrix)
    own = KMedoids(
        n_clusters=5, n_init=1, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum())
    )
    for model in (other, own.fit(X)):
        assert_array_equal(model.prototype_indices_, one.prototype_indices_)
        assert model.inertia_ == pytest.approx(one.inertia_)
    assert other.cluster_centers_ is None
    new = X[:7] + 0.1
    assert_array_equal(other.predict(pairwise_distances(new, X)), one.predict(new))


def test_sparse_rows():
    dense = np.where(X > 0, X, 0)
    for metric in ("euclidean", "manhattan", "cosine"):
        one = KMedoids(n_clusters=3, metric=metric, random_state=0).fit(dense + 0.0)
        other = KMedoids(n_clusters=3, metric=metric, random_state=0).fit(
            sparse.csr_array(dense)
        )
        assert_array_equal(one.prototype_indices_, other.prototype_indices_)
        assert_allclose(
            other.transform(sparse.coo_array(dense)), one.transform(dense), atol=1e-7
        )


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.dia_array])
def test_sparse_rows_that_cannot_be_indexed(kind):
    dense = np.where(X > 0, X, 0)
    model = KMedoids(n_clusters=3).fit(kind(dense))
    assert_array_equal(
        model.cluster_centers_.toarray(), dense[model.prototype_indices_]
    )


def test_gower_distances_of_frames():
    frame = mixed().set_index(pd.Index(range(100, 140), name="house"))
    given = frame.copy()
    model = KMedoids(n_clusters=3, metric="gower", random_state=0).fit(frame)
    pd.testing.assert_frame_equal(frame, given)
    medoids = frame.iloc[model.prototype_indices_]
    assert_allclose(model.transform(frame), gower(frame, medoids))
    pd.testing.assert_frame_equal(model.cluster_centers_, medoids)
    new = frame.iloc[[0]].assign(town="D")
    far = gower(frame, medoids)[0] + 0.25 * (frame["town"].iloc[0] == medoids["town"])
    assert_allclose(model.transform(new)[0], far)


def test_what_is_missing_is_one_unit_from_all_that_is_not():
    frame = mixed()
    frame.loc[[3, 5], "size"] = np.nan
    model = KMedoids(n_clusters=40, metric="gower", random_state=0).fit(frame)
    distances = model.transform(frame)[:, np.argsort(model.prototype_indices_)]
    others = gower(frame.assign(size=[0.0, 1.0] * 20), frame.assign(size=0.0))
    others -= np.tile([0.0, 0.25], 20)[:, None]  # of the other columns alone
    gaps = frame["size"].isna().to_numpy()
    others += np.where(gaps[:, None] != gaps, 0.25, 0)
    assert_allclose(distances[gaps], others[gaps], atol=1e-12)


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = mixed()
    other = polars.DataFrame({name: frame[name].tolist() for name in frame})
    one = KMedoids(n_clusters=3, metric="gower", random_state=0).fit(frame)
    two = KMedoids(n_clusters=3, metric="gower", random_state=0).fit(other)
    assert_array_equal(one.prototype_indices_, two.prototype_indices_)
    assert isinstance(two.cluster_centers_, polars.DataFrame)


@pytest.mark.parametrize("method", ["fasterpam", "alternate"])
def test_rows_that_are_not_held_give_the_same(method):
    model = KMedoids(n_clusters=6, method=method, random_state=0)
    held = model.fit(X).prototype_indices_
    with config_context(working_memory=0.01):
        assert_array_equal(model.fit(X).prototype_indices_, held)


def test_rows_of_weight_zero_have_labels_and_are_no_medoids():
    weights = np.ones(90)
    weights[KMedoids(n_clusters=4, random_state=0).fit(X).prototype_indices_] = 0
    model = KMedoids(n_clusters=4, random_state=0).fit(X, sample_weight=weights)
    assert (weights[model.prototype_indices_] > 0).all()
    assert_array_equal(model.labels_, model.predict(X))
    matrix = pairwise_distances(X)
    other = KMedoids(n_clusters=4, random_state=0, metric="precomputed")
    other.fit(matrix, sample_weight=weights)
    assert_array_equal(other.prototype_indices_, model.prototype_indices_)
    assert_array_equal(other.labels_, model.labels_)


@pytest.mark.parametrize("init", ["build", "random"])
def test_the_best_of_several_starts_is_kept(init):
    """The first is `init`, the others are random; no swap improves the best."""
    distances, rng, sums = pairwise_distances(X), np.random.RandomState(3), []
    for n_init in range(1, 6):
        start = rng.permutation(90)[:9]
        if (init, n_init) == ("build", 1):
            start = build(distances, np.ones(90), 9)
        [(found, *_)] = fasterpam(distances, np.ones(90), [start], 100)
        sums.append(distances[found].min(axis=0).sum())
        model = KMedoids(n_clusters=9, init=init, n_init=n_init, random_state=3).fit(X)
        assert model.inertia_ == pytest.approx(min(sums), rel=1e-9)
    assert min(sums) < sums[0] * (1 - 1e-3)
    for position in range(9):
        others = distances[np.delete(model.prototype_indices_, position)].min(axis=0)
        swapped = np.minimum(distances, others).sum(axis=1)
        assert swapped.min() >= model.inertia_ * (1 - 1e-9)


def test_of_starts_that_end_alike_the_first_is_kept():
    first = KMedoids(n_clusters=4, n_init=1).fit(X)
    model = KMedoids(n_clusters=4, n_init=20, random_state=0).fit(X)
    assert_array_equal(model.prototype_indices_, first.prototype_indices_)
    assert model.n_iter_ == first.n_iter_


def test_random_starts_follow_the_seed():
    one, same, other = (
        KMedoids(n_clusters=20, init="random", max_iter=1, random_state=seed)
        for seed in (0, 0, 1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = one.fit(X).prototype_indices_.tolist()
        assert same.fit(X).prototype_indices_.tolist() == first
        assert other.fit(X).prototype_indices_.tolist() != first


def test_one_row_duplicates_constants_and_all_rows():
    one = KMedoids(n_clusters=1).fit([[1.0, 2.0]])
    assert one.prototype_indices_.tolist() == [0]
    assert one.inertia_ == 0
    with pytest.warns(ConvergenceWarning, match="Use fewer than n_clusters"):
        alike = KMedoids(n_clusters=3).fit(np.ones((5, 2)))
    assert sorted(alike.prototype_indices_.tolist()) == [0, 1, 2]
    assert alike.labels_.tolist() == [0] * 5
    everything = KMedoids(n_clusters=90).fit(X)
    assert sorted(everything.prototype_indices_) == list(range(90))
    assert everything.inertia_ == 0
    constant = np.column_stack([X[:, 0], np.ones(90)])
    for metric in ("seuclidean", "mahalanobis", "gower"):
        assert np.isfinite(KMedoids(metric=metric).fit(constant).inertia_)


def test_a_copy_of_a_medoid_is_at_distance_zero():
    far = load_iris().data + 1e4
    model = KMedoids(n_clusters=3).fit(far)
    distances = model.transform(model.cluster_centers_)
    assert np.diag(distances).tolist() == [0, 0, 0]


def test_ends_early_with_a_warning():
    model = KMedoids(n_clusters=20, init="random", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 times"):
        model.fit(X)


@pytest.mark.parametrize(
    ("parameters", "rows", "message"),
    [
        ({"n_clusters": 91}, X, "n_clusters=91 is too large.*n_samples=90"),
        ({"metric": "no such"}, X, "metric.*no such"),
        ({"metric": "precomputed"}, X, r"square matrix.*\(90, 3\)"),
        (
            {"metric": "precomputed"},
            X[:9] @ X[:9].T + np.eye(9, k=1) + 99,
            "symmetric matrix of distances",
        ),
        ({"metric": "precomputed"}, -np.eye(9), "smallest is -1"),
        ({}, np.full((9, 2), np.nan), "contains NaN"),
        ({}, mixed(), "could not convert string"),
        ({}, np.empty((0, 2)), "0 sample"),
        ({"metric": "gower"}, np.full((9, 2), np.inf), "infinity"),
    ],
)
def test_bad_input(parameters, rows, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**parameters).fit(rows)


@pytest.mark.parametrize("metric", ["nan_euclidean", lambda a, b: np.nan])
def test_distances_that_are_no_numbers(metric):
    rows = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]] * 3)
    if callable(metric):
        rows = np.nan_to_num(rows)
    with pytest.raises(ValueError, match=r"metric=.*no finite numbers"):
        KMedoids(n_clusters=2, metric=metric).fit(rows)


@pytest.mark.parametrize("metric", [dict, RBF(), RBF, lambda a: a, lambda a, b: a])
def test_callables_that_are_no_metrics(metric):
    with pytest.raises(TypeError, match=r"metric=.* cannot be used: "):
        KMedoids(n_clusters=2, metric=metric).fit(X)


def test_negative_distances():
    with pytest.raises(ValueError, match="or negative"):
        KMedoids(n_clusters=2, metric=lambda a, b: -1.0).fit(X)


def test_too_few_rows_of_positive_weight():
    with pytest.raises(ValueError, match=r"rows of positive weight.*n_samples=2"):
        KMedoids(n_clusters=3).fit(X, sample_weight=np.arange(90) < 2)


def test_categories_need_the_metric_for_them():
    frame = pd.DataFrame({"size": [1.0, 2.0, 9.0], "town": ["a", "b", "a"]})
    message = "metric='euclidean' takes numbers.*categories: 'town'.*metric=\"gower\""
    with pytest.raises(ValueError, match=message):
        KMedoids(n_clusters=2).fit(frame)
    assert KMedoids(n_clusters=2, metric="gower").fit(frame).inertia_ > 0


def test_a_far_row_does_not_change_the_other_clusters():
    """Single precision would lose the distances within clusters."""
    rng = np.random.default_rng(0)
    centres = 10 * rng.normal(size=(5, 3))
    X = centres[rng.integers(5, size=1200)] + 0.1 * rng.normal(size=(1200, 3))
    near = KMedoids(n_clusters=5, random_state=0).fit(X)
    far = KMedoids(n_clusters=6, random_state=0).fit(np.vstack([X, [[1e8, 0, 0]]]))
    assert far.inertia_ == pytest.approx(near.inertia_)


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_fewer_distinct_rows_than_clusters(metric):
    rows = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    model = KMedoids(n_clusters=3, metric=metric, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="Use fewer than n_clusters=3 clusters: only 2"
    ):
        model.fit(rows)
    assert len(np.unique(model.labels_)) == 2
