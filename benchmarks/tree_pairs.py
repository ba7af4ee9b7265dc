"""Shapley values and partial dependence of trees, ours and a peer's.

The models, and pairs with shap and woodelf on the same rows and background. What is
timed is everything from the fitted model to the numbers: our `fit` and `explain`, the
peer's construction of an explainer and its values; `again` leaves out our `fit` and the
explainer's construction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from effect_pairs import even_grids, frame, our_pd, table
from pair import Pair
from sklearn.base import RegressorMixin
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.shapley import TreeSHAP

# Relative to the spread of the predictions. shap's C code rounds interventional values
# to single precision, and woodelf all that it sums up.
PATH_TOLERANCE = 1e-8
INTERVENTIONAL_TOLERANCE = 1e-6
WOODELF_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Models:
    """The ensembles that are inspected, each fitted once.

    Attributes
    ----------
    n_features, n_trees : int
        Of the table and of each ensemble.
    n_rows, n_deep_rows : int
        Rows that they are fitted on; `n_deep_rows` for the fully grown forest.
    """

    n_features: int
    n_trees: int
    n_rows: int
    n_deep_rows: int

    @cache  # noqa: B019 - there is one for each run
    def fitted(self, kind: str) -> RegressorMixin:
        """Return the model of one kind: "gb", "rf", "hgb", "deep" or "xgb"."""
        if kind == "xgb":
            from xgboost import XGBRegressor

            model = XGBRegressor(n_estimators=self.n_trees, max_depth=6, n_jobs=1)
            return model.fit(*table(self.n_rows, self.n_features))
        model = {
            "gb": GradientBoostingRegressor(
                n_estimators=self.n_trees, max_depth=6, random_state=0
            ),
            "rf": RandomForestRegressor(self.n_trees, max_depth=8, random_state=0),
            "hgb": HistGradientBoostingRegressor(random_state=0),
            "deep": RandomForestRegressor(self.n_trees, random_state=0),
        }[kind]
        n_rows = self.n_deep_rows if kind == "deep" else self.n_rows
        return model.fit(*table(n_rows, self.n_features))

    def new_rows(self, n_rows: int, seed: int = 1) -> np.ndarray:
        """Return rows that no model was fitted on, with values of single precision.

        shap's interventional values are wrong for a row with a value equal to a
        threshold, as HistGradientBoosting has many among the rows it was fitted on.
        woodelf's are for a value that scikit-learn's trees round across a threshold.
        """
        return table(n_rows, self.n_features, seed)[0].astype(np.float32).astype(float)

    @cache  # noqa: B019
    def spread(self, kind: str) -> float:
        """Return the range of the model's predictions."""
        return float(np.ptp(self.fitted(kind).predict(self.new_rows(2000))))


@dataclass(frozen=True)
class Quantity:
    """A kind of values of rows: its name in the peers, and our parameters."""

    peer_method: str
    ours: Callable[[TreeSHAP, np.ndarray], np.ndarray]
    shap_options: dict[str, Any]


VALUES = Quantity(
    "shap_values",
    lambda inspector, X: inspector.explain(X).values,
    # It costs shap time, and we have no switch to leave our own check out.
    {"check_additivity": False},
)
INTERACTIONS = Quantity(
    "shap_interaction_values", lambda inspector, X: inspector.interaction_values(X), {}
)


def our_inspector(
    model: Any, X: np.ndarray, background: np.ndarray | None = None, **params: Any
) -> TreeSHAP:
    """Fit our class to a fitted model; path-dependent by default."""
    perturbation = "path_dependent" if background is None else "interventional"
    return TreeSHAP(
        FrozenEstimator(model),
        perturbation=perturbation,
        background=background,
        **params,
    ).fit(X)


def our_shap(
    quantity: Quantity,
    model: Any,
    X: np.ndarray,
    background: np.ndarray | None = None,
    **params: Any,
) -> np.ndarray:
    """Explain rows of a fitted model, from the beginning."""
    return quantity.ours(our_inspector(model, X, background, **params), X)


def shap_explainer(model: Any, background: np.ndarray | None = None) -> Any:
    """Construct shap's."""
    import shap

    return shap.TreeExplainer(
        model,
        background,
        feature_perturbation=(
            "tree_path_dependent" if background is None else "interventional"
        ),
    )


def relative_difference(spread: float, ours: np.ndarray, theirs: Any) -> float:
    """Return the largest difference, in units of the predictions' spread."""
    return float(np.abs(ours - np.asarray(theirs)).max()) / spread


def against_shap(
    name: str,
    models: Models,
    kind: str,
    X: np.ndarray,
    *,
    quantity: Quantity = VALUES,
    background: np.ndarray | None = None,
    again: bool = False,
    target: float | None,
    enough: float = 0.0,
) -> Pair:
    """Both on the same rows; one explainer for each repeat, as for us.

    With `again` there is one for all, and so for us: both have seen the rows before.
    """
    model = models.fitted(kind)
    keep = cache if again else lambda make: make
    explainer = keep(partial(shap_explainer, model, background))
    inspector = keep(partial(our_inspector, model, X, background))

    def shap_values():
        method = getattr(explainer(), quantity.peer_method)
        return method(X, **quantity.shap_options)

    tolerance = PATH_TOLERANCE if background is None else INTERVENTIONAL_TOLERANCE
    return Pair(
        name,
        lambda: quantity.ours(inspector(), X),
        shap_values,
        "shap",
        partial(relative_difference, models.spread(kind)),
        tolerance,
        target,
        enough,
    )


def against_woodelf(
    name: str,
    models: Models,
    kind: str,
    X: np.ndarray,
    *,
    quantity: Quantity = VALUES,
    background: np.ndarray | None = None,
    target: float | None,
) -> Pair:
    """Both on the same rows; woodelf's data frames are made beforehand."""
    model = models.fitted(kind)
    rows = frame(X)
    base = None if background is None else frame(background)

    def woodelf_values():
        from woodelf import WoodelfExplainer

        explainer = WoodelfExplainer(model, base)
        return getattr(explainer, quantity.peer_method)(rows, verbose=False)

    ours = partial(our_shap, quantity, model, X, background)
    agreement = partial(relative_difference, models.spread(kind))
    return Pair(
        name,
        ours,
        woodelf_values,
        "woodelf_explainer",
        agreement,
        WOODELF_TOLERANCE,
        target,
    )


def pd_against_woodelf(
    name: str, models: Models, kind: str, X: np.ndarray, *, target: float | None
) -> Pair:
    """Every feature on the grid that woodelf lays out, which is ours too."""
    model = models.fitted(kind)
    rows = frame(X)
    grids = even_grids(X)

    def woodelf_curves():
        from woodelf.pdp import woodelf_pdp

        return woodelf_pdp(model, rows, k=len(grids[0]), verbose=False)

    def agreement(ours, theirs):
        # Centred curves, without the features that no tree uses.
        curves, points = theirs
        if not np.array_equal(points.to_numpy(), np.transpose(grids)):
            return np.inf
        mean = model.predict(X).mean()
        expected = np.array([mean + curves.get(column, 0) for column in points])
        return np.abs(np.array(ours.average_) - expected).max() / models.spread(kind)

    ours = partial(our_pd, model, X, grids, method="auto")
    return Pair(
        name,
        ours,
        woodelf_curves,
        "woodelf_explainer",
        agreement,
        WOODELF_TOLERANCE,
        target,
    )
