"""How the examples of the gallery are run."""

import warnings


def strict(gallery_conf, script):
    """Before each: a warning is an error, as it is in the tests."""
    warnings.resetwarnings()
    warnings.simplefilter("error")
