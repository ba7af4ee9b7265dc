"""Simple models that are taught the answers of another, and answer in its terms."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.response import Response
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.tags import (
    is_classifier,
    tags_of,
    unfrozen,
    weight_parameter,
)

MAX_LEVELS = 20

# Responses above which a label is the likelier one.
_THRESHOLDS = {
    "predict_proba": 0.5,
    "predict": 0.5,
    "predict_log_proba": np.log(0.5),
    "decision_function": 0.0,
    "centered_log_proba": 0.0,
}


def default_surrogate(rows, random_state):
    """An unfitted tree of depth three, behind encoders where there are categories.

    Parameters
    ----------
    rows : Rows
        What it will be fitted on. Categories with an order become their positions,
        others a column each.
    random_state : int, RandomState or None
        Of the tree.

    Returns
    -------
    estimator
    """
    tree = DecisionTreeRegressor(max_depth=3, random_state=random_state)
    categorical = np.flatnonzero(rows.detected_categorical).tolist()
    if not categorical or sparse.issparse(rows.native):
        return tree
    orders = {j: _order(rows, j) for j in categorical}
    ordered = [j for j in categorical if orders[j] is not None]
    positions = OrdinalEncoder(
        categories=[orders[j] for j in ordered],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
    )
    columns = OneHotEncoder(
        max_categories=MAX_LEVELS,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    parts = [
        (positions, ordered),
        (columns, [j for j in categorical if orders[j] is None]),
    ]
    # Hands numbers on as they are, of any data frame and in any version.
    numbers = StandardScaler(with_mean=False, with_std=False)
    encoders = make_column_transformer(
        *[part for part in parts if part[1]], remainder=numbers
    )
    return make_pipeline(encoders, tree)


def without_chance(answers, weights):
    """Answers and weights whose sums do not depend on the order of adding.

    Among features that part the rows alike, a tree takes the one whose sums rounding
    makes largest. That would tell a row of weight two from the same row twice.

    Parameters
    ----------
    answers : ndarray of shape (n,) or (n, k)
        What a tree is to learn.
    weights : ndarray of shape (n,)
        Weights of the rows, positive.

    Returns
    -------
    answers : ndarray of shape (n,) or (n, k)
        Rounded so far that their sums are exact, where weights are whole numbers.
    weights : ndarray of shape (n,)
        Multiples of the smallest, where they are no whole numbers.
    """
    if (weights != np.round(weights)).any():
        weights = np.round(weights / weights.min(), 9)
    largest = np.abs(answers).max()
    constant = (answers == answers[:1]).all()
    _, exponent = np.frexp(largest * weights.sum())
    if constant or not 0 < largest < 1e200 or exponent < -900:
        return answers, weights
    step = np.ldexp(1.0, int(exponent) - 52)
    return np.round(answers / step) * step, weights


def _order(rows, j):
    """Categories of an ordered column, or None where they have no order to keep."""
    if not rows.is_ordered(j):
        return None
    order = rows.categories(j)
    if order is None:
        order = [label for label in rows.encode([j])[1] if not is_missing(label)]
    order = np.asarray(order)
    # The encoder takes numbers in their own order only.
    kept = order.dtype.kind in "OUS" or (order[1:] >= order[:-1]).all()
    return order.tolist() if kept and len(order) else None


def taught(surrogate, X, lesson, weights):
    """A clone of the surrogate, fitted to answers of a model.

    Parameters
    ----------
    surrogate : estimator
        One that takes one output only is fitted once for each.
    X : container
        Rows.
    lesson : ndarray of shape (n,) or (n, k)
        Answers to them.
    weights : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    estimator
        Fitted.

    Raises
    ------
    ValueError
        Weights that the surrogate does not take, and that differ.
    """
    if not (hasattr(surrogate, "fit") and hasattr(surrogate, "predict")):
        raise TypeError(
            "surrogate must be an estimator with fit and predict; got "
            f"{type(surrogate).__name__}."
        )
    name = weight_parameter(surrogate)
    if name is None and (weights != weights[0]).any():
        raise ValueError(
            f"surrogate: the fit of {type(unfrozen(surrogate)).__name__} takes no "
            "sample_weight, and rows have different weights."
        )
    learner = clone(surrogate)
    if lesson.ndim == 2 and not tags_of(surrogate).target_tags.multi_output:
        learner = MultiOutputRegressor(learner)
    weighted = name is not None and (weights != 1).any()
    # The weights go to the surrogate whatever it may have requested of a user's.
    with config_context(enable_metadata_routing=False):
        return learner.fit(X, lesson, **({name: weights} if weighted else {}))


def flat(values):
    """Answers without the axis of outputs where there is one alone."""
    return values[:, 0] if values.shape[1] == 1 else values


@dataclass(frozen=True)
class StandIn:
    """A fitted surrogate that answers in the terms of the model that taught it.

    Parameters
    ----------
    surrogate : fitted estimator
        A regressor that was taught the response, or a classifier that was taught the
        labels.
    response : Response
        How the model is asked.
    """

    surrogate: object
    response: Response

    @property
    def knows_labels(self):
        """Whether it was taught labels."""
        return is_classifier(self.surrogate)

    @property
    def gives_probabilities(self):
        """Whether it can give probabilities of the model's classes."""
        if self.knows_labels:
            return hasattr(self.surrogate, "predict_proba")
        taught_shares = self.response.method in ("predict_proba", "predict")
        return taught_shares and self.why_no_labels() is None

    @property
    def methods(self):
        """Names of the methods of a classifier that it can serve beside `predict`."""
        asked = self.response.method, self.response.target
        learnt = not self.knows_labels and self.why_no_labels() is None
        if learnt and asked == ("decision_function", None):
            return {"decision_function"}
        if self.gives_probabilities:
            return {"predict_proba", "predict_log_proba"}
        return set()

    def responses(self, X):
        """What the surrogate answers where the model's response is asked for.

        Returns
        -------
        ndarray of shape (n, k), or None
            None where a classifier's probabilities have no like in the response.
        """
        if not self.knows_labels:
            values = np.asarray(self.surrogate.predict(X), dtype=np.float64)
            return values.reshape(len(values), -1)
        shares = self.response.method in ("predict_proba", "predict")
        if not (shares and self.gives_probabilities):
            return None
        as_probabilities = replace(self.response, method="predict_proba")
        return as_probabilities.read(self.probabilities(X))

    def predictions(self, X):
        """What the model's `predict` would return: numbers, or labels of classes."""
        if self.knows_labels:
            return np.asarray(self.surrogate.predict(X))
        values = self.responses(X)
        if is_classifier(self.response.estimator):
            return self._labels(values)
        return flat(values)

    def probabilities(self, X):
        """Probabilities of the model's classes.

        Returns
        -------
        ndarray of shape (n, n_classes), or list of those
            A list for a model of several outputs.
        """
        if self.knows_labels:
            known = np.asarray(self.surrogate.predict_proba(X), dtype=np.float64)
            order = self.response.classes.tolist()
            shares = np.zeros((len(known), len(order)))
            # It may never have been shown some of the classes.
            shares[:, list(map(order.index, self.surrogate.classes_.tolist()))] = known
            return shares
        values, classes = self._signed(self.responses(X)), self.response.classes
        if classes is None:
            return np.clip(values, 0, 1)
        if isinstance(classes, list):
            parts = _split(values, classes)
            return [_shares(p, len(c)) for p, c in zip(parts, classes, strict=True)]
        return _shares(values, len(classes))

    def why_no_labels(self):
        """Why no labels follow from the surrogate's responses, or None if they do."""
        method, classes = self.response.method, self.response.classes
        if self.knows_labels:
            return None
        if callable(method):
            return "it was taught what a callable response_method returns"
        if self.response.target is not None and not _is_binary(classes):
            return f"it was taught one output, target={self._target_name()!r}"
        return None

    def _target_name(self):
        (name,) = self.response.output_names(1)
        return name.item() if isinstance(name, np.generic) else name

    def _labels(self, values):
        values, classes = self._signed(values), self.response.classes
        threshold = _THRESHOLDS[self.response.method]
        if classes is None:
            return (values > threshold).astype(np.intp)
        if isinstance(classes, list):
            parts = zip(_split(values, classes), classes, strict=True)
            return np.stack([_likeliest(p, c, threshold) for p, c in parts], axis=1)
        return _likeliest(values, classes, threshold)

    def _signed(self, values):
        """Responses of the positive class, where the target is the negative one."""
        if self.response.target != 0 or not _is_binary(self.response.classes):
            return values
        if self.response.method in ("predict_proba", "predict"):
            return 1 - values
        if self.response.method == "predict_log_proba":
            return np.log1p(-np.exp(np.minimum(values, -1e-12)))
        return -values


def _is_binary(classes):
    return classes is not None and not isinstance(classes, list) and len(classes) == 2


def _split(values, classes):
    """Columns of each output: one of two classes, else one each."""
    widths = [1 if len(labels) == 2 else len(labels) for labels in classes]
    return np.split(values, np.cumsum(widths)[:-1], axis=1)


def _likeliest(values, classes, threshold):
    """The label with the largest response."""
    if len(classes) == 2 and values.shape[1] == 1:
        return classes[(values[:, 0] > threshold).astype(np.intp)]
    if values.shape[1] != len(classes):
        raise ValueError(
            f"The surrogate was taught {values.shape[1]} responses, of which no label "
            f"of {len(classes)} classes follows: use another response_method."
        )
    return classes[values.argmax(axis=1)]


def _shares(values, n_classes):
    """Numbers made probabilities that keep their order."""
    if n_classes == 2 and values.shape[1] == 1:
        second = np.clip(values, 0, 1)
        return np.hstack([1 - second, second])
    values = np.maximum(values, 0) + (
        # Where none is positive, the largest has it all.
        (values == values.max(axis=1, keepdims=True)) & (values <= 0).all(1)[:, None]
    )
    return values / values.sum(axis=1, keepdims=True)
