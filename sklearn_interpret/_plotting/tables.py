"""Tables of the numbers that a display draws; pandas is imported late."""

from importlib import import_module


def import_pandas(caller):
    """Import pandas when `caller` makes a table, and not before."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"{caller} needs pandas; install it with `pip install pandas`."
        ) from error
