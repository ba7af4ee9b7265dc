"""What moved a mean between two tables, and between one and several others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model._sklearn_compat import check_pandas_support
from sklearn_interpret._model.rows.number_format import MINUS, entry_text
from sklearn_interpret._model.rows.tables import as_objects, text_table

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.sklearn_bases import DataFrame

_NUMBERS = "standard_errors", "low", "high", "pvalues", "adjusted_pvalues"


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """A change of the mean response, or loss, and the contributions to it.

    Parameters
    ----------
    values : ndarray of shape (n_features[, n_outputs])
        Contribution of each feature or group; they sum to `new` - `old`.
    standard_errors : ndarray of the shape of `values`
        Standard errors over the rows of both tables, and of sampled orders. NaN if a
        table has a single row.
    low, high : ndarray of the shape of `values`
        Confidence intervals, of the level 1 - `alpha`.
    pvalues, adjusted_pvalues : ndarray of the shape of `values`
        P-values of the hypothesis that the contribution is zero; the latter are
        adjusted for the number of tests.
    old, new : float or ndarray of shape (n_outputs,)
        Mean response, or loss, of the old and of the new rows.
    feature_names : sequence of str
        Names of the features and groups. The last entry of a change of a loss is
        "targets given features".
    output_names : sequence
        Class labels, or positions of outputs.
    response_name : str, default="response"
        What the mean is of: "prediction", "probability", or the name of the loss.
    alpha : float, default=0.05
        Intervals have the level 1 - `alpha`.
    loss : Change, default=None
        The change of the mean loss, if both tables have targets.

    See Also
    --------
    ChangeAttribution : Computes it.
    ChangeDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.diagnosis import ChangeAttribution
    >>> inspector = ChangeAttribution(LinearRegression())
    >>> inspector = inspector.fit([[0, 0], [1, 0], [2, 1], [3, 1]], [0, 2, 5, 7])
    >>> change = inspector.compare([[1, 0], [2, 1], [3, 1], [4, 1]])
    >>> print(change.values.round(6), change.old.round(6), change.new.round(6))
    [2.   0.25] 3.5 5.75
    """

    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pvalues: NDArray[np.float64]
    adjusted_pvalues: NDArray[np.float64]
    old: Any
    new: Any
    feature_names: Sequence[str]
    output_names: Sequence[Any]
    response_name: str = "response"
    alpha: float = 0.05
    loss: Change | None = None

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the text for a notebook."""
        return f"<pre>{escape(self.to_text())}</pre>"

    def _blocks(self) -> list[dict[str, Any]]:
        """Columns by name: the contributions to the response, then to the loss."""
        n_outputs = len(self.output_names)
        values = self.values.reshape(-1, n_outputs)
        order = np.argsort(-np.abs(values).sum(axis=1), kind="stable")
        names = as_objects(list(self.feature_names))[order]
        columns: dict[str, Any] = {
            "response": [self.response_name] * values.size,
            "feature": names.repeat(n_outputs),
        }
        if n_outputs > 1:
            columns["output"] = np.tile(as_objects(list(self.output_names)), len(names))
        columns["change"] = values[order].ravel()
        for name in _NUMBERS:
            numbers = getattr(self, name).reshape(values.shape)[order]
            columns[name.removesuffix("s") if name != "low" else name] = numbers.ravel()
        for name in ("old", "new"):
            columns[name] = np.tile(np.ravel(getattr(self, name)), len(names))
        return [columns, *(self.loss._blocks() if self.loss else [])]

    def to_frame(self) -> DataFrame:
        """Return the contributions as a table.

        Returns
        -------
        pandas.DataFrame
            A line for each feature and output, the largest contribution first, then
            those to the change of the loss: columns "response" (or the name of the
            loss), "feature", "output" where there are several, "change",
            "standard_error", "low", "high", "pvalue", "adjusted_pvalue", and the means
            "old" and "new".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = check_pandas_support(f"{type(self).__name__}.to_frame")
        return pandas.concat(map(pandas.DataFrame, self._blocks()), ignore_index=True)

    def to_text(self, digits: int = 4) -> str:
        """Return the contributions as plain text.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of the largest number of a column.

        Returns
        -------
        str
            The means, and a table of the contributions; the same for the loss.
        """
        texts = []
        for change in filter(None, [self, self.loss]):
            lines = []
            several = len(change.output_names) > 1
            means = np.ravel(change.old), np.ravel(change.new)
            for output, old, new in zip(change.output_names, *means, strict=True):
                name = f"{change.response_name}{f' {output}' * several}"
                ends = (
                    entry_text(mean, digits).replace(MINUS, "-") for mean in (old, new)
                )
                lines.append(f"mean {name}: {' -> '.join(ends)}")
            columns = dict(change._blocks()[0])
            for name in ("response", "old", "new"):
                del columns[name]
            texts.append("\n".join([*lines, "", text_table([columns], digits)]))
        return "\n\n".join(texts)


class Changes(dict[str, Change]):
    """Changes between one table and several others, by name.

    Parameters
    ----------
    changes : dict of str to Change
        The changes, in their order in time.

    See Also
    --------
    ChangeAttribution : Computes them.
    ChangeDisplay : Draws them over time.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.diagnosis import ChangeAttribution
    >>> inspector = ChangeAttribution(LinearRegression())
    >>> inspector = inspector.fit([[0], [1], [2]], [0, 1, 2])
    >>> changes = inspector.compare({"May": [[1], [2]], "June": [[2], [3]]})
    >>> list(changes), changes["June"].values.round(6)
    (['May', 'June'], array([1.5]))
    """

    def __init__(self, changes: Mapping[str, Change]) -> None:
        super().__init__(changes)

    def __repr__(self) -> str:
        return self.to_text()

    _repr_html_ = Change._repr_html_

    def to_frame(self) -> DataFrame:
        """Return all contributions as one table.

        Returns
        -------
        pandas.DataFrame
            The lines of each :class:`Change`, with its name in the column "table".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = check_pandas_support(f"{type(self).__name__}.to_frame")
        frames = [change.to_frame().assign(table=name) for name, change in self.items()]
        table = pandas.concat(frames, ignore_index=True)
        table.insert(0, "table", table.pop("table"))
        return table

    def to_text(self, digits: int = 4) -> str:
        """Return all contributions as plain text.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of the largest number of a column.

        Returns
        -------
        str
            The text of each :class:`Change`, below its name.
        """
        return "\n\n".join(
            f"{name}\n{change.to_text(digits)}" for name, change in self.items()
        )
