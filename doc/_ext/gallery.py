"""How the examples of the gallery are run."""

import warnings

from joblib.externals.loky import get_reusable_executor


def strict(gallery_conf, script):
    """Before each: a warning is an error, as it is in the tests."""
    warnings.resetwarnings()
    warnings.simplefilter("error")


def dismiss_workers(app):
    """After all: processes that read pages must not wait for workers of this one."""
    get_reusable_executor().shutdown(wait=True)
