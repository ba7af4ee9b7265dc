"""Tables of prototypes."""

from collections.abc import Sequence
from typing import Any

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.tables import Block


def add_row_values(columns: Block, rows: Any, names: Sequence[str] = ()) -> Block:
    """Columns of a table, followed by the values of the rows, a column by feature.

    A feature that has the name of another column gets "(value)" behind its name.
    """
    rows = as_rows(rows)
    names = [
        f"{name} (value)" if name in columns else name for name in names or rows.names
    ]
    values = map(rows.displayed, range(rows.n_columns))
    return columns | dict(zip(names, values, strict=True))
