"""Errors that have to come, and to say the right thing."""

from contextlib import contextmanager


@contextmanager
def expect_error(kinds, *words, doing):
    """Demand an error of these kinds whose message has all the words.

    Parameters
    ----------
    kinds : exception class or tuple of those
        What may be raised.
    *words : str
        What the message has to contain.
    doing : str
        What is tried, for the report.
    """
    try:
        yield
    except kinds as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(
                f"{doing}: the message does not say {missing}: {error}"
            ) from error
        return
    except Exception as error:
        raise AssertionError(
            f"{doing}: {type(error).__name__} was raised, expected {kinds}: {error}"
        ) from error
    raise AssertionError(f"{doing}: nothing was raised, expected {kinds}")
