"""Displays of the most influential training rows, and of models without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state

from sklearn_interpret._model.adapters.adapt import as_predictor, check_can_be_refitted
from sklearn_interpret._model.leave_out.refits import score_without
from sklearn_interpret._model.leave_out.training import Training
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.responses.scoring import resolve_metrics
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_features
from sklearn_interpret._model.rows.number_format import column_texts, value_text
from sklearn_interpret._plotting.axes import named_legend
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, PALETTE, shade
from sklearn_interpret._plotting.curves import draw_band, draw_line
from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.labels import literal, plain_number_ticks, wrap_name
from sklearn_interpret._plotting.ranked_bars import draw_ranked_bars, row_height
from sklearn_interpret._plotting.sources import check_count, check_numbers
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.explanations._selection import row_position
from sklearn_interpret.influence._data_values import DataValues
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions
from sklearn_interpret.influence._prediction_weights import PredictionWeights

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data


class InfluenceSources(ExplanationDisplay):
    """Constructors of the displays of a `TrainingExplanation`."""

    _kinds = (DeletionDiagnostics, InfluenceFunctions, DataValues, PredictionWeights)
    _explanation_kind = TrainingExplanation
    _without = frozenset()
    # With a predictor, X are the training rows, whose influence the display shows.
    _shows_rows = False

    @classmethod
    def _from_inspector(cls, inspector: Any, data: Data, **choices: Any) -> Self:
        if data.X is None:
            return cls(inspector._overall_explanation(), **choices)
        if not hasattr(inspector, "explain"):
            raise ValueError(
                f"X must be None: {type(inspector).__name__} explains no other rows."
            )
        targets = () if data.y is None else (data.y,)  # not all take them
        return cls(inspector.explain(data.X, *targets), **choices)


@dataclass(eq=False, repr=False)
class InfluenceDisplay(InfluenceSources):
    """The most influential training rows, or the scores of models without them.

    `from_estimator` and `from_explanation` draw a bar for each of the rows with the
    largest values, to the right for positive ones (of a loss: leaving the row out
    hurts); of :class:`DataValues`, for those with the smallest. `from_estimator` takes
    a predictor with its training rows, or a fitted inspector with rows to explain, if
    it explains any; without these it shows the inspector's own result. Build it with
    `from_removal` for the score of models that are fitted without more and more of the
    rows.

    Parameters
    ----------
    explanation : TrainingExplanation, default=None
        Values of training rows.
    row : int, default=None
        The explained row whose values are shown; None shows means over all.
    features : list of str or int, default=None
        Features whose values are shown with the names of the training rows.
    removal : dict, default=None
        Instead of an explanation: the arrays "sizes" (n_sizes,), "scores" (n_sizes,),
        "random_scores" (n_draws, n_sizes), and the text "score_name"; also
        "smallest_scores" (n_sizes,), if rows are left out from both ends.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    bars_ : BarContainer
        The bars.
    line_, random_line_ : Line2D
        Scores without the rows of largest influence, and mean score without rows drawn
        at random, of `from_removal`.
    smallest_line_ : Line2D
        Scores without the rows of smallest influence, with ``both_ends=True``.
    band_ : PolyCollection
        One standard deviation over the draws to each side.
    legend_ : Legend
        Names of the lines.

    See Also
    --------
    sklearn_interpret.influence.DeletionDiagnostics : Finds the values.
    sklearn_interpret.influence.InfluenceTreeDisplay : What the rows have in common.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.influence import DeletionDiagnostics, InfluenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> diagnostics = DeletionDiagnostics(LinearRegression()).fit(X, y)
    >>> display = InfluenceDisplay.from_estimator(diagnostics, max_entries=3)
    >>> display.to_frame().head(3)
       training_row     value
    0           304  0.935950
    1           123  0.930341
    2           382  0.908138
    """

    # Its features are those whose values are shown, not those to inspect.
    _without = frozenset({"features"})

    explanation: TrainingExplanation | None = None
    _: KW_ONLY
    row: int | None = None
    features: Sequence[str | int] | None = None
    removal: dict[str, Any] | None = None

    @classmethod
    def _choice_names(cls) -> frozenset[str] | set[str]:
        return super()._choice_names() - {"removal"}

    @classmethod
    def from_removal(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        influence: ArrayLike,
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
        scoring: Any = None,
        n_draws: int = 10,
        both_ends: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        ax: Any = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Fit without more and more rows, by influence and at random, and draw scores.

        Parameters
        ----------
        estimator : predictor
            Clones of it are fitted.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        influence : array-like of shape (n_samples,)
            The rows of largest influence are left out first.
        X_test : {array-like, sparse matrix, DataFrame} of shape (n_test, n_features), \
default=None
            Rows to score on; None takes the training rows, all of them.
        y_test : array-like of shape (n_test,) or (n_test, n_outputs), default=None
            Their targets.
        sizes : array-like of int, default=None
            Numbers of rows that are left out; None takes eleven from zero to half of
            the rows.
        scoring : str or callable, default=None
            Scorer or loss; None is the estimator's own score.
        n_draws : int, default=10
            Orders of the rows at random, one or more.
        both_ends : bool, default=False
            Whether a second line leaves out the rows of smallest influence first, such
            as rows of small :class:`DataValues`.
        random_state : int, RandomState or None, default=None
            Source of the orders.
        n_jobs : int or None, default=None
            Workers that fit models.
        ax : matplotlib Axes, default=None
            None makes a figure.
        line_kw, band_kw : dict, default=None
            Style of the line, and of the band.

        Returns
        -------
        display : InfluenceDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            Bad input, or a model that cannot be fitted on the rows that are left.
        """
        rows, y = as_rows(X), np.asarray(y)
        values, sizes = _check_removal(rows, y, influence, sizes)
        if n_draws is None:
            raise ValueError("n_draws=None must be a positive whole number.")
        check_count(n_draws, "n_draws")
        rng = check_random_state(random_state)
        orders = [np.argsort(-values, kind="stable")]
        if both_ends:
            orders.append(np.argsort(values, kind="stable"))
        orders += [rng.permutation(rows.n_rows) for _ in range(n_draws)]
        check_can_be_refitted(estimator, "from_removal")
        model = clone(unfrozen(as_predictor(estimator)))
        fitted = clone(model).fit(X, y)
        (metric,) = resolve_metrics(scoring, fitted)[:1]
        training = Training(fitted, model, rows, y, {}, None)
        if X_test is not None and y_test is None:
            raise ValueError("y_test=None: X_test needs its targets.")
        test = (X, y) if X_test is None else (X_test, np.asarray(y_test))
        removed = [order[:size] for order in orders for size in sizes]
        tasks = [(training, rows, metric, test) for rows in removed]
        scores = np.array(list(run(score_without, tasks, n_jobs=n_jobs)))
        by_influence, *at_random = scores.reshape(len(orders), -1)
        from_smallest = at_random.pop(0) if both_ends else None
        score_name = metric.name
        if scoring is None:
            names = {"r2": "R²", "zero_one": "accuracy"}
            score_name = names.get(str(metric.row_loss), metric.name)
        removal: dict[str, Any] = {
            "sizes": sizes,
            "scores": by_influence,
            "random_scores": np.array(at_random),
            "score_name": score_name,
        }
        if from_smallest is not None:
            removal["smallest_scores"] = from_smallest
        return cls(removal=removal).plot(ax, line_kw=line_kw, band_kw=band_kw)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 15,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the bars, or the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=15
            Largest number of bars; None shows all. Rows whose value is zero, such as
            those without a vote, have none.
        bar_kw : dict, default=None
            Style of the bars.
        line_kw : dict, default=None
            Style of the line of scores without influential rows.
        band_kw : dict, default=None
            Style of the band of scores without rows drawn at random.

        Returns
        -------
        self : InfluenceDisplay
            The display.

        Raises
        ------
        TypeError
            No explanation of training rows.
        ValueError
            An unknown row or feature.
        """
        if self.removal is not None:
            ax = self._take_axes(ax)
            self._draw_removal(self.removal, line_kw, band_kw)
            return self
        order, values = self._rank_rows(max_entries)
        if not self._check_explanation().smallest_first:
            n_drawn = max(1, np.count_nonzero(values))  # zeros are the last
            order, values = order[:n_drawn], values[:n_drawn]
        ax = self._take_axes(ax, (6.4, 0.4 + row_height(len(order))))
        self._draw_bars(order, values, bar_kw)
        return self

    def _rank_rows(
        self, max_entries: int | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Positions of the training rows of largest influence, and their values."""
        explanation = self._check_explanation()
        if self.row is not None:
            explanation = explanation[row_position(self.row, len(explanation))]
        values = explanation.values.mean(axis=0)
        if explanation.smallest_first:  # NaN, the last, is what is not known
            n_known = np.count_nonzero(~np.isnan(values))
            order = np.argsort(values, kind="stable")[:n_known]
        elif np.isfinite(values).all():
            order = np.argsort(-np.abs(values), kind="stable")
        else:
            raise ValueError("explanation has values that are not finite.")
        return order[:max_entries], values[order[:max_entries]]

    def _draw_bars(
        self, order: NDArray[np.intp], values: NDArray[np.float64], style: Style | None
    ) -> None:
        """Bars of the training rows at some positions, the first on top."""
        ax, explanation = self.ax_, self._check_explanation()
        texts = column_texts(values, signed=bool((values < 0).any()))
        names = self._row_texts(order)
        self.bars_, _ = draw_ranked_bars(ax, names, values, style, texts=texts)
        name = explanation.value_name
        ax.set_xlabel(literal(wrap_name(f"{name[:1].upper()}{name[1:]}")))
        if self.row is None and len(explanation) > 1:
            ax.set_title(f"Mean over {len(explanation)} rows")
        elif self._row_label is not None:
            ax.set_title(literal(self._row_label))

    def _row_texts(self, order: NDArray[np.intp]) -> list[str]:
        """Names of training rows, with their targets and values of features."""
        explanation = self._check_explanation()
        columns: list[tuple[str, Any]] = []
        if np.ndim(explanation.training_targets) == 1:
            target = self.target_name or explanation.target_name or "y"
            columns.append((target, explanation.training_targets))
        if self.features is not None and explanation.training_data is not None:
            rows = as_rows(explanation.training_data)
            names = list(explanation.feature_names)
            for (key,) in resolve_features(self.features, names, max_order=1):
                j = int(key)
                columns.append((names[j], rows.displayed(j)))
        names = []
        for position in order.tolist():
            value_texts = [
                f"{name}={value_text(values[position], values)}"
                for name, values in columns
            ]
            row_name = " ".join(str(explanation.training_names[position]).split())
            names.append(":\n".join(filter(None, [row_name, ", ".join(value_texts)])))
        return names

    def _draw_removal(
        self,
        removal: dict[str, Any],
        line_style: Style | None,
        band_style: Style | None,
    ) -> None:
        """Scores over numbers of rows left out, by influence and at random."""
        ax = self.ax_
        sizes = np.asarray(removal["sizes"])
        draws = np.asarray(removal["random_scores"])
        mean, std = draws.mean(axis=0), draws.std(axis=0)
        # The band is so pale that the line stands out on it, also on a dark background.
        band_style = {"alpha": 0.22, **(band_style or {})}
        low, high = mean - std, mean + std
        self.band_ = draw_band(ax, sizes, low, high, NEUTRAL_COLOUR, band_style)
        dashed = {"color": shade(ax, 0.55), "linestyle": "--", "linewidth": 1.6}
        self.random_line_ = draw_line(ax, sizes, mean, NEUTRAL_COLOUR, dashed)
        self.line_ = draw_line(ax, sizes, removal["scores"], PALETTE[0], line_style)
        ax.set_xlabel("Training rows left out")
        name = removal["score_name"].replace("_", " ")
        ax.set_ylabel(literal(f"{name[:1].upper()}{name[1:]}"))
        plain_number_ticks(ax, "y")
        texts = ["the largest first", f"at random, ±1 std of {len(draws)} draws"]
        handles = [self.line_, self.random_line_]
        if "smallest_scores" in removal:
            smallest = removal["smallest_scores"]
            style = {k: v for k, v in (line_style or {}).items() if k != "color"}
            self.smallest_line_ = draw_line(ax, sizes, smallest, PALETTE[1], style)
            handles.insert(1, self.smallest_line_)
            texts.insert(1, "the smallest first")
        self.legend_ = named_legend(ax, handles, texts, framealpha=0.85)

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, of all training rows.

        Returns
        -------
        pandas.DataFrame
            Of an explanation the columns "training_row" and "value", the largest size
            (of :class:`DataValues` the smallest value) first. Of `from_removal` "size",
            "score", and "draw": missing for the removal by influence; from both ends
            also "influence" ("largest" or "smallest").

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        if self.removal is not None:
            sizes = np.asarray(self.removal["sizes"])
            blocks = [{"size": sizes, "score": self.removal["scores"]}]
            if "smallest_scores" in self.removal:
                smallest = self.removal["smallest_scores"]
                ends = np.repeat(["largest", "smallest"], len(sizes))
                blocks = [
                    {
                        "size": np.tile(sizes, 2),
                        "score": np.concatenate([blocks[0]["score"], smallest]),
                        "influence": ends,
                    }
                ]
            for draw, scores in enumerate(self.removal["random_scores"]):
                blocks.append({"size": sizes, "score": scores, "draw": draw})
            return self._frame(*blocks, integer_column="draw")
        assert self.explanation is not None  # without a removal
        order, values = self._rank_rows(None)
        names = [self.explanation.training_names[position] for position in order]
        return self._frame({"training_row": names, "value": values})


def _check_removal(
    rows: Rows, y: NDArray[Any], influence: ArrayLike, sizes: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Checked influence (n_rows,), and increasing numbers of rows to leave out."""
    check_consistent_length(rows.native, y)
    shapes, owner = [(rows.n_rows,)], f"{rows.n_rows} training rows"
    values = check_numbers(influence, "influence", shapes, owner)
    if sizes is None:
        sizes = np.linspace(0, rows.n_rows // 2, 11).astype(np.intp)
    sizes = np.unique(sizes)
    are_integers = sizes.dtype.kind in "iu" and sizes.size
    if not are_integers or sizes[0] < 0 or sizes[-1] >= rows.n_rows:
        raise ValueError(
            f"sizes={sizes.tolist()!r} must be whole numbers from 0 to "
            f"{rows.n_rows - 1}."
        )
    return values, sizes
