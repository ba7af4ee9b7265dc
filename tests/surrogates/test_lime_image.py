"""LIME for images: closed forms, what the model sees, segments, and the display."""

import pickle

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge

from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.surrogates import ImageExplanation, LimeImage, LimeImageDisplay

RNG = np.random.default_rng(0)
HEIGHT, WIDTH = 6, 8


def quarters(image):
    """Segments of 3 x 2 pixels: eight of them, with labels that have gaps."""
    rows, columns = np.indices(image.shape[:2])
    return 10 * (rows // 3) + 2 * (columns // 2) - 3


def photographs(dtype, channels=3, n=4):
    shape = (n, HEIGHT, WIDTH, channels)[: 4 if channels else 3]
    images = np.random.default_rng(0).integers(1, 255, size=shape)
    return images.astype(dtype) if dtype == np.uint8 else (images / 256).astype(dtype)


class Brightness(RegressorMixin, BaseEstimator):
    """A weighted sum of all numbers, which notes what it is given."""

    def fit(self, X, y=None):
        self.weights_ = np.random.default_rng(1).normal(size=X[0].size)
        self.seen_ = []
        return self

    def predict(self, X):
        self.seen_.append((X.dtype, X.shape[1:], len(X)))
        return X.reshape(len(X), -1) @ self.weights_


class Unminding(RegressorMixin, BaseEstimator):
    """A model that takes anything."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Corners(ClassifierMixin, BaseEstimator):
    """Four classes: how bright each corner is."""

    def fit(self, X, y=None):
        self.classes_ = np.array(["nw", "ne", "sw", "se"])
        return self

    def predict_proba(self, X):
        h, w = HEIGHT // 2, WIDTH // 2
        X = X.reshape(len(X), HEIGHT, WIDTH, -1).astype(float)
        parts = X[:, :h, :w], X[:, :h, w:], X[:, h:, :w], X[:, h:, w:]
        scores = np.stack([part.mean(axis=(1, 2, 3)) for part in parts], axis=1)
        return scores / scores.sum(axis=1, keepdims=True)


def lime(model, X, **params):
    params = {"segmentation": quarters, "random_state": 0, **params}
    return LimeImage(FrozenEstimator(model.fit(X)), **params).fit(X)


@pytest.mark.parametrize("colour", [None, 0.25, (0.1, 0.2, 0.3)])
@pytest.mark.parametrize("width", [0.25, 1e3])
def test_linear_models_get_their_own_weights(colour, width):
    X = photographs(np.float64)
    model = Brightness()
    inspector = lime(model, X, hide_color=colour, kernel_width=width)
    found = inspector.explain(X)
    weights = model.weights_.reshape(X.shape[1:])
    for row, image in enumerate(X):
        labels = np.unique(quarters(image), return_inverse=True)[1].reshape(6, 8)
        for segment in range(8):
            inside = labels == segment
            hidden = image[inside].mean(axis=0) if colour is None else colour
            expected = ((image[inside] - hidden) * weights[inside]).sum()
            assert_allclose(found.values[row, segment], expected, rtol=0, atol=1e-6)
        assert_array_equal(found.segments[row], labels)
    assert_allclose(found.fidelity, 1, atol=1e-9)
    assert_allclose(found.local_predictions, found.predictions, atol=1e-6)
    assert_array_equal(found.standard_errors, 0)  # 2 ** 8 copies are all that there are
    assert isinstance(found, ImageExplanation)
    assert found.maps().shape == (4, HEIGHT, WIDTH)
    assert_array_equal(found.maps()[2][found.segments[2] == 5], found.values[2, 5])


@pytest.mark.parametrize("channels", [0, 1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("flat", [False, True])
def test_the_model_sees_what_it_was_trained_on(channels, dtype, flat):
    X = photographs(dtype, channels, n=2)
    shape = X.shape[1:]
    given = X.reshape(2, -1) if flat else X
    before = given.copy()
    model = Brightness()
    inspector = lime(model, given, image_shape=shape if flat else None, n_samples=20)
    found = inspector.explain(given)
    assert {seen[:2] for seen in model.seen_} == {(np.dtype(dtype), given.shape[1:])}
    assert_array_equal(given, before)
    assert_array_equal(found.images, X)
    assert inspector.image_shape_ == shape
    assert hasattr(inspector, "n_features_in_") == flat
    assert inspector.segments_.shape == (2, HEIGHT, WIDTH)


def test_containers_of_pixels_give_the_same():
    X = photographs(np.float64, 0).reshape(4, -1)
    frame = pd.DataFrame(X, columns=[f"p{j}" for j in range(48)], index=list("abcd"))
    model = LinearRegression().fit(X, X[:, 0])
    params = {"segmentation": quarters, "image_shape": (HEIGHT, WIDTH)}
    expected = LimeImage(FrozenEstimator(model), **params).fit(X).explain(X)
    named = LinearRegression().fit(frame, X[:, 0])
    for one, given in ((named, frame), (model, sparse.csr_array(X))):
        found = LimeImage(FrozenEstimator(one), **params).fit(given).explain(given)
        assert_allclose(found.values, expected.values, atol=1e-12)
        assert type(found.data) is type(given)
        assert type(found[1].data) is type(given)
        assert found.to_frame().shape == (4, 8)


def test_alone_and_in_a_batch():
    X = photographs(np.uint8)
    inspector = lime(Brightness(), X, segmentation=None, n_segments=11, n_samples=60)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    together = inspector.explain(X)
    other = pickle.loads(pickle.dumps(inspector)).set_params(n_jobs=2)
    with config_context(working_memory=0.001):
        in_pieces = inspector.explain(X)
    alone = [inspector.explain(image[None]) for image in X]
    for row, one in enumerate(alone):
        n_segments = one.segments.max() + 1
        assert_array_equal(one.segments[0], together.segments[row])
        assert_allclose(one.values[0], together.values[row, :n_segments], atol=1e-9)
        assert not together.values[row, n_segments:].any()
        assert not together.selected[row, n_segments:].any()
    assert len({one.values.shape[1] for one in alone}) > 1
    with joblib.parallel_config("threading"):
        in_two = other.explain(list(X))
    assert_allclose(in_two.values, together.values, atol=1e-9)
    assert_allclose(in_pieces.values, together.values, atol=1e-9)
    assert max(seen[2] for seen in inspector.estimator_.estimator.seen_[-20:]) <= 60
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert_array_equal(inspector.segments_, together.segments)


def test_classes_and_numbers_of_segments():
    X = photographs(np.uint8)
    every = lime(Corners(), X, n_features_to_select=3).explain(X)
    assert every.values.shape == (4, 8, 4)
    assert_array_equal(every.selected.sum(axis=1), 3)
    assert_array_equal((every.values != 0).sum(axis=1), 3)
    assert every.maps("sw").shape == every.segments.shape
    assert every.maps().shape == (*every.segments.shape, 4)
    one = lime(Corners(), X, n_features_to_select=3, target="sw").explain(X)
    assert one.values.shape == (4, 8)
    assert_allclose(one.maps(), every.maps("sw"), atol=1e-12)
    black = lime(Corners(), X, hide_color=1).explain(X)
    corners = np.argmax(black.values, axis=1) // 2  # those of the strongest segments
    assert_array_equal(corners, np.tile(np.arange(4), (4, 1)))
    ridge = lime(Corners(), X, surrogate=Ridge(alpha=1e-9), target="sw").explain(X)
    least = lime(Corners(), X, target="sw").explain(X)
    assert ridge.standard_errors is None
    assert_allclose(ridge.values, least.values, atol=1e-6)


def test_images_of_one_segment_and_of_one_colour():
    X = photographs(np.float64)
    whole = lime(Brightness(), X, segmentation=lambda image: np.zeros((6, 8), int))
    found = whole.explain(X)
    assert found.values.shape == (4, 1)
    assert_allclose(found.fidelity, 1)
    plain = np.full((2, HEIGHT, WIDTH), 7.0)
    with pytest.warns(UndefinedFidelityWarning, match="weights of 2 of 2 rows"):
        found = lime(Brightness(), plain, segmentation=None).explain(plain)
    assert_allclose(found.values, 0, atol=1e-12)
    assert np.isnan(found.fidelity).all()


def test_default_segments_hang_together_and_follow_colours():
    image = np.zeros((40, 60, 3), np.uint8)
    image[10:30, 20:45] = [200, 30, 40]
    inspector = lime(Brightness(), image[None], segmentation=None, n_segments=12)
    segments = inspector.segments_[0]
    assert 8 <= segments.max() + 1 <= 18
    assert np.unique(segments).tolist() == list(range(segments.max() + 1))
    red = image[..., 0] > 0
    assert not set(segments[red].tolist()) & set(segments[~red].tolist())
    strip = lime(Brightness(), RNG.normal(size=(3, 30)), segmentation=None)
    assert_array_equal(strip.segments_, np.tile(np.arange(30), (3, 1))[:, None])
    missing = np.where(red, np.nan, 1.0)
    holes = lime(Unminding(), missing[None], segmentation=None).segments_[0]
    assert np.unique(holes).tolist() == list(range(holes.max() + 1))


def test_the_largest_whole_numbers():
    X = np.full((2, HEIGHT, WIDTH), np.iinfo(np.int64).max)
    X[:, 0] = 0
    found = lime(Brightness(), X, segmentation=None, min_fidelity=None).explain(X)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("labels", [None, "ab", [[1], [2, 3]], np.zeros(3, int)])
def test_a_segmentation_that_returns_nonsense(labels):
    X = photographs(np.float64)
    with pytest.raises(ValueError, match=r"segmentation=.*whole numbers of the shape"):
        lime(Brightness(), X, segmentation=lambda image: labels).explain(X)


def test_low_fidelity_is_told():
    X = photographs(np.float64)

    class Odd(Brightness):
        def predict(self, X):
            return np.array([hash(image.tobytes()) % 7 for image in X]) * 1.0

    with pytest.warns(LowFidelityWarning, match="4 of 4 rows"):
        lime(Odd(), X, n_samples=200, min_fidelity=0.99).explain(X)


GREY = RNG.random((2, HEIGHT, WIDTH))


@pytest.mark.parametrize(
    "X, params, message",
    [
        (GREY, {"hide_color": (1, 2)}, "hide_color=.1, 2. must be a number"),
        (GREY, {"hide_color": "red"}, "hide_color"),
        (GREY.astype(np.uint8), {"hide_color": 300}, "hide_color=300 does not fit"),
        (GREY, {"image_shape": (8, 6)}, "image_shape=.8, 6., but X has images of"),
        (GREY.reshape(2, -1), {"image_shape": (5, 6)}, "has 30 numbers, but X has 48"),
        (GREY.reshape(2, -1), {"image_shape": (48,)}, "image_shape=.48,. must be"),
        (GREY.reshape(2, -1), {"image_shape": (48, 1.0)}, "positive whole numbers"),
        (GREY[:, None, None], {}, "images are numbers of the shape"),
        (GREY.astype(str), {}, "dtype <U"),
        (GREY[:0], {}, "0 sample"),
        ([GREY[0], GREY[1, 1:]], {}, "all must have the same"),
    ],
)
def test_bad_input(X, params, message):
    with pytest.raises(ValueError, match=message):
        LimeImage(Brightness(), **params).fit(X, [0, 1])


@pytest.mark.parametrize(
    "labels", [np.zeros((6, 7), int), np.zeros((6, 8)), np.full((6, 8), "a")]
)
def test_bad_segmentations_are_named(labels):
    inspector = lime(Brightness(), GREY, segmentation=lambda image: labels)
    with pytest.raises(
        ValueError, match=r"segmentation=.* returned labels of the shape"
    ):
        inspector.explain(GREY)


def test_bad_images_to_explain():
    inspector = lime(Brightness(), GREY)
    with pytest.raises(ValueError, match=r"those of fit have the shape \(6, 8\)"):
        inspector.explain(GREY[:, 1:])
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="column 'b' of X has the dtype"):
        LimeImage(Unminding()).fit(frame, [0, 1])
    explanation = inspector.explain(GREY)
    with pytest.raises(ValueError, match="target='up' is not an output"):
        explanation.maps("up")
    with pytest.raises(ValueError, match="segments has the shape"):
        ImageExplanation([[1.0]], [0.0], segments=[[0]], images=[[[0]]])
    with pytest.raises(ValueError, match="whole numbers from 0 to 0"):
        ImageExplanation([[1.0]], [0.0], segments=[[[1]]], images=[[[0]]])


def test_display_of_the_likeliest_labels():
    X = photographs(np.uint8)
    inspector = lime(Corners(), X)
    explanation = inspector.explain(X)
    display = LimeImageDisplay.from_estimator(inspector, X, row=1)
    order = np.argsort(-explanation.predictions[1])[:3]
    names = [explanation.output_names[output] for output in order]
    titles = [ax.get_title() for ax in display.axes_.flat]
    assert [title.split(":")[0] for title in titles] == [
        "image 1",
        *(f"Probability of {name}" for name in names),
    ]
    assert "local R²" in titles[1]
    assert "Probability" in display.colour_bar_.ax.get_ylabel()
    assert "drawn on white" in display.colour_bar_.ax.get_ylabel()
    table = display.to_frame()
    assert table["output"].unique().tolist() == names
    assert_allclose(table.groupby("output")["share"].sum(), 1)
    top = table.groupby("output", sort=False)["weight"].first().to_numpy()
    weights = explanation.values[1][:, order]
    assert_array_equal(np.abs(top), np.abs(weights).max(axis=0))
    for overlay, output in zip(display.overlays_, order, strict=True):
        cover, weight = overlay.get_array()[..., 3], explanation.maps()[1, ..., output]
        share = np.abs(weight) / np.abs(weights).max()
        assert_allclose(cover, 0.85 * share, atol=1e-12)
    again = LimeImageDisplay.from_explanation(explanation, row=1, response_name="p")
    assert_array_equal(again.to_frame()["weight"], table["weight"])
    one = LimeImageDisplay.from_estimator(
        Corners().fit(X), X, row=-1, target="ne", segmentation=quarters, max_entries=1
    )
    assert one.to_frame()["output"].unique().tolist() == ["ne"]
    assert len(one.outlines_[0].get_segments()) == 2 * (3 + 2)
    one.figure_.canvas.draw()


@pytest.mark.parametrize("channels", [0, 2, 3])
def test_display_on_given_axes(channels):
    X = photographs(np.float32, channels) * 3 - 1
    explanation = lime(Brightness(), X).explain(X)[[2]]
    figure, (left, right) = plt.subplots(1, 2)
    display = LimeImageDisplay(explanation).plot(ax=left)
    assert not right.images
    assert [len(ax.images) for ax in display.axes_.flat] == [1, 2]
    own = LimeImageDisplay(explanation).plot(ax=plt.subplots(1, 2)[1])
    assert own.axes_.shape == (1, 2)
    figure.canvas.draw()


def test_display_refuses():
    inspector = lime(Brightness(), GREY)
    explanation = inspector.explain(GREY)
    make = LimeImageDisplay.from_explanation
    with pytest.raises(ValueError, match="2 images: choose one by row="):
        make(explanation)
    with pytest.raises(ValueError, match="row=2 is not one of the 2 images"):
        make(explanation, row=2)
    with pytest.raises(ValueError, match="n_top_labels=0"):
        make(explanation, row=0, n_top_labels=0)
    with pytest.raises(TypeError, match="ImageExplanation; got ndarray"):
        make(GREY)
    with pytest.raises(TypeError, match="has no parameter 'rwo'; did you mean row"):
        make(explanation, rwo=1)
    with pytest.raises(ValueError, match="hide_color"):
        LimeImageDisplay.from_estimator(inspector, GREY, row=0, hide_color=0)
