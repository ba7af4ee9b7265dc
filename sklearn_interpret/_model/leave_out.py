"""Models without some of their training rows: by refits, or by exact formulas."""

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures
from sklearn.svm import LinearSVC

from sklearn_interpret._model._sklearn_compat import parameters_of_rows, safe_indexing
from sklearn_interpret._model.formulas.column_lineage import fitted_transformers
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.linear import coefficient_table, has_log_link
from sklearn_interpret._model.formulas.neighbors import vote_weights
from sklearn_interpret._model.gradients.functions import numbers_of
from sklearn_interpret._model.gradients.objectives import (
    has_balanced_classes,
    read_objective,
    score_model,
)
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.responses.predictors import is_classifier, tags_of
from sklearn_interpret._model.responses.response import check_finite
from sklearn_interpret._model.rows.base import Rows, copy_of
from sklearn_interpret.exceptions import UnreadableModelError

# These classes, without subclasses, which may fit in another way.
_OF_SCORES = (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    LogisticRegression,
    LinearSVC,
    PoissonRegressor,
    GammaRegressor,
    TweedieRegressor,
)
_OF_NEIGHBORS = (KNeighborsClassifier, KNeighborsRegressor)
_OF_COUNTS = (GaussianNB, MultinomialNB, BernoulliNB, ComplementNB)
# Parts of a column below this are rounding.
_ALONE = 1e-9
# Variances that fall below this part are not found by subtraction: a refit is.
_LEFT = 1e-8


@dataclass(frozen=True, eq=False)
class Training:
    """A fitted model and its training data.

    Parameters
    ----------
    fitted : fitted predictor
        The model.
    unfitted : predictor
        An unfitted clone.
    rows : Rows
        All rows.
    y : ndarray
        Their targets.
    params : dict
        Further parameters of `fit`.
    weights : ndarray of shape (n_rows,) or None
        Weights among the parameters; None where there are other parameters.
    """

    fitted: object
    unfitted: object
    rows: Rows
    y: np.ndarray
    params: dict
    weights: np.ndarray | None

    def keeps_classes(self, deleted):
        """Whether rows of each class are left without each of some lists of rows."""
        labels = np.zeros(len(self.y), dtype=np.intp)
        if is_classifier(self.fitted):
            _, labels = np.unique(self.y, return_inverse=True)
        return _leave_some(labels, self.weights > 0, deleted)


def _leave_some(labels, counted, deleted):
    """Whether rows of each label are left without each of some lists of rows."""
    n_labels = labels.max() + 1
    counts = np.bincount(labels[counted], minlength=n_labels)
    taken = [labels[rows[counted[rows]]] for rows in deleted]
    return all((counts > np.bincount(t, minlength=n_labels)).all() for t in taken)


def make_deletions(training, response, deleted, *, n_jobs=None):
    """The model without each of some lists of rows, the fastest exact way.

    Parameters
    ----------
    training : Training
        The model and its rows.
    response : Response
        Its response.
    deleted : list of ndarray of int
        Positions of the rows that are left out together.
    n_jobs : int or None, default=None
        Workers.

    Returns
    -------
    ScoresWithout, NeighborsWithout or ModelsWithout
    """
    steps, model = steps_and_model(training.fitted)
    plain = training.y.ndim == 1 or not is_classifier(model)
    if (
        plain
        and training.weights is not None
        and _are_row_wise(steps, training.rows, deleted)
        and isinstance(response.method, str)
        and training.keeps_classes(deleted)
    ):
        for read in (_scores_without, _neighbors_without, _counts_without):
            found = read(training, steps, model, response, deleted)
            if found is not None:
                return found
    tasks = [(training, rows) for rows in deleted]
    models = list(run(_refitted, tasks, n_jobs=n_jobs))
    return ModelsWithout(training.fitted, models, n_jobs=n_jobs)


