"""What displays are given: keyword arguments for several takers, and folds."""

import inspect
from collections.abc import Mapping
from difflib import get_close_matches


def keyword_names(function, *, without=("self", "ax")):
    """Names of a function's parameters."""
    return set(inspect.signature(function).parameters) - set(without)


def divided(given, takers, display):
    """Divide keyword arguments among those who know them.

    Parameters
    ----------
    given : dict
        What the user passed.
    takers : sequence of sets of str
        The names that each taker knows.
    display : str
        Name of the display, for the error.

    Returns
    -------
    list of dict
        One for each taker; a name that several know goes to all of these.

    Raises
    ------
    TypeError
        A name that none knows; near ones are listed.
    """
    known = sorted(set().union(*takers))
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else ", ".join(known)
            raise TypeError(f"{display} has no parameter {name!r}; {hint}")
    return [
        {name: value for name, value in given.items() if name in names}
        for names in takers
    ]


def fold_estimators(cv_results):
    """The models in the results of `cross_validate`.

    Raises
    ------
    ValueError
        There are none.
    """
    if not isinstance(cv_results, Mapping) or "estimator" not in cv_results:
        raise ValueError(
            'cv_results has no key "estimator": pass return_estimator=True to '
            "cross_validate."
        )
    return list(cv_results["estimator"])
