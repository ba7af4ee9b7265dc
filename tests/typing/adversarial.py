"""Types of attacks, as users see them."""

from typing import Literal, assert_type

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    AdversarialPatch,
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    OnePixelAttack,
    ProjectedGradient,
    RobustnessCurveDisplay,
    SubstituteAttack,
)
from sklearn_interpret.explanations import RowExplanation

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
MODEL = LogisticRegression()


def gradients(X: Floats, y: Labels) -> None:
    step = FastGradientSign(MODEL, epsilon=0.1, bounds=(0, 16)).fit(X, y)
    assert_type(step, FastGradientSign)
    assert_type(step.by_formula_, bool)
    attack = ProjectedGradient(MODEL, norm="2", n_restarts=2).fit(X, y)
    assert_type(attack, ProjectedGradient)
    assert_type(attack.by_formula_, bool)
    assert_type(attack.robust_score(X, y), float)
    assert_type(attack.robustness_curve(X, y, sizes=[0.1, 0.2]), Floats)
    explanation = attack.explain(X, y)
    assert_type(explanation, RowExplanation)
    assert_type(explanation.perturbations, Floats)
    display = AdversarialDisplay.from_estimator(attack, X, row=1)
    assert_type(display, AdversarialDisplay)
    assert_type(display.plot(max_entries=3), AdversarialDisplay)
    assert_type(display.bars_, BarContainer | None)
    assert_type(display.to_frame(), DataFrame)
    made = AdversarialDisplay.from_explanation(explanation, image_shape=(8, 8))
    assert_type(made, AdversarialDisplay)


def curves(X: Floats, y: Labels) -> None:
    attack = MinimalPerturbation(MODEL, time_limit=1).fit(X, y)
    assert_type(attack, MinimalPerturbation)
    assert_type(attack.method_, Literal["linear", "trees", "gradient"])
    assert_type(attack.explain(X), RowExplanation)
    display = RobustnessCurveDisplay.from_estimator(attack, X, y, sizes=[0.1, 0.2])
    assert_type(display, RobustnessCurveDisplay)
    assert_type(display.plot(band_kw={"alpha": 0.1}), RobustnessCurveDisplay)
    assert_type(display.line_, Line2D)
    assert_type(display.to_frame(), DataFrame)
    folds = cross_validate(MODEL, X, y, return_estimator=True)
    made = RobustnessCurveDisplay.from_cv_results(folds, X, y, epsilon=0.2)
    assert_type(made, RobustnessCurveDisplay)


def other_attacks(X: Floats, y: Labels) -> None:
    labels_alone = HopSkipJump(MODEL, n_steps=4).fit(X, y)
    assert_type(labels_alone, HopSkipJump)
    assert_type(labels_alone.explain(X), RowExplanation)
    pixels = OnePixelAttack(MODEL, n_pixels=2, image_shape=(8, 8)).fit(X, y)
    assert_type(pixels, OnePixelAttack)
    assert_type(pixels.explain(X), RowExplanation)
    substitute = SubstituteAttack(MODEL, attack=FastGradientSign(None)).fit(X, y)
    assert_type(substitute, SubstituteAttack)
    assert_type(substitute.n_queries_, int)
    assert_type(substitute.agreement_, float)
    assert_type(substitute.explain(X), RowExplanation)
    patch = AdversarialPatch(MODEL, target=3, image_shape=(8, 8)).fit(X, y)
    assert_type(patch, AdversarialPatch)
    assert_type(patch.patch_, Floats)
    assert_type(patch.success_rates_, Floats)
    assert_type(patch.image_shape_, tuple[int, ...])
    assert_type(patch.explain(X), RowExplanation)
