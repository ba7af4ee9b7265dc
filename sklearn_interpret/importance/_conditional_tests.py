"""Tests of one feature, or group, given the other features.

`ConditionalTests` has a method for each: "gcm" (Shah & Peters 2020), "pcm" (Lundborg
et al. 2024), "loco" (Williamson et al. 2023) and "hrt" (Tansey et al. 2022). All but
"gcm" split the rows into two halves: rows of even `half_folds` train, rows of odd ones
test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from sklearn_interpret._core.statistics.covariance_tests import (
    combine_splits,
    generalised_covariance_test,
    one_sided_test,
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
    encode_columns,
    residual_dependence,
    score,
)
from sklearn_interpret.importance._redrawn import Redraw, RedrawRequest, losses_of_draws

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Estimated variances below this share of their mean count as this share: the direction
# of the projected test is divided by variances. Chosen by hand.
_LEAST_VARIANCE = 0.1
# Rows whose values of a feature a direction of the projected test compares with a row's
# own. Chosen by hand: each takes predictions of all rows, and the mean over directions
# makes up for few.
_N_DONORS = 2
# Differences below this share of the standard deviation of their terms are rounding.
_ROUNDING = 1e-6
# Relative differences of losses below this are ties.
_TIE = 1e-9
# Leverages above this count as this: of a row that determines its own prediction no
# held-out residual is known.
_MOST_LEVERAGE = 0.99
# The dependence of residuals that are not checked.
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
        Dependence of both regressions' residuals on the other features.
    """

    statistic: float
    pvalue: float
    importance: float
    error: float = np.nan
    dof: float = np.nan
    scores: tuple[float, float] = (np.nan, np.nan)
    dependence: tuple[Dependence, ...] = (_NOT_CHECKED, _NOT_CHECKED)


class _TrainedHalf(NamedTuple):
    """A model of the target, fitted to one half of the rows."""

    is_trained: NDArray[np.bool_]  # flags of the rows of this half, (n,)
    model: Any
    predicted: NDArray[np.float64]  # means of the target given all features, (n, q)
    variance: NDArray[np.float64]  # and variances, (n, q)


