"""Ceteris paribus profiles: the curves of one row as its features vary one by one."""

from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.rows.axes import values_along
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.explanations._selection import row_position


class _GridInspector(IndividualConditionalExpectation):
    """The grids of ICE without its curves, so that no row is predicted."""

    def _measure(self, sample, response):
        self._deviations = [0.0] * len(self.axes_)
        return 1


def inspect_row(inspector, X, row, entries):
    """Fitted ICE of one row of X, over the grids of entries of an ICE inspector.

    The row's own values are added to the grids; they are `row_values_`. Its response is
    `prediction_` (k,).
    """
    rows = inspector._check_rows(X, reset=False)
    one = rows.take([row_position(row, rows.n_rows)])
    grids, own = {}, []
    for entry in entries:
        axis, *others = inspector.axes_[entry]
        if others:
            raise ValueError(
                f"features has the pair {inspector.effect_names_[entry]!r}; ceteris "
                "paribus profiles vary one feature at a time."
            )
        (value,) = values_along(axis.columns, one, axis.categorical)
        feature = axis.name if len(axis.columns) > 1 else axis.columns[0]
        grids[feature] = list(axis.values)
        has_place = axis.categorical or not is_missing(value)
        if has_place and label_key(value) not in map(label_key, axis.values):
            grids[feature].append(value)
        own.append(value)
    names = "categorical_features", "feature_groups", "method", "response_method"
    settings = {name: getattr(inspector, name) for name in (*names, "target", "n_jobs")}
    # A feature that is always missing has no points.
    points = {feature: values for feature, values in grids.items() if values}
    settings |= {"features": list(grids), "custom_values": points}
    model = FrozenEstimator(inspector.estimator_)
    ice = IndividualConditionalExpectation(model, **settings).fit(one.native)
    (ice.prediction_,), ice.row_values_ = ice._make_response()(one.native), own
    return ice
