"""Tests of one feature, or group, given the other features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
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
    Learner,
    Nuisance,
    coded,
    remaining_dependence,
    score,
)
from sklearn_interpret.importance._redrawn import Redraw, losses_of_draws

# Estimated variances below this share of their mean count as this share: the direction
# of the projected test is divided by them.
_LEAST_VARIANCE = 0.1
# Rows whose values of a feature the projected test compares with a row's own.
_N_DONORS = 5
# Numbers below this share of the deviation of those they come from are rounding errors.
_ROUNDING = 1e-6
# Relative differences of losses below this are ties.
_TIE = 1e-9
# P-value and R^2 of residuals that are not checked.
_NOT_CHECKED = 1.0, 0.0


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
    dependence : tuple of tuple of float
        For both, p-value and R^2 of a regression of its residuals.
    """

    statistic: float
    pvalue: float
    importance: float
    error: float = np.nan
    dof: float = np.nan
    scores: tuple[float, float] = (np.nan, np.nan)
    dependence: tuple[tuple[float, float], ...] = (_NOT_CHECKED,) * 2


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
    parts : ndarray of shape (n_rows,)
        Parts 2 k and 2 k + 1 of the rows of fold k.
    index : ndarray of shape (n_rows,)
        Positions in the input, the same for rows repeated for their weights.
    redraw : Redraw
        Draws values for "hrt".
    """

    rows: Any
    outcomes: np.ndarray
    weights: np.ndarray
    learner: Learner
    nuisance: Nuisance
    parts: np.ndarray
    index: np.ndarray
    redraw: Redraw

    def gcm(self, columns, seed):
        """Generalised covariance measure (Shah & Peters 2020, section 3).

        The importance is the share of the variance of the target's residuals that the
        feature's residuals explain.
        """
        others, given = self._others(columns), coded(self.rows, columns)
        of_target, held_target, target_score = self.residuals(self.outcomes, others)
        of_feature, held_feature, feature_score = self.residuals(given, others)
        products = [
            (left[:, :, None] * right[:, None]).reshape(len(left), -1)
            for left, right in ((of_target, of_feature), (held_target, held_feature))
        ]
        found = product_test(*products, self.weights)
        root = np.sqrt(self.weights)[:, None]
        fitted = np.linalg.lstsq(root * of_feature, root * of_target)[0]
        left = of_target - of_feature @ fitted
        total = (self.weights @ of_target**2).sum()
        share = 1 - (self.weights @ left**2).sum() / total if total > 0 else 0.0
        scores = target_score, feature_score
        checks = self._checks(others, scores, of_target, of_feature)
        return Finding(*found, share, **checks)

    def pcm(self, columns, seed):
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
        others, half = self._others(columns), self.parts % 2 == 0
        whole, variance = self._predicted
        donors = np.random.default_rng(seed).choice(np.flatnonzero(half), _N_DONORS)
        effect = whole - np.mean([self._with_values_of(i, columns) for i in donors], 0)
        direction, *_ = self.residuals(effect, others)
        direction = np.where(_are_rounding(direction, whole), 0.0, direction / variance)
        if self._follow(coded(self.rows, columns), others).all():
            direction = np.zeros_like(direction)
        of_target, held_target, target_score = self.residuals(self.outcomes, others)
        projected, held_projected, effect_score = self.residuals(direction, others)
        products = (of_target * projected).sum(axis=1)[~half]
        held_out = (held_target * held_projected).sum(axis=1)[~half]
        weights = self.weights[~half]
        found = one_sided_test(products, weights, held_out)
        squares = [
            weights @ (part[~half] ** 2).sum(axis=1) for part in (of_target, projected)
        ]
        share = max(weights @ products, 0.0) ** 2 / (np.prod(squares) or 1.0)
        scores = target_score, effect_score
        checks = self._checks(others, scores, of_target, projected)
        return Finding(*found, share, **checks)

    def loco(self, columns, seed):
        """Difference of held-out losses (Williamson et al. 2023, algorithm 4).

        The model with the feature is evaluated on other rows than that without it: with
        the same rows, the difference would vanish with its error for a null feature.
        """
        model, params = self.learner.model, self.learner.params
        others = without_columns(self.rows, columns, model, params)
        even = self.parts % 2 == 0
        try:
            without = self._losses(others)[~even]
        except Exception:  # as many principal components as columns, for one
            without = self._losses(hold_constant(self.rows, columns))[~even]
        parts = [
            (without, self.weights[~even]),
            (self._losses_with[even], self.weights[even]),
        ]
        means, variances, dofs = zip(*(_of_mean(*part) for part in parts), strict=True)
        importance, error = means[0] - means[1], np.sqrt(sum(variances))
        statistic = importance / error if error > 0 else 0.0
        pvalue = t.sf(statistic, min(dofs))
        return Finding(statistic, pvalue, importance, error, min(dofs))

    def hrt(self, columns, seed):
        """Holdout randomization test (Tansey et al. 2022, algorithm 1).

        A model of one half of the rows predicts the other half, with the feature as it
        is and redrawn given the other features.
        """
        others, half = self._others(columns), self.parts % 2 == 0
        rest = np.flatnonzero(~half)
        rng = np.random.default_rng(seed)
        draws, residuals, feature_score = self.redraw(self, columns, others, rest, rng)
        model = self._of_half
        targets = self.outcomes[rest]
        if self.learner.classes is not None:
            known = np.isin(self.learner.classes, model.classes_)
            targets = targets[:, known[1:] if len(known) == 2 else known]
        losses = losses_of_draws(
            make_response(model, "auto", None),
            self.rows.take(rest),
            columns,
            draws,
            targets,
            self.weights[rest],
        )
        observed, null = losses[0], losses[1:]
        as_small = (null <= observed + _TIE * abs(observed)).sum()
        gains = null - observed
        spread = null.std()
        statistic = gains.mean() / spread if spread > _TIE * abs(observed) else 0.0
        checks = self._checks(others, (np.nan, feature_score), None, residuals)
        pvalue = (1 + as_small) / (1 + len(null))
        return Finding(statistic, pvalue, gains.mean(), **checks)

    def _others(self, columns: tuple[int, ...]) -> Any:
        """Rows without some columns, for the nuisance regressions."""
        if self.nuisance.model is None:
            return drop_columns(self.rows, columns)
        return without_columns(self.rows, columns, self.nuisance.model)

    def residuals(self, targets, others):
        """Residuals of targets (n_rows, q), held-out ones, and their R^2.

        Those of the default nuisance come from a model of all rows, as in Shah & Peters
        (2020, section 4): penalties keep it from overfitting, and at the ends of the
        data its errors are smaller than held-out ones, which target and feature share.
        """
        learner = self.nuisance(targets)
        if self.nuisance.model is None:
            predicted, learner = learner.of_all(others)
        held_out, score = self.held_out(learner, targets, others)
        found = targets - predicted if self.nuisance.model is None else held_out
        gone = self._follow(targets, others) | _are_rounding(found, targets)
        return np.where(gone, 0.0, found), np.where(gone, 0.0, held_out), score

    def held_out(self, learner, targets, others):
        """Held-out residuals (n_rows, q) and R^2."""
        found = targets - learner.held_out(others, self.parts // 2)
        return found, score(targets, found, self.weights)

    def _follow(self, targets, others):
        """Flags (q,) of targets that are linear functions of the others."""
        half = self.parts % 2 == 0
        table = coded(others, range(others.n_columns))
        table = np.column_stack([np.ones(len(table)), table])
        left = targets - table @ np.linalg.lstsq(table[half], targets[half])[0]
        return _are_rounding(left[~half], targets)

    def _checks(self, others, scores, *residuals):
        """Scores, and what is left in residuals (n_rows, q), as `Finding` has them."""
        dependence = [
            remaining_dependence(
                left, others, self.nuisance, self.weights, self.parts, self.index
            )
            if left is not None
            else _NOT_CHECKED
            for left in residuals
        ]
        return {"scores": scores, "dependence": tuple(dependence)}

    def prepare(self, test):
        """Compute what a test needs for all features, before the work is divided."""
        shared = {"pcm": "_predicted", "hrt": "_of_half", "loco": "_losses_with"}
        if test in shared:
            getattr(self, shared[test])

    @cached_property
    def _of_half(self):
        """The model of the target, fitted to the even parts."""
        return self.learner.fitted(self.rows, np.flatnonzero(self.parts % 2 == 0))

    @cached_property
    def _predicted(self):
        """Predictions of the target, and its variance given all features: (n, q)."""
        half = np.flatnonzero(self.parts % 2 == 0)
        whole = self.learner.outcomes(self._of_half, self.rows)
        squares = (self.outcomes - whole) ** 2
        learner = self.nuisance(squares)
        variance = learner.outcomes(learner.fitted(self.rows, half), self.rows)
        mean = np.average(squares[half], axis=0, weights=self.weights[half])
        least = np.where(mean > 0, _LEAST_VARIANCE * mean, 1.0)
        return whole, np.maximum(variance, least)

    def _with_values_of(self, donor, columns):
        """Predictions of the target with a row's values of some columns: (n, q)."""
        index = np.arange(self.rows.n_rows)
        moved = dict.fromkeys(columns, np.full(len(index), donor))
        rows = type(self.rows)(self.rows.mixed(index, moved))
        return self.learner.outcomes(self._of_half, rows)

    @cached_property
    def _losses_with(self):
        """Losses of the model with all features."""
        return self._losses(self.rows)

    def _losses(self, rows):
        """Held-out squared errors, summed over outputs: (n_rows,)."""
        predictions = self.learner.held_out(rows, self.parts // 2)
        return ((self.outcomes - predictions) ** 2).sum(axis=1)


def _are_rounding(values, given):
    """Flags (q,) of columns of values that are rounding errors of the given numbers."""
    size = given.std(axis=0) + _ROUNDING * np.abs(given).max(axis=0)
    return np.sqrt(np.mean(values**2, axis=0)) <= _ROUNDING * size


def _of_mean(values, weights):
    """Weighted mean, its variance, and degrees of freedom."""
    total = weights.sum()
    mean, dof = weights @ values / total, max(total - 1, 1.0)
    return mean, weights @ (values - mean) ** 2 / dof / total, dof
