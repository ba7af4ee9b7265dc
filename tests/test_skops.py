"""Files of skops hold every estimator, fitted on frames as on arrays."""

from functools import partial

import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.estimator_checks._recorders import recorder_for
from sklearn_interpret.estimator_checks._results import all_results, assert_same
from sklearn_interpret.estimator_checks._tables import (
    mixed_frame,
    named_table,
    prepared,
    target_for,
)
from sklearn_interpret.surrogates import LimeImage
from tests.instances import ARGUMENTS, OF_TEXTS, instances, wraps_a_model

skops = pytest.importorskip("skops.io")

# They take numbers alone.
OF_NUMBERS = ("SparseLinear", "KMedoids", "NearestPrototype", "MMDCritic")
TABLES = {
    "pandas": partial(mixed_frame, "pandas"),
    "polars": partial(mixed_frame, "polars"),
    "numbers": lambda estimator: named_table(),
}


# The tables are small, and partly noise.
@pytest.mark.thorough(after=4)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.InspectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.parametrize(
    "kind",
    [kind for kind in ARGUMENTS if kind not in {*OF_TEXTS, LimeImage}],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.parametrize(
    ("table", "place"), [("pandas", 0), ("polars", 0), ("numbers", 0), ("numbers", -1)]
)
def test_frames(kind, table, place):
    if kind.__name__.startswith(OF_NUMBERS):
        table = "numbers"
    estimator = instances(kind)[place]
    X, y, params = TABLES[table](estimator), target_for(estimator), {}
    if wraps_a_model(kind):
        model = clone(recorder_for(estimator)).fit(X, y)
        params["estimator"] = FrozenEstimator(model)
    fitted = prepared(estimator, **params).fit(X, y)
    # Importances are computed on first access, before they are saved.
    expected = all_results(fitted, X[:2])
    file = skops.dumps(fitted)
    found = skops.loads(file, trusted=skops.get_untrusted_types(data=file))
    assert_same(all_results(found, X[:2]), expected)
    assert_same(found.feature_names_in_, fitted.feature_names_in_)
