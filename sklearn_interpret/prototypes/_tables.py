"""Tables of prototypes."""

from collections.abc import Sequence
from typing import Any

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.tables import Block


def with_values(columns: Block, rows: Any, names: Sequence[str] = ()) -> Block:
    """Columns of a table, and after them the values of the rows by feature.

    A feature that has the name of a column has "(value)" behind its own.
    """
    rows = as_rows(rows)
    names = [
        f"{name} (value)" if name in columns else name for name in names or rows.names
    ]
    values = map(rows.displayed, range(rows.n_columns))
    return columns | dict(zip(names, values, strict=True))
