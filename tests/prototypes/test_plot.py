"""What the display of prototypes draws, and what it refuses."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.prototypes import (
    KMedoids,
    NearestPrototypeClassifier,
    PrototypeDisplay,
)
from tests.figures import all_texts, draw

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target_names[IRIS.target]
MEDOIDS = KMedoids(n_clusters=3, random_state=0).fit(X)
MIXED = X.assign(species=Y, constant=1.0)


def test_table_has_standard_deviations_and_values():
    display = PrototypeDisplay.from_estimator(MEDOIDS, X, Y)
    chosen = MEDOIDS.prototype_indices_
    scaled = StandardScaler().fit_transform(X)[chosen]
    assert_allclose(display.heat_map_.get_array().reshape(3, 4), scaled)
    texts = all_texts(display.figure_)
    assert {f"prototype {i}: {Y[i]}" for i in chosen} <= set(texts)
    assert set(X.columns) <= set(texts)
    for value in X.to_numpy()[chosen].ravel():
        assert f"{value:.2f}" in texts


def test_a_line_parts_criticisms_from_prototypes():
    display = PrototypeDisplay(X, [0, 60], [41, 118, 131]).plot()
    (ax,) = display.axes_
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [
        *("prototype 0", "prototype 60"),
        *("criticism 41", "criticism 118", "criticism 131"),
    ]
    assert list(ax.lines[0].get_ydata()) == [1.5, 1.5]
    assert ax.yaxis.get_inverted()
    assert not PrototypeDisplay(X, [0, 60]).plot().axes_[0].lines


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("style", ["default", "ggplot"])
@pytest.mark.parametrize("n_prototypes", [1, 2, 12])
def test_words_on_the_colours_are_within_the_figure(n_prototypes, style):
    with plt.style.context(style):
        display = PrototypeDisplay(X, np.arange(n_prototypes)).plot()
        display.figure_.canvas.draw()
    box = display.colour_bar_.ax.yaxis.label.get_window_extent()
    low, high = display.figure_.bbox.min, display.figure_.bbox.max
    assert (low <= box.min).all()
    assert (box.max <= high).all()


def test_categories_and_constants_have_no_colour():
    display = PrototypeDisplay(MIXED, [0, 60]).plot()
    cells = display.heat_map_.get_array().reshape(2, 6)
    assert cells.mask[:, 4].all()
    assert (cells[:, 5] == 0).all()
    assert {"setosa", "versicolor"} <= set(all_texts(display.figure_))
    only = PrototypeDisplay(MIXED[["species"]], [0, 60]).plot()
    assert only.colour_bar_ is None


def test_columns_that_differ_most_are_drawn():
    display = PrototypeDisplay(MIXED, [0, 60]).plot(max_entries=2)
    names = [text.get_text() for text in display.axes_[0].get_xticklabels()]
    assert names == ["sepal width (cm)", "species"]
    title = display.axes_[0].get_title()
    assert title == f"The 2 of {MIXED.shape[1]} columns: those that differ most"
    with pytest.raises(ValueError, match="max_entries=0"):
        display.plot(max_entries=0)


def test_images_are_the_rows_on_one_scale():
    digits = load_digits().data[:200]
    display = PrototypeDisplay(digits, [3, 7], [11], image_shape=(8, 8)).plot()
    assert len(display.images_) == len(display.axes_) == 3
    for image, row in zip(display.images_, [3, 7, 11], strict=True):
        expected = digits[row].reshape(8, 8) / digits[[3, 7, 11]].max()
        assert_allclose(image.get_array(), expected)
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == ["prototype 3", "prototype 7", "criticism 11"]


def test_coloured_images():
    colours = np.random.default_rng(0).random((5, 12))
    display = PrototypeDisplay(colours, [1], image_shape=(2, 2, 3)).plot()
    assert_allclose(display.images_[0].get_array(), colours[1].reshape(2, 2, 3))


def test_map_has_principal_components():
    display = PrototypeDisplay(X, [0, 60], [41]).plot(kind="map")
    expected = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    for points, rows in zip(display.points_, (slice(None), [0, 60], [41]), strict=True):
        assert_allclose(points.get_offsets(), expected[rows], atol=1e-9)
    (ax,) = display.axes_
    assert ax.get_xlabel() == "First principal component (73%)"
    pixels = PrototypeDisplay(X, [0], image_shape=(2, 2)).plot(kind="map")
    raw = PCA(2).fit_transform(X.to_numpy())
    assert_allclose(pixels.points_[0].get_offsets(), raw, atol=1e-9)


@pytest.mark.parametrize(
    "rows",
    [
        MIXED,
        MIXED.assign(missing=np.where(MIXED.index % 2, np.nan, MIXED.index)),
        X.iloc[:, :1],
        X.iloc[:1],
        np.ones((4, 3)),
        sparse.csr_array(X.to_numpy()),
    ],
)
@pytest.mark.parametrize("kind", ["table", "map"])
def test_rows_of_all_kinds(rows, kind):
    display = PrototypeDisplay(rows, [0]).plot(kind=kind)
    draw(display.figure_)
    assert display.to_frame()["row"].tolist() == [0]


def test_table_of_the_rows_drawn():
    frame = PrototypeDisplay(MIXED, [60, 0], [41], y=Y).to_frame()
    assert frame["kind"].tolist() == ["prototype", "prototype", "criticism"]
    assert frame["row"].tolist() == [60, 0, 41]
    assert frame["y"].tolist() == Y[[60, 0, 41]].tolist()
    expected = MIXED.iloc[[60, 0, 41]].reset_index(drop=True)
    pd.testing.assert_frame_equal(frame[list(MIXED)], expected, check_dtype=False)


def test_predictors_by_prototypes_and_precomputed_distances():
    model = NearestPrototypeClassifier(
        selector=KMedoids(n_clusters=3, random_state=0)
    ).fit(X, Y)
    one = PrototypeDisplay.from_estimator(model, X)
    distances = KMedoids(n_clusters=3, metric="precomputed", random_state=0)
    two = PrototypeDisplay.from_estimator(distances.fit(pairwise_distances(X)), X)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    assert repr(one).startswith("PrototypeDisplay(4 features: sepal length (cm), ")


def test_many_rows_and_columns_stay_within_a_page():
    digits = load_digits().data[:300]
    display = PrototypeDisplay(digits, np.arange(150))
    for how in ({"max_entries": None}, {"kind": "map"}):
        assert max(display.plot(**how).figure_.get_size_inches()) < 20


def test_given_axes():
    _, ax = plt.subplots()
    assert PrototypeDisplay(X, [0]).plot(ax).axes_[0] is ax
    _, axes = plt.subplots(1, 2)
    display = PrototypeDisplay(X, [0, 60], image_shape=(2, 2)).plot(axes)
    assert display.axes_.tolist() == axes.tolist()


@pytest.mark.parametrize(
    ("parts", "plot", "message"),
    [
        ({"prototype_indices": [150]}, {}, "150 rows, but row 150 was chosen"),
        ({"prototype_indices": []}, {}, "prototype_indices is empty"),
        ({"prototype_indices": [3, -1]}, {}, "row -1 was chosen"),
        ({"criticism_indices": [999]}, {}, "row 999"),
        ({"y": [1, 2]}, {}, "inconsistent numbers of samples"),
        ({"feature_names": ["a"]}, {}, "feature_names has 1 names"),
        ({"image_shape": (3, 3)}, {}, r"image_shape=\(3, 3\)"),
        ({"image_shape": (3, 3)}, {"kind": "map"}, r"image_shape=\(3, 3\)"),
        ({}, {"kind": "images"}, "image_shape=None"),
        ({}, {"kind": "heatmap"}, "kind='heatmap' must be one of auto, table"),
    ],
)
def test_bad_input(parts, plot, message):
    with pytest.raises(ValueError, match=message):
        PrototypeDisplay(**{"data": X, "prototype_indices": [0], **parts}).plot(**plot)


@pytest.mark.parametrize("kind", ["images", "map"])
def test_pixels_are_numbers(kind):
    display = PrototypeDisplay(MIXED, [0], image_shape=(2, 3))
    with pytest.raises(ValueError, match="'species' is not numeric"):
        display.plot(kind=kind)
