"""Weights of classes, and classes that are never predicted."""

from numbers import Real

import numpy as np

from sklearn_interpret._model._sklearn_compat import (
    StrOptions,
    compute_class_weight,
    warn,
)
from sklearn_interpret.exceptions import NoRuleWarning

CLASS_WEIGHT = [StrOptions({"balanced"}), dict, None]
# Beyond these, products with weights of rows leave the range of numbers.
_SMALLEST, _LARGEST = 1e-9, 1e9


def class_weights_of(model, sample):
    """What a model's `class_weight` multiplies the weights of rows by: (n_classes,)."""
    given, classes = model.class_weight, model.classes_
    if isinstance(given, str):
        # As scikit-learn has it, but a row of weight two counts as two rows.
        sums = np.bincount(sample.y, sample.weights, minlength=len(classes))
        balanced = np.ones(len(classes))
        mean = sums.sum() / np.count_nonzero(sums)
        return np.divide(mean, sums, out=balanced, where=sums > 0)
    for label, weight in (given or {}).items():
        if not (isinstance(weight, Real) and _SMALLEST <= weight <= _LARGEST):
            raise ValueError(
                f"class_weight={{{label!r}: {weight!r}}} is not accepted: weights of "
                f"classes are numbers from {_SMALLEST:g} to {_LARGEST:g}."
            )
    return compute_class_weight(given, classes=classes, y=classes)


def warn_of_unpredicted_classes(model, sample):
    """Name the classes of rows of `fit` that are predicted for none of these rows."""
    predicted = set(model.predict(sample.rows.native).tolist())
    sums = np.bincount(sample.y, sample.weights, minlength=len(model.classes_))
    left = [
        f"{label!r} ({n:g} of {sums.sum():g} rows)"
        for label, n in zip(model.classes_.tolist(), sums.tolist(), strict=True)
        if n and label not in predicted
    ]
    if left:
        shown = ", ".join(left[:5]) + f" and {len(left) - 5} others" * (len(left) > 5)
        warn(
            f"{type(model).__name__} predicts the class {shown} for no row of `fit`. "
            "Rare classes get more weight by class_weight, which is "
            f"{model.class_weight!r}.",
            NoRuleWarning,
        )
