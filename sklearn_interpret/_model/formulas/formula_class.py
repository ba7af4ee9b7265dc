"""The class whose formula computes a model's responses.

A formula is known for a class of a library. A subclass outside of that library computes
the same responses only where it overrides none of the methods that compute them.
"""

import re
from collections.abc import Collection
from inspect import getattr_static

from sklearn_interpret.exceptions import UnreadableModelError

# A class, or the package and name of one in a library that is not imported here.
ModelClass = type | tuple[str, str]

# Methods of training, scoring and display, which do not compute responses.
_NOT_OF_RESPONSES = re.compile(
    r"__(?!getattr__|getattribute__)\w+__|_?(partial_)?fit(_\w+)?|score|(get|set)_params"
    r"|set_\w+_request|get_metadata_routing|feature_importances_|_repr_\w+|_more_tags"
    r"|_get_tags|_validate_params|_set_oob_score\w*|_make_estimator|_sklearn_\w+"
)


def formula_class(model: object, readers: Collection[ModelClass]) -> ModelClass | None:
    """The nearest class of a model for which there is a reader, or None.

    Parameters
    ----------
    model : fitted estimator or transformer
        The model, not frozen.
    readers : collection of classes, or of pairs (package, class name)
        Pairs name classes of libraries that are not imported here.

    Raises
    ------
    UnreadableModelError
        If the model overrides a method that may compute its responses.
    """
    for base in type(model).__mro__:
        for key in keys_of(base):
            if key in readers:
                overridden = overridden_methods(model, base)
                if overridden:
                    raise UnreadableModelError(
                        f"it is a {_trusted_class(model, base).__name__} with "
                        f"{overridden[0]} of its own, whose formula is not known."
                    )
                return key
    return None


def keys_of(kind: type) -> tuple[ModelClass, ModelClass]:
    """A class, and its package and name."""
    return kind, (_package(kind), kind.__name__)


def is_of(model: object, key: tuple[str, str]) -> bool:
    """Whether a model is of a class, given by package and name, or of a subclass."""
    return any(key in keys_of(base) for base in type(model).__mro__)


def computes_as(model: object, *kinds: type) -> bool:
    """Whether a model computes its responses as one of some classes does."""
    return any(
        isinstance(model, kind) and not overridden_methods(model, kind)
        for kind in kinds
    )


def overridden_methods(model: object, kind: type) -> list[str]:
    """Methods of a library's class that a model overrides, but for those of training.

    Subclasses in the same library, and in this one, are trusted.
    """
    trusted, bases = _trusted_class(model, kind), type(model).__mro__
    before = bases[: bases.index(trusted)]
    names = {name for owner in (model, *before) for name in vars(owner)}
    # Abstract methods wait for a subclass to fill them.
    names -= getattr(trusted, "__abstractmethods__", frozenset())
    return sorted(
        name
        for name in names
        if hasattr(trusted, name)  # most are not, and this is the quickest test
        and not _NOT_OF_RESPONSES.fullmatch(name)
        and _differs(model, trusted, name)
    )


def _trusted_class(model: object, kind: type) -> type:
    """The nearest class of a model that is in the library of a base, or in this one."""
    packages = _package(kind), "sklearn_interpret"
    return next(
        base
        for base in type(model).__mro__
        if issubclass(base, kind) and _package(base) in packages
    )


def _differs(model: object, trusted: type, name: str) -> bool:
    """Whether a model has another method of a name than the class that is trusted."""
    method = getattr_static(trusted, name, None)
    is_method = callable(method) or hasattr(method, "__get__")
    return is_method and getattr_static(model, name) is not method


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]
