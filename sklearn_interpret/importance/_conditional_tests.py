"""Tests of one feature, or group, given the other features.

`ConditionalTests` has a method for each: "gcm" (Shah & Peters 2020), "pcm" (Lundborg
et al. 2024), "loco" (Williamson et al. 2023) and "hrt" (Tansey et al. 2022). All but
"gcm" split the rows into two halves: those of even `half_folds` train, the others test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from sklearn_interpret._core.statistics.covariance_tests import (
    one_sided_test,
    product_test,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret.importance._base import (
    drop_columns,
    hold_constant,
    without_columns,
)
from sklearn_interpret.importance._nuisance import (
    Dependence,
    Learner,
    Nuisance,
    Residuals,
    coded,
    remaining_dependence,
    score,
)
from sklearn_interpret.importance._redrawn import Redraw, RedrawRequest, losses_of_draws

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Estimated variances below this share of their mean count as this share: the direction
# of the projected test is divided by them. Chosen by hand.
_LEAST_VARIANCE = 0.1
# Rows whose values of a feature the projected test compares with a row's own. Chosen by
# hand: each takes predictions of all rows, and more make the direction less noisy.
_N_DONORS = 5
# Numbers below this share of the deviation of those they come from are rounding errors.
_ROUNDING = 1e-6
# Relative differences of losses below this are ties.
_TIE = 1e-9
# Of residuals that are not checked.
_NOT_CHECKED = Dependence(pvalue=1.0, r2=0.0)


@dataclass(frozen=True)
class Finding:
    """What a test found about one feature.

    Parameters
    ----------
    statistic, pvalue, importance : float
        The results.
    error, dof : float, default=NaN
        Standard error of the importance, and the degrees of freedom of its t.
    scores : tuple of float
        Held-out R^2 of the regressions of target and feature; NaN where there is none.
    dependence : tuple of Dependence
        Of the residuals of both on the other features.
    """

    statistic: float
    pvalue: float
    importance: float
    error: float = np.nan
    dof: float = np.nan
    scores: tuple[float, float] = (np.nan, np.nan)
    dependence: tuple[Dependence, ...] = (_NOT_CHECKED, _NOT_CHECKED)


@dataclass(eq=False)
class ConditionalTests:
    """The tests, with what those of all features share.

    Parameters
    ----------
    rows : Rows
        The rows, with all features.
    outcomes : ndarray of shape (n_rows, q)
        The target: numbers, or flags of classes.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    learner : Learner
        The model of the target.
    nuisance : Nuisance
        Makes the learner of some targets.
    half_folds : ndarray of shape (n_rows,)
        Halves 2 k and 2 k + 1 of the rows of fold k.
    index : ndarray of shape (n_rows,)
        Positions in the input, the same for rows repeated for their weights.
    redraw : Redraw
        Draws values for "hrt".
    """

    rows: Rows
    outcomes: NDArray[np.float64]
    weights: NDArray[np.float64]
    learner: Learner
    nuisance: Nuisance
    half_folds: NDArray[np.intp]
    index: NDArray[np.intp]
    redraw: Redraw

    def gcm(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Generalised covariance measure (Shah & Peters 2020, section 3).

        The importance is the share of the variance of the target's residuals that the
        feature's residuals explain.
        """
        remaining = self._remaining(columns)
        target = self.residuals(self.outcomes, remaining)
        feature = self.residuals(coded(self.rows, columns), remaining)
        statistic, pvalue = product_test(
            _products(target.values, feature.values),
            _products(target.held_out, feature.held_out),
            self.weights,
        )
        root = np.sqrt(self.weights)[:, None]
        slopes = np.linalg.lstsq(root * feature.values, root * target.values)[0]
        unexplained = target.values - feature.values @ slopes
        total = (self.weights @ target.values**2).sum()
        share = 1 - (self.weights @ unexplained**2).sum() / total if total > 0 else 0.0
        checks = self._checks(remaining, target, feature)
        return Finding(statistic, pvalue, share, **checks)

    def pcm(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Projected covariance measure (Lundborg et al. 2024, algorithm 1).

        One half of the rows gives a direction: the prediction of the target, less those
        with some rows' values of the feature and less what the other features explain
        of this difference, over the variance of the target. The other half tests it.
        Any direction is valid; this one is zero if the model ignores the feature.
        What the others explain is estimated from all rows, without targets: estimates
        from the first half fit its noise, and leave a dependence in the second.
        The importance is the share of the variance of the target's residuals that those
        of the direction explain.
        """
        remaining, train, test = self._remaining(columns), self._train, ~self._train
        predicted, variance = self._predicted
        donors = np.random.default_rng(seed).choice(np.flatnonzero(train), _N_DONORS)
        effect = predicted - np.mean(
            [self._with_values_of(i, columns) for i in donors], 0
        )
        direction = self.residuals(effect, remaining).values
        direction = np.where(
            _are_rounding(direction, predicted), 0.0, direction / variance
        )
        if self._are_determined(coded(self.rows, columns), remaining).all():
            direction = np.zeros_like(direction)
        target = self.residuals(self.outcomes, remaining)
        projected = self.residuals(direction, remaining)
        products = (target.values * projected.values).sum(axis=1)[test]
        held_out_products = (target.held_out * projected.held_out).sum(axis=1)[test]
        weights = self.weights[test]
        statistic, pvalue = one_sided_test(products, weights, held_out_products)
        squares = [
            weights @ (residuals.values[test] ** 2).sum(axis=1)
            for residuals in (target, projected)
        ]
        share = max(weights @ products, 0.0) ** 2 / (np.prod(squares) or 1.0)
        checks = self._checks(remaining, target, projected)
        return Finding(statistic, pvalue, share, **checks)

    def loco(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Difference of held-out losses (Williamson et al. 2023, algorithm 4).

        The model with the feature is evaluated on other rows than that without it: with
        the same rows, the difference would vanish with its error for a null feature.
        """
        model, params = self.learner.model, self.learner.params
        remaining = without_columns(self.rows, columns, model, params)
        try:
            reduced_losses = self._losses(remaining)
        except Exception:  # as many principal components as columns, for one
            reduced_losses = self._losses(hold_constant(self.rows, columns))
        full = _Mean.of_values(
            self._full_losses[self._train], self.weights[self._train]
        )
        test = ~self._train
        reduced = _Mean.of_values(reduced_losses[test], self.weights[test])
        importance = reduced.mean - full.mean
        error = np.sqrt(reduced.variance + full.variance)
        statistic = importance / error if error > 0 else 0.0
        dof = min(reduced.dof, full.dof)
        return Finding(statistic, t.sf(statistic, dof), importance, error, dof)

    def hrt(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Holdout randomization test (Tansey et al. 2022, algorithm 1).

        A model of one half of the rows predicts the other half, with the feature as it
        is and redrawn given the other features.
        """
        remaining, test = self._remaining(columns), np.flatnonzero(~self._train)
        rng = np.random.default_rng(seed)
        redrawn = self.redraw(RedrawRequest(self, columns, remaining, test, rng))
        model = self._half_model
        targets = self.outcomes[test]
        if self.learner.classes is not None:
            is_known = np.isin(self.learner.classes, model.classes_)
            targets = targets[:, is_known[1:] if len(is_known) == 2 else is_known]
        losses = losses_of_draws(
            make_response(model, "auto", None),
            self.rows.take(test),
            columns,
            redrawn.draws,
            targets,
            self.weights[test],
        )
        observed, null = losses[0], losses[1:]
        n_as_small = (null <= observed + _TIE * abs(observed)).sum()
        pvalue = (1 + n_as_small) / (1 + len(null))
        importance, deviation = (null - observed).mean(), null.std()
        statistic = importance / deviation if deviation > _TIE * abs(observed) else 0.0
        checks = self._checks(remaining, None, redrawn.residuals)
        return Finding(statistic, pvalue, importance, **checks)

    @property
    def _train(self) -> NDArray[np.bool_]:
        """Mask of the half of the rows that trains; the other half tests."""
        return self.half_folds % 2 == 0

    def _remaining(self, columns: tuple[int, ...]) -> Rows:
        """Rows without some columns, for the nuisance regressions."""
        if self.nuisance.model is None:
            return drop_columns(self.rows, columns)
        return without_columns(self.rows, columns, self.nuisance.model)

    def residuals(self, targets: NDArray[np.float64], remaining: Rows) -> Residuals:
        """Residuals of targets (n_rows, q), zero in columns of rounding errors.

        Those of the default nuisance come from a model of all rows, as in Shah & Peters
        (2020, section 4): penalties keep it from overfitting, and at the ends of the
        data its errors are smaller than held-out ones, which target and feature share.
        """
        learner = self.nuisance(targets)
        if self.nuisance.model is None:
            predicted, learner = learner.of_all(remaining)
        held_out, score = self.held_out(learner, targets, remaining)
        residuals = targets - predicted if self.nuisance.model is None else held_out
        vanish = self._are_determined(targets, remaining)
        vanish |= _are_rounding(residuals, targets)
        return Residuals(
            np.where(vanish, 0.0, residuals), np.where(vanish, 0.0, held_out), score
        )

    def held_out(
        self, learner: Learner, targets: NDArray[np.float64], remaining: Rows
    ) -> tuple[NDArray[np.float64], float]:
        """Held-out residuals (n_rows, q) and R^2."""
        residuals = targets - learner.held_out(remaining, self.half_folds // 2)
        return residuals, score(targets, residuals, self.weights)

    def _are_determined(
        self, targets: NDArray[np.float64], remaining: Rows
    ) -> NDArray[np.bool_]:
        """Flags (q,) of targets that are linear functions of the other features."""
        train = self._train
        table = coded(remaining, range(remaining.n_columns))
        table = np.column_stack([np.ones(len(table)), table])
        coefficients = np.linalg.lstsq(table[train], targets[train])[0]
        return _are_rounding((targets - table @ coefficients)[~train], targets)

    def _checks(
        self, remaining: Rows, target: Residuals | None, feature: Residuals | None
    ) -> dict[str, Any]:
        """Fields `scores` and `dependence` of a `Finding` with these residuals."""
        scores, dependence = [], []
        for residuals in (target, feature):
            if residuals is None:
                scores.append(np.nan)
                dependence.append(_NOT_CHECKED)
                continue
            scores.append(residuals.score)
            dependence.append(
                remaining_dependence(
                    residuals.values,
                    remaining,
                    self.nuisance,
                    self.weights,
                    self.half_folds,
                    self.index,
                )
            )
        return {"scores": tuple(scores), "dependence": tuple(dependence)}

    def prepare(self, test: str) -> None:
        """Compute what a test needs for all features, before the work is divided."""
        shared = {"pcm": "_predicted", "hrt": "_half_model", "loco": "_full_losses"}
        if test in shared:
            getattr(self, shared[test])

    @cached_property
    def _half_model(self) -> Any:
        """The model of the target, fitted to the half that trains."""
        return self.learner.fitted(self.rows, np.flatnonzero(self._train))

    @cached_property
    def _predicted(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Predictions of the target, and its variance given all features: (n, q)."""
        train = np.flatnonzero(self._train)
        predicted = self.learner.outcomes(self._half_model, self.rows)
        squares = (self.outcomes - predicted) ** 2
        learner = self.nuisance(squares)
        variance = learner.outcomes(learner.fitted(self.rows, train), self.rows)
        mean = np.average(squares[train], axis=0, weights=self.weights[train])
        least = np.where(mean > 0, _LEAST_VARIANCE * mean, 1.0)
        return predicted, np.maximum(variance, least)

    def _with_values_of(
        self, donor: int, columns: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Predictions of the target with a row's values of some columns: (n, q)."""
        index = np.arange(self.rows.n_rows)
        donors = dict.fromkeys(columns, np.full(len(index), donor))
        rows = type(self.rows)(self.rows.mixed(index, donors))
        return self.learner.outcomes(self._half_model, rows)

    @cached_property
    def _full_losses(self) -> NDArray[np.float64]:
        """Losses of the model with all features."""
        return self._losses(self.rows)

    def _losses(self, rows: Rows) -> NDArray[np.float64]:
        """Held-out squared errors, summed over outputs: (n_rows,)."""
        predictions = self.learner.held_out(rows, self.half_folds // 2)
        return ((self.outcomes - predictions) ** 2).sum(axis=1)


def _are_rounding(
    values: NDArray[np.float64], origin: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Flags (q,) of columns of values that are rounding errors of the given numbers."""
    size = origin.std(axis=0) + _ROUNDING * np.abs(origin).max(axis=0)
    return np.sqrt(np.mean(values**2, axis=0)) <= _ROUNDING * size


def _products(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Products of all pairs of columns: (n_rows, q_left * q_right)."""
    return (left[:, :, None] * right[:, None]).reshape(len(left), -1)


class _Mean(NamedTuple):
    """A weighted mean, the variance of its error, and their degrees of freedom."""

    mean: float
    variance: float
    dof: float

    @classmethod
    def of_values(
        cls, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> _Mean:
        """The mean of values (n_rows,)."""
        total = weights.sum()
        mean, dof = weights @ values / total, max(total - 1, 1.0)
        return cls(mean, weights @ (values - mean) ** 2 / dof / total, dof)