def _are_row_wise(steps, rows, deleted):
    """Whether steps transform each row on its own, and the same in any fit."""
    if steps is None:
        return True
    X = copy_of(rows.native)
    for step in steps:
        if not _stays(step, X, deleted):
            return False
        X = X if isinstance(step, str) else step.transform(X)
    # A function may see all rows: half of them are then transformed in another way.
    half = rows.part(slice((rows.n_rows + 1) // 2))
    whole, part = (numbers_of(_through(steps, one.native)) for one in (rows, half))
    return np.allclose(whole[: len(part)], part, rtol=_ALONE, equal_nan=True)


def _stays(step, X, deleted):
    """Whether a transformer is the same, fitted without each of some lists of rows."""
    if isinstance(step, FrozenEstimator | str) or type(step) is PolynomialFeatures:
        return True
    if type(step) is ColumnTransformer:
        parts = fitted_transformers(step)
        return all(
            _stays(part, safe_indexing(X, columns, axis=1), deleted)
            for _, part, columns in parts
        )
    if type(step) in (OneHotEncoder, OrdinalEncoder):
        return _keeps_levels(step, X, deleted)
    return not tags_of(step).requires_fit


def _keeps_levels(encoder, X, deleted):
    """Whether all levels that an encoder has found are found without some rows."""
    if encoder.max_categories is not None or encoder.min_frequency is not None:
        return False
    codes = OrdinalEncoder(encoded_missing_value=-1).fit_transform(X).T
    labels = [np.unique(column, return_inverse=True)[1] for column in codes]
    counted = np.ones(codes.shape[1], dtype=bool)
    return all(_leave_some(column, counted, deleted) for column in labels)


def _through(steps, X):
    """The columns that the last step of a pipeline gets."""
    return X if steps is None else steps.transform(copy_of(X))


def _refitted(training, rows):
    """A clone fitted without some rows."""
    kept = np.delete(np.arange(training.rows.n_rows), rows)
    X = training.rows.native
    params = parameters_of_rows(X, training.params, kept)
    try:
        if not len(kept):
            raise ValueError("no row is left.")
        part = training.rows.take(kept).native
        return clone(training.unfitted).fit(part, training.y[kept], **params)
    except ValueError as error:
        few = ", ".join(map(str, rows[:5])) + ", ..." * (len(rows) > 5)
        raise ValueError(
            f"The estimator can't be fitted without row {few} of the "
            f"n_samples={training.rows.n_rows} rows: {error}"
        ) from error


def scores_without(training, removed, metric, test, *, n_jobs=None):
    """Scores on rows of test (X, y) of clones fitted without each list of rows."""
    tasks = [(training, rows, metric, test) for rows in removed]
    return np.array(list(run(_score_without, tasks, n_jobs=n_jobs)))


def _score_without(training, rows, metric, test):
    return metric(_refitted(training, rows), *test, None)


@dataclass(frozen=True, eq=False)
class ModelsWithout:
    """Fitted models, each without some rows.

    Parameters
    ----------
    fitted : fitted predictor
        The model of all rows.
    models : list of fitted predictors
        Those without.
    steps : Pipeline, default=None
        The steps before all of them.
    method : str, default="refit"
        How the models were found.
    n_jobs : int or None, default=None
        Workers.
    """

    fitted: object
    models: list
    steps: object = None
    method: str = "refit"
    n_jobs: int | None = None

    def baseline(self, response, X):
        """Responses (m, k) of the model of all rows."""
        return response(X)

    def responses(self, response, X):
        """Responses (m, k) without each of the lists of rows, one after the other."""
        made = _through(self.steps, X)
        tasks = [(response, model, made) for model in self.models]
        yield from run(_responses_of, tasks, n_jobs=self.n_jobs)

    def parameters(self):
        """Coefficients and intercepts of the model (p,) and without rows (n, p)."""
        own = _parameters_of(self.fitted)
        others = list(map(_parameters_of, self.models))
        if own is None or any(np.shape(one) != own.shape for one in others):
            return None
        return own, np.stack(others)


def _parameters_of(fitted):
    """Weights, inputs by outputs, and intercepts of a linear model; or None."""
    _, model = steps_and_model(fitted)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return None
    weights = coefficient_table(model).T
    if not getattr(model, "fit_intercept", True):
        return weights.ravel()
    intercepts = np.broadcast_to(np.ravel(model.intercept_), weights.shape[1])
    return np.concatenate([weights.ravel(), intercepts])


def _responses_of(response, model, X):
    """Responses of another model; those of classes that it lacks are zero."""
    own = replace(response, estimator=model)
    gone = _classes_gone(response, model)
    if not len(gone):
        return own(X)
    if response.method not in ("predict_proba", "centered_log_proba"):
        raise ValueError(
            f"response_method={response.method!r} has no column for the class "
            f"{gone[0]!r}, of which no row is left without some row: "
            "'predict_proba' and 'predict' take it for a class that is never found."
        )
    raw = np.asarray(own.raw(X))
    aligned = np.zeros((len(raw), len(response.classes)))
    aligned[:, np.isin(response.classes, model.classes_)] = raw
    values = response.read(aligned)
    check_finite(values)
    return values


def _classes_gone(response, model):
    """Classes that a refitted model lacks, where that changes its columns."""
    one_each = isinstance(response.classes, np.ndarray)
    if not one_each or callable(response.method) or response.method == "predict":
        return []
    return np.setdiff1d(response.classes, model.classes_).tolist()


@dataclass(frozen=True, eq=False)
class ScoresWithout:
    """A model of linear scores, by its parameters without some rows.

    Parameters
    ----------
    fitted : fitted predictor
        The model.
    own : ndarray of shape (d, k)
        Its parameters at the optimum: weights of the columns, then intercepts.
    without : ndarray of shape (n, d, k)
        Those without rows.
    """

    fitted: object
    own: np.ndarray
    without: np.ndarray
    method = "newton"

    def baseline(self, response, X):
        """Responses (m, k) of the model of all rows."""
        return next(self._responses(response, X, self.own[None]))

    def responses(self, response, X):
        """Responses (m, k) without each of the lists of rows, one after the other."""
        return self._responses(response, X, self.without)

    def _responses(self, response, X, parameters):
        _, model = steps_and_model(self.fitted)
        design = _design(read_objective(self.fitted), X, self.own.shape[0])
        (m, _), (n, d, k) = design.shape, parameters.shape
        for part in slices(n, batch_rows(8 * m * (k + 1))):
            some = parameters[part]
            side_by_side = some.transpose(1, 0, 2).reshape(d, -1)
            scores = (design @ side_by_side).reshape(m, len(some), k)
            scores = scores.transpose(1, 0, 2).reshape(-1, k)
            values = response.read(_of_scores(model, response.method, scores))
            check_finite(values)
            yield from values.reshape(len(some), m, -1)

    def parameters(self):
        """Coefficients and intercepts of the model (p,) and without rows (n, p)."""
        return self.own.ravel(), self.without.reshape(len(self.without), -1)


def _design(objective, X, d):
    """Columns that the parameters belong to: (m, d)."""
    inputs, _ = objective.layers(copy_of(X))
    if inputs.shape[1] == d:
        return inputs
    return np.hstack([inputs, np.ones((len(inputs), 1))])


def _of_scores(model, method, scores):
    """Result of a method of a model, from scores (m, k)."""
    if not is_classifier(model):
        return np.exp(scores) if has_log_link(model) else scores
    binary = scores.shape[1] == 1
    if method == "decision_function":
        return scores[:, 0] if binary else scores
    if method == "predict":
        places = scores[:, 0] > 0 if binary else scores.argmax(axis=1)
        return model.classes_[places.astype(np.intp)]
    logs = log_expit(scores * [-1, 1]) if binary else log_softmax(scores, axis=1)
    return logs if method == "predict_log_proba" else np.exp(logs)


def _scores_without(training, steps, model, response, deleted):
    """`ScoresWithout`, where the model is one of them; else None."""
    if type(model) not in _OF_SCORES or not _is_smooth(model):
        return None
    try:
        optimum = score_model(
            training.fitted, training.rows.native, training.y, training.weights
        )
    except UnreadableModelError:
        return None
    n_inputs = coefficient_table(model).shape[1]
    penalised = (optimum.penalty + optimum.row_penalty > 0)[:n_inputs].all()
    if not penalised and not _stay_determined(optimum, deleted):
        return None
    without, converged = optimum.without(deleted)
    if not converged.all():
        return None
    return ScoresWithout(training.fitted, optimum.parameters, without)


def _is_smooth(model):
    """Whether a model minimises a smooth sum over rows, without bounds."""
    balanced = has_balanced_classes(model)
    several = isinstance(model, LogisticRegression) and len(model.classes_) > 2
    one_each = several and model.solver == "liblinear"
    other = getattr(model, "multi_class", "auto") in ("ovr", "multinomial")
    other = other and not isinstance(model, LinearSVC)
    return not (balanced or getattr(model, "positive", False) or one_each or other)


def _stay_determined(optimum, deleted):
    """Whether the rows left determine all parameters, without each list of rows."""
    q, r = np.linalg.qr(np.sqrt(optimum.weights)[:, None] * optimum.design)
    if np.linalg.matrix_rank(r) < optimum.design.shape[1]:
        return False
    sizes = np.array([np.square(q[rows]).sum() for rows in deleted])
    doubtful = np.flatnonzero(sizes >= 1 - _ALONE)
    sizes[doubtful] = [np.linalg.norm(q[deleted[i]], 2) ** 2 for i in doubtful]
    return bool((sizes < 1 - _ALONE).all())


@dataclass(frozen=True, eq=False)
class NeighborsWithout:
    """A model of nearest neighbours without rows: the next neighbours replace them.

    Parameters
    ----------
    model : fitted KNeighborsClassifier or KNeighborsRegressor
        The model.
    steps : Pipeline or None
        The steps before the model.
    targets : ndarray of shape (n_rows, q)
        Targets, or indicators of classes, of the training rows.
    deleted : list of ndarray of int
        Positions of the rows that are left out together.
    """

    model: object
    steps: object
    targets: np.ndarray
    deleted: list
    method = "neighbors"

    def baseline(self, response, X):
        """Responses (m, k) of the model of all rows."""
        return self._read(response, *self._found(X))

    def responses(self, response, X):
        """Responses (m, k) without each of the lists of rows, one after the other."""
        distances, places = self._found(X)
        base = self._read(response, distances, places)
        for rows in self.deleted:
            gone = np.isin(places, rows)
            rest = np.flatnonzero(gone[:, : self.model.n_neighbors].any(axis=1))
            # Stable sort: the remaining neighbours stay in order of distance.
            order = np.argsort(gone[rest], axis=1, kind="stable")
            near = [
                np.take_along_axis(of[rest], order, axis=1)
                for of in (distances, places)
            ]
            values = base.copy()
            if len(rest):
                values[rest] = self._read(response, *near)
            yield values

    def parameters(self):
        """None: the model has no parameters."""

    def _found(self, X):
        """Distances and positions of the model's neighbours and of further ones."""
        more = max(map(len, self.deleted))
        inputs = _through(self.steps, X)
        return self.model.kneighbors(inputs, self.model.n_neighbors + more)

    def _read(self, response, distances, places):
        """Responses from the first of the neighbours."""
        model, first = self.model, slice(self.model.n_neighbors)
        weights = vote_weights(model, distances[:, first])[:, :, None]
        totals = weights.sum(axis=1)
        means = (weights * self.targets[places[:, first]]).sum(axis=1) / totals
        if response.method == "predict" and is_classifier(model):
            return response.read(model.classes_[means.argmax(axis=1)])
        return response.read(means)


def _neighbors_without(training, steps, model, response, deleted):
    """`NeighborsWithout`, where the model is one of them; else None."""
    if type(model) not in _OF_NEIGHBORS or model.metric == "precomputed":
        return None
    most, n_rows = max(map(len, deleted)), training.rows.n_rows
    known = response.method in ("predict", "predict_proba", "centered_log_proba")
    # A frozen model may have seen other rows.
    whole = model.n_samples_fit_ == n_rows
    if not (known and whole and model.n_neighbors + most <= n_rows):
        return None
    targets = training.y.reshape(n_rows, -1)
    if is_classifier(model):
        targets = targets == model.classes_
    return NeighborsWithout(model, steps, targets.astype(np.float64), deleted)


def _counts_without(training, steps, model, response, deleted):
    """Naive Bayes models whose counts lack some rows; else None."""
    if type(model) not in _OF_COUNTS:
        return None
    total = training.weights.sum()
    if not np.isclose(model.class_count_.sum(), total):
        return None  # a frozen model that has seen other rows
    inputs = _through(steps, training.rows.native)
    models = []
    for rows in deleted:
        other = deepcopy(model)
        if isinstance(model, GaussianNB):
            other.var_ -= model.epsilon_
        # Rows of negative weight are subtracted.
        part = safe_indexing(inputs, rows), training.y[rows]
        models.append(other.partial_fit(*part, sample_weight=-training.weights[rows]))
    if isinstance(model, GaussianNB):
        added = model.var_smoothing * _largest_variances(inputs, deleted)
        least = _LEFT * (model.var_ - model.epsilon_)
        for place, other in enumerate(models):
            if (other.var_ < least).any():
                fitted = _refitted(training, deleted[place])
                models[place] = steps_and_model(fitted)[1]
            else:
                other.epsilon_ = added[place]
                other.var_ += added[place]
    return ModelsWithout(training.fitted, models, steps, "sufficient_statistics")


def _largest_variances(inputs, deleted):
    """Largest variance of a column without each of some lists of rows, (n,)."""
    values = np.asarray(inputs, dtype=np.float64)
    values = values - values.mean(axis=0)
    squares, n_rows = np.square(values), len(values)
    sums = np.array([values[rows].sum(axis=0) for rows in deleted])
    of_squares = squares.sum(axis=0) - [squares[rows].sum(axis=0) for rows in deleted]
    left = n_rows - np.array(list(map(len, deleted)))[:, None]
    return (of_squares / left - (sums / left) ** 2).max(axis=1)
