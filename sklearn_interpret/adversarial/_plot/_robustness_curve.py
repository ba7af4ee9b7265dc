"""Display of accuracy under attack against the size of perturbations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import learner_half_width
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._plotting.axes import legend_entries, named_legend
from sklearn_interpret._plotting.colours import PALETTE, unused_colours
from sklearn_interpret._plotting.curves import draw_band, draw_line, draw_thin_lines
from sklearn_interpret._plotting.displays import Display, FoldsMixin
from sklearn_interpret._plotting.panels.lines import LEARNER_BAND
from sklearn_interpret._plotting.sources import check_numbers, check_same_in_folds
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.sources import Data

# Largest number of points of a curve: with more, its steps are narrower than a line.
_MAX_SIZES = 101


class _Curve(NamedTuple):
    """Robust scores of an attack against the size of perturbations."""

    sizes: NDArray[np.float64]
    scores: NDArray[np.float64]

    def scores_at(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores at some sizes: a score stays until the next size at which it falls."""
        return self.scores[np.searchsorted(self.sizes, sizes, side="right") - 1]


@dataclass(eq=False, repr=False)
class RobustnessCurveDisplay(FoldsMixin, Display):
    """Accuracy under attack against the size of the perturbation.

    Build it with `from_estimator` or `from_cv_results`. At zero stands the accuracy
    without an attack. A curve that stays high does not prove that the model is robust:
    a stronger attack may bring it down. Draw several attacks or models on one axes
    with `ax` and `label`.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Sizes of perturbations, increasing.
    scores : array-like of shape (n_sizes,) or (n_folds, n_sizes)
        Accuracy under attack at each; of several folds, whose mean is drawn.
    label : str, default=None
        Name of the curve in the legend.
    size_name : str, default="Perturbation"
        Name of the sizes, for the axis.
    score_name : str, default="Accuracy under attack"
        Name of the scores, for the axis.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    line_ : Line2D
        The curve, or the mean over the folds.
    fold_lines_ : list of Line2D
        A thin line for each fold.
    band_ : PolyCollection or None
        An interval of 95 % for the learner's curve, of models on other data.
    legend_ : Legend or None
        Names of all curves on the axes, where there are any.

    See Also
    --------
    AdversarialDisplay : One attacked row.

    Examples
    --------
    >>> from sklearn_interpret.adversarial import RobustnessCurveDisplay
    >>> display = RobustnessCurveDisplay([0.0, 0.1, 0.2], [0.95, 0.6, 0.1]).plot()
    >>> display.to_frame()
       size  score
    0   0.0   0.95
    1   0.1   0.60
    2   0.2   0.10
    """

    _kinds = (ProjectedGradient, "robustness_curve")
    _choices = frozenset({"label", "sizes"})
    _without = frozenset({"target_name", "unit"})
    _leading = ("sizes",)
    _shows_rows = _weighs_rows = _inspects_training_rows = True
    _on_test_rows = True  # whether each fold has test rows of its own

    sizes: ArrayLike
    scores: ArrayLike
    _: KW_ONLY
    label: str | None = None
    size_name: str = "Perturbation"
    score_name: str = "Accuracy under attack"

    @classmethod
    def _from_inspector(
        cls,
        inspector: Any,
        data: Data,
        *,
        sizes: ArrayLike | None = None,
        **choices: Any,
    ) -> Self:
        """The display of an attack's curve.

        sizes : array-like of shape (n_sizes,), default=None
            Sizes of perturbations, in the norm and the units of the attack. None takes
            eleven from zero to twice the budget of an attack that has one; of a
            search, the distances at which the curve falls.
        """
        return cls._from_attacks([inspector], [data], sizes, choices)

    @classmethod
    def _from_folds(
        cls,
        inspectors: list[Any],
        data: Data,
        *,
        tests: list[Data] | None,
        sizes: ArrayLike | None = None,
        **choices: Any,
    ) -> Self:
        """The display of the mean of the folds' curves.

        sizes : array-like of shape (n_sizes,), default=None
            As in `from_estimator`.
        """
        check_same_in_folds([_size_name(attack) for attack in inspectors], "units")
        fold_data = tests or [data] * len(inspectors)
        display = cls._from_attacks(inspectors, fold_data, sizes, choices)
        display._on_test_rows = tests is not None
        return display

    @classmethod
    def _from_attacks(
        cls,
        attacks: list[Any],
        fold_data: list[Data],
        sizes: ArrayLike | None,
        choices: dict[str, Any],
    ) -> Self:
        """The display of the curve of each attack on its rows."""
        asked_sizes = None if sizes is None else np.unique(sizes).tolist()
        curves = [
            _Curve(
                *attack._sizes_and_scores(
                    data.X, data.y, asked_sizes, data.sample_weight
                )
            )
            for attack, data in zip(attacks, fold_data, strict=True)
        ]
        all_sizes = np.unique(np.concatenate([curve.sizes for curve in curves]))
        if len(all_sizes) > _MAX_SIZES:
            shares = np.linspace(0, 1, _MAX_SIZES)
            quantiles = np.quantile(all_sizes, shares, method="inverted_cdf")
            all_sizes = np.unique(quantiles)
        scores = [curve.scores_at(all_sizes) for curve in curves]
        name = "Accuracy under attack"
        if not is_classifier(attacks[0].estimator_):
            name = "Share of rows that withstand the attack"
        elif fold_data[0].y is None:
            name = "Share of predictions that stay"
        return cls(
            all_sizes,
            scores[0] if len(scores) == 1 else scores,
            size_name=_size_name(attacks[0]),
            score_name=name,
            **choices,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure. Curves that are there already stay.
        line_kw : dict, default=None
            Style of the line.
        band_kw : dict, default=None
            Style of the band.

        Returns
        -------
        self : RobustnessCurveDisplay
            The display.

        Raises
        ------
        ValueError
            Scores that do not fit the sizes.
        """
        sizes, scores = self._arrays()
        ax = self._take_axes(ax)
        (colour,) = unused_colours([PALETTE[0]], ax)
        mean, label = scores.mean(axis=0), self.label
        self.line_ = draw_line(ax, sizes, mean, colour, line_kw)
        self.fold_lines_, self.band_ = [], None
        if len(scores) > 1:
            line_colour, (low, high) = self.line_.get_color(), self._band_ends(scores)
            self.fold_lines_ = draw_thin_lines(ax, sizes, scores, line_colour, None)
            self.band_ = draw_band(ax, sizes, low, high, line_colour, band_kw)
            n_folds = f"{len(scores)} folds"
            label = f"mean of {n_folds}" if label is None else f"{label} ({n_folds})"
        ax.set(xlabel=self.size_name, ylabel=self.score_name, ylim=(-0.02, 1.02))
        self.legend_ = self._extend_legend(ax, label)
        return self

    def _arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sizes (n,) and scores (n_folds, n), checked."""
        sizes = check_numbers(self.sizes, "sizes", [(None,)], "a curve")
        shapes, owner = [sizes.shape, (None, *sizes.shape)], f"{len(sizes)} sizes"
        return sizes, np.atleast_2d(check_numbers(self.scores, "scores", shapes, owner))

    def _band_ends(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ends of the learner's band, cut to the range from 0 to 1."""
        mean, on_test_rows = scores.mean(axis=0), self._on_test_rows
        reach = learner_half_width(scores, self._splits, on_test_rows=on_test_rows)
        return np.clip([mean - reach, mean + reach], 0, 1)

    def _extend_legend(self, ax: Axes, label: str | None) -> Legend | None:
        """The legend of the axes, with the new line."""
        earlier = ax.get_legend()
        entries: dict[str, Any] = {}
        if earlier is not None:
            entries, _ = legend_entries(earlier)
        if label is not None:
            entries[label] = self.line_
        if self.band_ is not None:
            entries[self._learner_text(LEARNER_BAND)] = self.band_
        if not entries:
            return None
        return named_legend(ax, list(entries.values()), list(entries), framealpha=0.85)

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns "size" and "score"; of several folds "low" and "high", the ends of
            the band, and "fold" (missing for the mean).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        sizes, scores = self._arrays()
        blocks = [{"size": sizes, "score": scores.mean(axis=0)}]
        if len(scores) > 1:
            blocks[0] |= zip(("low", "high"), self._band_ends(scores), strict=True)
            for fold, fold_scores in enumerate(scores):
                blocks.append({"size": sizes, "score": fold_scores, "fold": fold})
        return self._frame(*blocks, integer_column="fold")


def _size_name(attack: Any) -> str:
    """Name of the sizes of an attack's perturbations."""
    attack = getattr(attack, "attack_", attack)  # the attack on a substitute
    if attack._budget == "scale":
        return "Size of the patch, relative to its own"
    if attack._budget == "n_pixels":
        of_images = getattr(attack, "image_shape", None) is not None
        return f"Number of changed {'pixels' if of_images else 'features'}"
    words = {"std": ", standard deviations", "raw": ", units of the data"}
    return f"Perturbation (norm {attack.norm}{words[attack.units]})"
