"""Types of surrogates, as users see them."""

from typing import Literal, assert_type

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.image import AxesImage
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.surrogates import (
    GlobalSurrogate,
    GlobalSurrogateDisplay,
    ImageExplanation,
    LimeDisplay,
    LimeImage,
    LimeImageDisplay,
    LimeTabular,
    LimeText,
    LimeTextDisplay,
    LocalExplanation,
    TextExplanation,
)

Floats = NDArray[np.float64]


def global_surrogate(X: Floats, y: NDArray[np.intp]) -> None:
    surrogate = GlobalSurrogate(LogisticRegression(), min_fidelity=None).fit(X, y)
    assert_type(surrogate, GlobalSurrogate)
    assert_type(surrogate.fidelity_, float)
    assert_type(surrogate.agreement_, float)
    assert_type(surrogate.feature_importances_, Floats)
    assert_type(surrogate.fidelity_score(X), float)
    assert_type(surrogate.score(X, y), float)
    display = GlobalSurrogateDisplay.from_estimator(surrogate, X, max_entries=5)
    assert_type(display, GlobalSurrogateDisplay)
    assert_type(display.plot(kind="tree"), GlobalSurrogateDisplay)
    assert_type(display.texts_, list[list[Text]])
    assert_type(display.to_frame(), DataFrame)


def lime_of_tables(X: Floats, y: Floats) -> None:
    lime = LimeTabular(LinearRegression(), n_samples=500).fit(X, y)
    assert_type(lime, LimeTabular)
    assert_type(lime.kernel_width_, float)
    assert_type(lime.method_, Literal["tree", "sampling"])
    assert_type(lime.stability_, float)
    assert_type(lime.feature_importances_, Floats)
    assert_type(lime.stability_score(X, n_redraws=3), Floats)
    assert_type(lime.transform(X), Floats)
    explanation = lime.explain(X)
    assert_type(explanation, LocalExplanation)
    assert_type(explanation[0], LocalExplanation)
    assert_type(explanation.effects, Floats)
    assert_type(explanation.intercepts, Floats)
    assert_type(explanation.fidelity, Floats | None)
    assert_type(explanation.selected, NDArray[np.bool_])
    assert_type(explanation.scales, Floats)
    assert_type(explanation.labels(0), list[str])
    assert_type(explanation.to_frame(), DataFrame)
    display = LimeDisplay.from_estimator(lime, X, row=0)
    assert_type(display, LimeDisplay)
    assert_type(display.explanation, LocalExplanation)
    assert_type(display.plot(n_cols=2), LimeDisplay)
    assert_type(display.bars_, list[BarContainer])
    assert_type(display.to_frame(), DataFrame)
    assert_type(LimeDisplay.from_explanation(explanation, row=0), LimeDisplay)


def lime_of_images(X: Floats, y: NDArray[np.intp]) -> None:
    lime = LimeImage(LogisticRegression(), image_shape=(8, 8)).fit(X, y)
    assert_type(lime, LimeImage)
    assert_type(lime.image_shape_, tuple[int, ...])
    assert_type(lime.segments_, NDArray[np.intp])
    explanation = lime.explain(X)
    assert_type(explanation, ImageExplanation)
    assert_type(explanation.segments, NDArray[np.intp])
    assert_type(explanation.maps(), Floats)
    display = LimeImageDisplay.from_estimator(lime, X, row=0, n_top_labels=2)
    assert_type(display, LimeImageDisplay)
    assert_type(display.plot(max_entries=3), LimeImageDisplay)
    assert_type(display.overlays_, list[AxesImage])
    assert_type(display.to_frame(), DataFrame)
    assert_type(LimeImageDisplay.from_explanation(explanation[0]), LimeImageDisplay)


def lime_of_texts(texts: list[str], labels: list[str]) -> None:
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    lime = LimeText(model, bow=False).fit(texts, labels)
    assert_type(lime, LimeText)
    assert_type(lime.stability_, float)
    explanation = lime.explain(texts)
    assert_type(explanation, TextExplanation)
    assert_type(explanation.tokens, NDArray[np.object_])
    assert_type(explanation.words(0), list[tuple[str, float]])
    assert_type(explanation.to_html(row=0), str)
    display = LimeTextDisplay.from_estimator(lime, texts, row=0)
    assert_type(display, LimeTextDisplay)
    assert_type(display.plot(max_lines=5), LimeTextDisplay)
    assert_type(display.texts_, list[list[Annotation]])
    assert_type(display.to_frame(), DataFrame)
    assert_type(LimeTextDisplay.from_explanation(explanation[0]), LimeTextDisplay)
