"""Results of a fitted estimator: as a frame, as plain text, and for JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import wraps
from inspect import cleandoc
from numbers import Integral
from textwrap import indent
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model._sklearn_compat import check_pandas_support
from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.tables import (
    json_value,
    lines_of,
    text_of_facts,
    text_table,
    versions,
)

# What the docstring of `to_frame` says of the table, in the place of a class's own.
_LINES = "A line for each result; `attrs` has what holds for all."


class ResultsMixin(ABC):
    """Adds `to_frame`, `to_text` and `to_dict` to an estimator that has results.

    A subclass returns its table (`_result_blocks`, whose docstring describes the lines
    and columns to users of `to_frame`), and may add what holds for all of it
    (`_result_facts`) and the units of columns (`_result_units`).
    """

    n_features_in_: int

    # Column that is the index of the frame.
    _result_index: ClassVar[str | None] = None
    # Columns whose numbers have different units.
    _result_own_units: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        blocks = vars(cls).get("_result_blocks")
        if blocks is not None and blocks.__doc__ and "to_frame" not in vars(cls):
            cls.to_frame = _to_frame_of(blocks.__doc__)  # type: ignore[method-assign]

    @abstractmethod
    def _result_blocks(self) -> list[dict[str, Any]]:
        """The table: blocks of columns by name, below each other."""

    def _text_blocks(self) -> list[dict[str, Any]]:
        """The blocks of the table that the text has: all blocks, in most classes."""
        return self._result_blocks()

    def _result_facts(self) -> dict[str, Any]:
        """Numbers and words about the whole, by name."""
        return {}

    def _result_units(self) -> dict[str, str]:
        """Unit of the numbers in columns, by name of the column."""
        return {}

    def to_frame(self) -> DataFrame:
        """Return the results as a table.

        Returns
        -------
        pandas.DataFrame
            A line for each result; `attrs` has what holds for all.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        check_is_fitted(self)
        pandas = check_pandas_support(f"{type(self).__name__}.to_frame")
        blocks = map(pandas.DataFrame, self._result_blocks())
        table = pandas.concat(blocks, ignore_index=True).infer_objects()
        for name in ("region", "order", "row"):
            if name in table and table[name].dtype.kind == "f":
                table[name] = table[name].astype("Int64")
        table.attrs = self._result_facts()
        return (
            table if self._result_index is None else table.set_index(self._result_index)
        )

    def to_text(self, digits: int = 4) -> str:
        """Return the results as plain text.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of the largest number of a column.

        Returns
        -------
        str
            What holds for the whole, and a table.

        Raises
        ------
        ValueError
            `digits` is no positive whole number.
        """
        check_is_fitted(self)
        check_scalar(digits, "digits", Integral, min_val=1)
        table = text_table(self._text_blocks(), digits, self._result_own_units)
        return "\n\n".join(
            filter(None, [text_of_facts(self._result_facts(), digits), table])
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a dict that JSON can hold.

        Returns
        -------
        dict
            "class"; "names" of the features, outputs, target and response; "units" of
            columns, where they are known; "versions" of the libraries; "facts" about
            the whole; and "results": a dict for each line of `to_frame`. Missing and
            infinite numbers are None.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
        outputs = getattr(self, "output_names_", getattr(self, "classes_", None))
        return json_value(
            {
                "class": type(self).__name__,
                "names": {
                    "features": np.asarray(names),
                    "outputs": outputs,
                    "target": getattr(self, "_target_name", None),
                    "response": getattr(self, "_response_name", None),
                },
                "units": self._result_units(),
                "versions": versions(),
                "facts": self._result_facts(),
                "results": list(lines_of(self._result_blocks())),
            }
        )


def _to_frame_of(lines: str) -> Any:
    """The method `to_frame`, with a docstring that describes the lines of the table."""

    @wraps(ResultsMixin.to_frame)
    def to_frame(self: ResultsMixin) -> DataFrame:
        return ResultsMixin.to_frame(self)

    described = indent(cleandoc(lines), " " * 12).strip()
    to_frame.__doc__ = str(to_frame.__doc__).replace(_LINES, described)
    return to_frame
