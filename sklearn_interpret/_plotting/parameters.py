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


def parameter_names(kind):
    """Names of what may be told to an inspector beside its predictor."""
    return set(kind._get_param_names()) - {"estimator"}


def split_parameters(given, kinds, plot, display):
    """Divide keyword arguments into the inspectors' and the drawing's.

    Parameters
    ----------
    given : dict
        What the user passed.
    kinds : sequence of inspector classes
        Those whose parameters are taken.
    plot : callable
        The drawing method.
    display : str
        Name of the display, for the error.

    Returns
    -------
    parameters, looks : dict
        A name that both know goes to both.
    """
    parameters = set().union(*map(parameter_names, kinds))
    return divided(given, [parameters, keyword_names(plot)], display)


def refuse_settings(inspector, parameters, sample_weight=None, *, use="is shown"):
    """Refuse what a fitted inspector cannot be told any more.

    Parameters
    ----------
    inspector : BaseInspector
        It is fitted.
    parameters : iterable of str
        Names of its parameters that the user set.
    sample_weight : object, optional
        The user's weights.
    use : str, default="is shown"
        What becomes of the inspector.

    Raises
    ------
    ValueError
        There is something to refuse.
    """
    named = [*parameters, *(["sample_weight"] if sample_weight is not None else [])]
    if named:
        raise ValueError(
            f"The {type(inspector).__name__} is fitted and {use} as it is; "
            f"{', '.join(named)} can only be set before its fit."
        )


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
