"""A model that is asked once, however many scorers want its answer."""

from functools import wraps

from sklearn_interpret._model.response import RESPONSE_METHODS
from sklearn_interpret._model.rows.base import copy_of


class RememberingModel:
    """Stands in for a fitted model, and answers again without asking.

    It has the model's attributes, and is of its kind. Several tables may lie in one,
    row by row in turn; the first question about any of them is put to the model about
    all at once.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    changes_input : bool
        Whether the model writes to what it is given; it then gets copies.
    """

    def __init__(self, estimator, changes_input):
        self._estimator = estimator
        self._changes_input = changes_input
        self._whole, self._parts, self._known = None, [], {}

    def look_at(self, whole, parts):
        """Answer questions about other tables from now on.

        Parameters
        ----------
        whole : native container
            Rows of all of them.
        parts : list of native containers
            The tables: of `n` of them, the first has rows 0, n, 2n, and so on.
        """
        self._whole, self._parts, self._known = whole, parts, {}

    def __getattr__(self, name):
        found = getattr(self._estimator, name)
        if name in RESPONSE_METHODS:
            return self._answering(name, found)
        if name == "score":
            return self._protecting(found)
        return found

    @property
    def __class__(self):
        """Checks of the kind of a model see the model's."""
        return type(self._estimator)

    def _protecting(self, method):
        @wraps(method)
        def call(X, *args, **kwargs):
            return method(copy_of(X) if self._changes_input else X, *args, **kwargs)

        return call

    def _answering(self, name, method):
        ask = self._protecting(method)

        @wraps(method)
        def answer(X, *args, **kwargs):
            place = self._place(X)
            if place is None or args or kwargs:
                return ask(X, *args, **kwargs)
            if name not in self._known:
                self._known[name] = ask(self._whole)
            return _part(self._known[name], place, len(self._parts))

        return answer

    def _place(self, X):
        for place, part in enumerate(self._parts):
            if X is part:
                return place
        return None


def _part(answer, place, n_parts):
    if n_parts == 1:
        return answer
    if isinstance(answer, list):  # one array for each output
        return [_part(one, place, n_parts) for one in answer]
    return answer[place::n_parts]