@dataclass(eq=False)
class ConditionalTests:
    """The tests, with the models and data that the tests of all features share.

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
        Half fold of each row: fold k has the half folds 2 k and 2 k + 1.
    splits : list of ndarray of shape (n_rows,)
        Flags of the rows of one half, for each split of "pcm".
    index : ndarray of shape (n_rows,)
        Positions in the input. Rows that stand for one weighted row share theirs.
    redraw : Redraw
        Draws values for "hrt".
    """

    rows: Rows
    outcomes: NDArray[np.float64]
    weights: NDArray[np.float64]
    learner: Learner
    nuisance: Nuisance
    half_folds: NDArray[np.intp]
    splits: list[NDArray[np.bool_]]
    index: NDArray[np.intp]
    redraw: Redraw

    def gcm(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Generalised covariance measure (Shah & Peters 2020, section 3).

        The importance is the share of the variance of the target's residuals that the
        feature's residuals explain.
        """
        other_features = self._drop_columns(columns)
        target = self.residuals(self.outcomes, other_features)
        feature = self.residuals(encode_columns(self.rows, columns), other_features)
        variances = self._null_variances(target, other_features)
        statistic, pvalue = generalised_covariance_test(
            _column_products(target.values, feature.values),
            _column_products(target.held_out, feature.held_out),
            self.weights,
            np.average(
                _column_products(variances, feature.held_out**2), 0, self.weights
            ),
        )
        root_weights = np.sqrt(self.weights)[:, None]
        slopes = np.linalg.lstsq(
            root_weights * feature.values, root_weights * target.values
        )[0]
        unexplained = target.values - feature.values @ slopes
        total = (self.weights @ target.values**2).sum()
        share = 1 - (self.weights @ unexplained**2).sum() / total if total > 0 else 0.0
        checks = self._check_residuals(other_features, target, feature)
        return Finding(statistic, pvalue, share, **checks)

    def pcm(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Projected covariance measure (Lundborg et al. 2024, algorithm 1).

        One half of the rows gives a direction, and the other half tests it, in several
        splits of the rows, whose tests are combined. The importance is the share of the
        variance of the target's residuals that the directions' residuals explain.
        """
        other_features = self._drop_columns(columns)
        target = self.residuals(self.outcomes, other_features)
        variances = self._null_variances(target, other_features)
        feature = encode_columns(self.rows, columns)
        is_determined = self._are_linear_in(feature, other_features).all()
        rng = np.random.default_rng(seed)
        statistics, shares = [], []
        checks: dict[str, Any] = {}
        for half in self._trained_halves:
            direction = np.zeros_like(half.predicted)
            if not is_determined:
                direction = self._direction(half, columns, other_features, rng)
            projected = self._direction_residuals(direction, other_features)
            test = ~half.is_trained
            products = (target.values * projected.values).sum(axis=1)[test]
            held_out_products = (target.held_out * projected.held_out).sum(axis=1)[test]
            weights = self.weights[test]
            null_variances = (variances * projected.held_out**2).sum(axis=1)[test]
            statistic, _ = one_sided_test(
                products,
                weights,
                held_out_products,
                np.average(null_variances, weights=weights),
            )
            statistics.append(statistic)
            sums_of_squares = [
                weights @ (residuals.values[test] ** 2).sum(axis=1)
                for residuals in (target, projected)
            ]
            shares.append(
                max(weights @ products, 0.0) ** 2 / (np.prod(sums_of_squares) or 1.0)
            )
            # Those of one direction: the regressions of all are alike.
            checks = checks or self._check_residuals(other_features, target, projected)
        statistic, pvalue = combine_splits(
            np.reshape(statistics, (-1, 2)), self.weights.sum() / 2 - 1
        )
        return Finding(statistic, pvalue, float(np.mean(shares)), **checks)

    def _direction(
        self,
        half: _TrainedHalf,
        columns: tuple[int, ...],
        other_features: Rows,
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """The direction (n, q) that the model of a half of the rows gives.

        The effect of the feature is the prediction of the target less its mean over
        values of the feature from some rows. The direction is the effect, less its
        prediction from the other features, over the variance of the target. Any
        direction is valid; this one is zero if the model ignores the feature. The
        effect is predicted from all rows, without targets: a prediction from this half
        would fit its noise, and leave a dependence in the other half.
        """
        donors = rng.choice(np.flatnonzero(half.is_trained), _N_DONORS)
        effect = half.predicted - np.mean(
            [self._predict_with_donor(half.model, i, columns) for i in donors], 0
        )
        residuals = self._direction_residuals(effect, other_features).values
        are_zero = _are_rounding_errors(residuals, half.predicted)
        return np.where(are_zero, 0.0, residuals / half.variance)

    def loco(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Difference of held-out losses (Williamson et al. 2023, algorithm 4).

        The model with the feature is evaluated on one half of the rows, and the model
        without it on the other half. On the same rows, the difference for a null
        feature and the error of this difference would both vanish.
        """
        model, params = self.learner.model, self.learner.params
        other_features = without_columns(self.rows, columns, model, params)
        try:
            reduced_losses = self._losses(other_features)
        except Exception:  # a parameter fits the number of columns only, as of PCA
            reduced_losses = self._losses(hold_constant(self.rows, columns))
        train, test = self._train, ~self._train
        full = _Mean.of_values(self._full_losses[train], self.weights[train])
        reduced = _Mean.of_values(reduced_losses[test], self.weights[test])
        importance = reduced.mean - full.mean
        error = np.sqrt(reduced.variance + full.variance)
        statistic = importance / error if error > 0 else 0.0
        dof = min(reduced.dof, full.dof)
        return Finding(statistic, t.sf(statistic, dof), importance, error, dof)

    def hrt(self, columns: tuple[int, ...], seed: int) -> Finding:
        """Holdout randomization test (Tansey et al. 2022, algorithm 1).

        A model of one half of the rows predicts the other half, once with the observed
        feature and `n_samples` times with the feature redrawn given the other features.
        """
        other_features, test = self._drop_columns(columns), np.flatnonzero(~self._train)
        rng = np.random.default_rng(seed)
        redrawn = self.redraw(RedrawRequest(self, columns, other_features, test, rng))
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
        observed, null = losses[0], losses[1:]  # the null distribution has redrawn rows
        n_as_small = (null <= observed + _TIE * abs(observed)).sum()
        pvalue = (1 + n_as_small) / (1 + len(null))
        importance, deviation = (null - observed).mean(), null.std()
        statistic = importance / deviation if deviation > _TIE * abs(observed) else 0.0
        checks = self._check_residuals(other_features, None, redrawn.residuals)
        return Finding(statistic, pvalue, importance, **checks)

    @property
    def folds(self) -> NDArray[np.intp]:
        """Fold of each row, (n_rows,)."""
        return self.half_folds // 2

    @property
    def _train(self) -> NDArray[np.bool_]:
        """Mask of the half of the rows that trains; the other half tests."""
        return self.half_folds % 2 == 0

    def _drop_columns(self, columns: tuple[int, ...]) -> Rows:
        """Rows without some columns, for the nuisance regressions."""
        if self.nuisance.model is None:
            return drop_columns(self.rows, columns)
        return without_columns(self.rows, columns, self.nuisance.model)

    def residuals(
        self, targets: NDArray[np.float64], other_features: Rows
    ) -> Residuals:
        """Residuals of targets (n_rows, q), zero in columns of rounding errors.

        Residuals of the default nuisance come from a model of all rows, as in Shah &
        Peters (2020, section 4): penalties keep it from overfitting. Held-out errors
        are larger at the ends of the data, for target and feature alike.
        """
        learner = self.nuisance(targets)
        if self.nuisance.model is None:
            predicted, learner = learner.predict_in_sample(other_features)
        held_out, r2 = self.held_out_residuals(learner, targets, other_features)
        residuals = targets - predicted if self.nuisance.model is None else held_out
        return self._round_residuals(
            Residuals(residuals, held_out, r2), targets, other_features
        )

    def _direction_residuals(
        self, direction: NDArray[np.float64], other_features: Rows
    ) -> Residuals:
        """Residuals of a function of the features, (n, q), as `residuals`.

        It has no noise, of which a structure could fit a part: `in_sample_residuals`
        takes no folds.
        """
        if self.nuisance.model is not None:
            return self.residuals(direction, other_features)
        _, residuals = self.in_sample_residuals(
            self.nuisance, direction, other_features
        )
        return self._round_residuals(residuals, direction, other_features)

    def in_sample_residuals(
        self, nuisance: Nuisance, targets: NDArray[np.float64], other_features: Rows
    ) -> tuple[NDArray[np.float64], Residuals]:
        """Predictions (n_rows, q) by a model of all rows, and their residuals.

        Leverages give the held-out residuals of the default nuisance, without more
        fits.
        """
        learner = nuisance(targets)
        if nuisance.model is not None:
            means, _ = learner.predict_in_sample(other_features)
            held_out, r2 = self.held_out_residuals(learner, targets, other_features)
            return means, Residuals(targets - means, held_out, r2)
        model = learner.fit_rows(other_features, np.arange(len(targets)))
        means, leverages = model.predict_with_leverages(other_features.native)
        residuals = targets - means
        held_out = residuals / (1 - np.minimum(leverages, _MOST_LEVERAGE))
        r2 = score(targets, held_out, self.weights)
        return means, Residuals(residuals, held_out, r2)

    def held_out_residuals(
        self, learner: Learner, targets: NDArray[np.float64], other_features: Rows
    ) -> tuple[NDArray[np.float64], float]:
        """Held-out residuals (n_rows, q) of a learner, and R^2."""
        residuals = targets - learner.predict_held_out(other_features, self.folds)
        return residuals, score(targets, residuals, self.weights)

    def _round_residuals(
        self, residuals: Residuals, targets: NDArray[np.float64], other_features: Rows
    ) -> Residuals:
        """Residuals that are zero in columns of rounding errors."""
        are_zero = self._are_linear_in(targets, other_features)
        are_zero |= _are_rounding_errors(residuals.values, targets)
        return Residuals(
            np.where(are_zero, 0.0, residuals.values),
            np.where(are_zero, 0.0, residuals.held_out),
            residuals.score,
        )

    def _are_linear_in(
        self, targets: NDArray[np.float64], other_features: Rows
    ) -> NDArray[np.bool_]:
        """Flags (q,) of targets that are linear functions of the other features."""
        train = self._train
        table = encode_columns(other_features)
        table = np.column_stack([np.ones(len(table)), table])
        coefficients = np.linalg.lstsq(table[train], targets[train])[0]
        return _are_rounding_errors((targets - table @ coefficients)[~train], targets)

    def _check_residuals(
        self, other_features: Rows, target: Residuals | None, feature: Residuals | None
    ) -> dict[str, Any]:
        """Fields `scores` and `dependence` of a `Finding`, from both residuals."""
        scores, dependence = [], []
        for residuals in (target, feature):
            if residuals is None:
                scores.append(np.nan)
                dependence.append(_NOT_CHECKED)
                continue
            scores.append(residuals.score)
            dependence.append(
                residual_dependence(
                    residuals.values,
                    other_features,
                    self.nuisance,
                    self.weights,
                    self.half_folds,
                    self.index,
                )
            )
        return {"scores": tuple(scores), "dependence": tuple(dependence)}

    def prepare(self, test: str) -> None:
        """Compute what a test needs for all features, before features go to workers."""
        shared = {
            "pcm": "_trained_halves",
            "hrt": "_half_model",
            "loco": "_full_losses",
        }
        if test in shared:
            getattr(self, shared[test])

    @cached_property
    def _half_model(self) -> Any:
        """The model of the target, fitted to the training half of the rows."""
        return self.learner.fit_rows(self.rows, np.flatnonzero(self._train))

    @cached_property
    def _trained_halves(self) -> list[_TrainedHalf]:
        """The model of the target of each half of each split, and its moments."""
        return [
            self._train_half(half) for train in self.splits for half in (train, ~train)
        ]

    def _train_half(self, is_trained: NDArray[np.bool_]) -> _TrainedHalf:
        train = np.flatnonzero(is_trained)
        model = self.learner.fit_rows(self.rows, train)
        predicted = self.learner.predict_numbers(model, self.rows)
        squares = (self.outcomes - predicted) ** 2
        learner = self.nuisance(squares)
        variances = _bound_variances(
            learner.predict_numbers(learner.fit_rows(self.rows, train), self.rows),
            squares[train],
            self.weights[train],
        )
        variances[:, ~variances.any(axis=0)] = 1.0  # directions are divided by them
        return _TrainedHalf(is_trained, model, predicted, variances)

    def _null_variances(
        self, target: Residuals, other_features: Rows
    ) -> NDArray[np.float64]:
        """Variances (n, q) of the target's residuals given the other features.

        Squares of residuals themselves would not show the variance of a rare class
        where a rare flag is set, if no row has both.
        """
        squares = target.held_out**2
        learner = self.nuisance(squares)
        if self.nuisance.model is None:
            variances, _ = learner.predict_in_sample(other_features)
        else:
            variances = learner.predict_held_out(other_features, self.folds)
        return _bound_variances(variances, squares, self.weights)

    def _predict_with_donor(
        self, model: Any, donor: int, columns: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Predictions (n, q) of the target with the donor row's values of columns."""
        index = np.arange(self.rows.n_rows)
        donors = dict.fromkeys(columns, np.full(len(index), donor))
        rows = type(self.rows)(self.rows.mix(index, donors))
        return self.learner.predict_numbers(model, rows)

    @cached_property
    def _full_losses(self) -> NDArray[np.float64]:
        """Losses of the model with all features."""
        return self._losses(self.rows)

    def _losses(self, rows: Rows) -> NDArray[np.float64]:
        """Held-out squared errors, summed over outputs: (n_rows,)."""
        predictions = self.learner.predict_held_out(rows, self.folds)
        return ((self.outcomes - predictions) ** 2).sum(axis=1)


def _bound_variances(
    variances: NDArray[np.float64],
    squares: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Estimated variances (n, q), not far below the mean of some squares."""
    mean = np.average(squares, axis=0, weights=weights)
    return np.maximum(variances, _LEAST_VARIANCE * mean)


def _are_rounding_errors(
    differences: NDArray[np.float64], terms: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Flags (q,) of columns of differences that are rounding errors of their terms."""
    size = terms.std(axis=0) + _ROUNDING * np.abs(terms).max(axis=0)
    return np.sqrt(np.mean(differences**2, axis=0)) <= _ROUNDING * size


def _column_products(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Products of all pairs of columns: (n_rows, q_left * q_right)."""
    return (left[:, :, None] * right[:, None]).reshape(len(left), -1)


class _Mean(NamedTuple):
    """A weighted mean, the variance of its error, and its degrees of freedom."""

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
