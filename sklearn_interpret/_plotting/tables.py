"""Tables of the numbers that a display draws; pandas is imported late."""

from importlib import import_module


def stacked(parts, *, caller, whole=None):
    """One table of several below each other.

    Parameters
    ----------
    parts : list of dict
        Columns of each, the first of which has them in their order.
    caller : str
        The method that makes the table, for the error.
    whole : str, optional
        Name of the last column, of whole numbers, missing where a part lacks it.
    """
    pandas = import_pandas(caller)
    table = pandas.concat(map(pandas.DataFrame, parts), ignore_index=True)
    if whole in table:
        table[whole] = table.pop(whole).astype("Int64")
    return table


def import_pandas(caller):
    """Import pandas when `caller` makes a table, and not before."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"{caller} needs pandas; install it with `pip install pandas`."
        ) from error
