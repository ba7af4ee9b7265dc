"""Checks that a result depends on its inputs alone, and looking changes nothing."""

import io
import pickle
import warnings

import joblib
import numpy as np
from sklearn import config_context
from sklearn.base import clone

from sklearn_interpret.estimator_checks._results import (
    assert_same,
    everything,
)
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    NAMES,
    named_table,
    numeric_table,
    prepared,
    target_for,
)
from sklearn_interpret.exceptions import LowFidelityWarning


def check_rows_are_independent(inspector):
    """`transform` gives a row alone, or in another order, what it gives it among all.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted = _fitted(inspector)
    if not hasattr(fitted, "transform"):
        return
    X = numeric_table()
    together = fitted.transform(X)
    alone = np.vstack([fitted.transform(X[[i]]) for i in range(N_ROWS)])
    assert_same(alone, together, "one row at a time")
    order = np.random.default_rng(5).permutation(N_ROWS)
    assert_same(fitted.transform(X[order]), together[order], "another order")


def check_jobs_are_independent(inspector):
    """Two workers find what one finds.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X = numeric_table()
    one = everything(_fitted(inspector, n_jobs=1), X)
    assert_same(everything(_fitted(inspector, n_jobs=2), X), one)


def check_batches_are_independent(inspector):
    """Little working memory, hence many small batches, changes no result.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X = numeric_table()
    in_one_go = everything(_fitted(inspector), X)
    with config_context(working_memory=0.002):
        in_batches = everything(_fitted(inspector), X)
    assert_same(in_batches, in_one_go)


def check_global_random_state_untouched(inspector):
    """With a seed of its own, an inspector draws nothing from numpy's global state.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    before = joblib.hash(np.random.get_state())  # noqa: NPY002
    everything(_fitted(inspector), numeric_table())
    assert joblib.hash(np.random.get_state()) == before  # noqa: NPY002


def check_same_seed_same_result(inspector):
    """The same seed gives the same result, to the last bit.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X = numeric_table()
    once, again = (everything(_fitted(inspector), X) for _ in range(2))
    assert_same(once, again, rtol=0, atol=0)


def check_looking_changes_nothing(inspector):
    """Asking a fitted inspector leaves its state as it is.

    The state is what copies take over; what is only kept at hand to answer sooner is no
    part of it.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted = _fitted(inspector)
    before = joblib.hash(fitted)
    everything(fitted, numeric_table())
    for name in ("classes_", "feature_importances_"):
        getattr(fitted, name, None)
    if hasattr(fitted, "transform"):
        fitted.get_feature_names_out()
    repr(fitted)
    assert joblib.hash(fitted) == before


def check_copies(inspector):
    """Clones, pickles and joblib's dumps find, and answer, the same.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, fitted = numeric_table(), _fitted(inspector)
    expected = everything(fitted, X)
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    copies = {
        "clone": clone(fitted).fit(X, target_for(inspector)),
        "pickle": pickle.loads(pickle.dumps(fitted)),
        "joblib": joblib.load(file),
    }
    for how, copy in copies.items():
        assert_same(everything(copy, X), expected, how, rtol=0, atol=0)


def check_refit_forgets(inspector):
    """A second `fit` gives what a new inspector gives, and keeps nothing of the first.

    Before it, the inspector is fitted on a table with names and one more column, with
    its own parameters and with the defaults.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    wider = named_table()
    wider["more"] = np.arange(N_ROWS) % 7
    defaults = prepared(type(inspector)(inspector.estimator)).get_params(deep=False)
    own = prepared(inspector).get_params(deep=False)
    del defaults["estimator"]
    for first, second in ((own, own), (defaults, own), (own, defaults)):
        again = prepared(inspector).set_params(**first).fit(wider, y)
        again.set_params(**second).fit(X, y)
        fresh = prepared(inspector).set_params(**second).fit(X, y)
        assert set(vars(again)) == set(vars(fresh)), (
            "left over or missing after a second fit: "
            f"{sorted(set(vars(again)) ^ set(vars(fresh)))}"
        )
        assert again.n_features_in_ == len(NAMES)
        with warnings.catch_warnings():
            # The table is noise, and a small model may well say little of it.
            warnings.simplefilter("ignore", LowFidelityWarning)
            assert_same(everything(again, X), everything(fresh, X))


def _fitted(inspector, **params):
    """A clone of the inspector, fitted on the numeric table."""
    return prepared(inspector, **params).fit(numeric_table(), target_for(inspector))
