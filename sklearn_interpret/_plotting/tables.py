"""Tables of the numbers that a display draws; pandas is imported late."""

from importlib import import_module


def import_pandas(caller):
    """Import pandas when a table is asked for, and not before.

    Parameters
    ----------
    caller : str
        Who makes the table, for the error.

    Raises
    ------
    ImportError
        Saying who needs pandas and how it is installed.
    """
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"{caller} needs pandas; install it with `pip install pandas`."
        ) from error
