"""Predictions of forests and bagging for the rows that each member has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from sklearn_interpret._model.formulas.formula_class import computes_as
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.training import transform_by_steps
from sklearn_interpret._model.responses.predictors import is_classifier

_BAGGED = (
    *(RandomForestClassifier, RandomForestRegressor, BaggingClassifier),
    *(BaggingRegressor, ExtraTreesClassifier, ExtraTreesRegressor),
)


class Member(NamedTuple):
    """A member of a forest or of bagging."""

    model: Any
    columns: Any  # of the rows, which it gets
    out_of_bag: NDArray[np.bool_]  # (n_rows,)


def has_out_of_bag_rows(model: BaseEstimator) -> bool:
    """Whether each member of a model is fitted to a bootstrap sample of the rows."""
    bagged = any(computes_as(model, kind) for kind in _BAGGED)
    return bagged and bool(model.bootstrap)


def members_of(model: Any, n_rows: int) -> Iterator[Member]:
    """The members of a fitted model, and the training rows that they have not seen.

    Raises
    ------
    ValueError
        The model was fitted on more rows.
    """
    samples = model.estimators_samples_
    if max(sample.max(initial=0) for sample in samples) >= n_rows:
        raise ValueError("X must be the rows that the frozen model was fitted on.")
    every = [slice(None)] * len(samples)
    columns = getattr(model, "estimators_features_", every)
    for member, sample, of_member in zip(
        model.estimators_, samples, columns, strict=True
    ):
        out_of_bag = np.ones(n_rows, dtype=bool)
        out_of_bag[sample] = False
        yield Member(member, of_member, out_of_bag)


def as_array(rows: Any) -> Any:
    """Rows as members of a model get them: an array, or a sparse matrix."""
    if hasattr(rows, "to_numpy"):
        return rows.to_numpy()
    return rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)


@dataclass(eq=False)
class _OutOfBagModel(BaseEstimator):
    """A fitted model whose members predict the rows that they have not seen.

    Parameters
    ----------
    estimator : fitted pipeline or model
        The model.
    members : list of Member
        Its members, with some of the training rows, each unseen by one of them.
    """

    estimator: Any
    members: list[Member]

    def _means(self, X: Any) -> NDArray[np.float64]:
        """Means (m, k) of the members' predictions for rows that they have not seen.

        X are the members' rows, each repeated as often as the others.
        """
        steps, _ = steps_and_model(self.estimator)
        rows = as_array(transform_by_steps(steps, X))
        n_copies = rows.shape[0] // len(self.members[0].out_of_bag)
        totals: Any = 0.0
        counts = np.zeros((rows.shape[0], 1))
        for model, columns, out_of_bag in self.members:
            unseen = np.flatnonzero(np.repeat(out_of_bag, n_copies))
            if not len(unseen):
                continue
            predictions = self._predict_by(model, rows[unseen][:, columns])
            if np.ndim(totals) == 0:
                totals = np.zeros((rows.shape[0], predictions.shape[1]))
            totals[unseen] += predictions
            counts[unseen] += 1
        return totals / counts

    def _predict_by(self, member: Any, rows: Any) -> NDArray[np.float64]:
        """Predictions (m, k) of a member."""
        return np.asarray(member.predict(rows), np.float64).reshape(rows.shape[0], -1)


class OutOfBagRegressor(RegressorMixin, _OutOfBagModel):
    """A regressor whose members predict the rows that they have not seen."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Means of the members' predictions."""
        means = self._means(X)
        return means[:, 0] if means.shape[1] == 1 else means


class OutOfBagClassifier(ClassifierMixin, _OutOfBagModel):
    """A classifier whose members predict the rows that they have not seen."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        labels: NDArray[Any] = self.estimator.classes_
        return labels

    def _predict_by(self, member: Any, rows: Any) -> NDArray[np.float64]:
        # Members know classes by their positions, of which they may lack some.
        probabilities = np.zeros((rows.shape[0], len(self.classes_)))
        if hasattr(member, "predict_proba"):
            seen = np.asarray(member.classes_).astype(np.intp)
            probabilities[:, seen] = member.predict_proba(rows)
        else:
            votes = member.predict(rows).astype(np.intp)
            probabilities[np.arange(len(votes)), votes] = 1
        return probabilities

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Means of the members' probabilities, or shares of their votes."""
        return self._means(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable classes."""
        return self.classes_[self._means(X).argmax(axis=1)]


def out_of_bag_model(estimator: Any, n_rows: int, index: NDArray[np.intp]) -> Any:
    """A forest or bagging as a model of the training rows at an index, and the rows.

    Returns
    -------
    model : OutOfBagRegressor or OutOfBagClassifier
        Predicts these rows, in their order, by members that have not seen them.
    kept : ndarray of int
        Positions in the index of those that any member has not seen.
    """
    _, model = steps_and_model(estimator)
    if isinstance(getattr(model, "classes_", None), list):
        raise ValueError(
            "method='oob' takes classifiers of one target, and y has several columns."
        )
    members = list(members_of(model, n_rows))
    unseen = np.any([member.out_of_bag[index] for member in members], axis=0)
    kept = np.flatnonzero(unseen)
    members = [m._replace(out_of_bag=m.out_of_bag[index[kept]]) for m in members]
    kind = OutOfBagClassifier if is_classifier(model) else OutOfBagRegressor
    return kind(estimator, members), kept
