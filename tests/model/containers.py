"""Containers of every kind that a model may be given, and a plain look into them."""

import numpy as np
import pytest
from scipy import sparse

N_ROWS = 6
FLOATS = [[0.5, 1.0, -2.0], [np.nan, 2.0, 3.5], [1.5, 1.0, 0.0]] * 2
INTEGERS = [[3, 1, 0], [5, 1, 2], [3, 7, 4]] * 2
TEXTS = [["b", "x", "u"], ["a", "yy", "u"], ["b", "zzz", "v"]] * 2
MIXED = [["b", 1.5, None], [None, 2, True], [3, 1.5, False]] * 2


def _read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def _pandas(**columns):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({name: make(pandas) for name, make in columns.items()})


def pandas_numbers():
    """Numbers of many dtypes, with pandas' own missing values."""
    return _pandas(
        small=lambda pd: np.array([3, -1, 3, 4, 5, 100], dtype=np.int8),
        single=lambda pd: np.array([0.5, np.nan, 1, 1, 2, 2], dtype=np.float32),
        whole=lambda pd: pd.array([1, 2, 2, 3, 3, 9], dtype="Int64"),
        gaps=lambda pd: pd.array([1, None, 2, 3, 3, 9], dtype="Int64"),
        real=lambda pd: pd.array([0.5, None, 2, 3, 3, 9], dtype="Float64"),
        wide=lambda pd: np.array([2**53 + 1, 0, 1, 1, 2, 2]),
    )


def pandas_categories():
    """Texts, categories and booleans, with and without missing values."""
    return _pandas(
        nominal=lambda pd: pd.Categorical(list("bab") * 2, categories=list("cba")),
        ordered=lambda pd: pd.Categorical(
            ["low", "high", None] * 2, categories=["low", "mid", "high"], ordered=True
        ),
        numbered=lambda pd: pd.Categorical([3, 1, 1, 2, 3, 3], categories=[3, 1, 2]),
        text=lambda pd: pd.Series(["b", None, "a"] * 2, dtype="string"),
        object=lambda pd: pd.Series(["b", None, np.nan, "a", "b", "a"], dtype=object),
        mixed=lambda pd: pd.Series(["b", 1, None, 2.5, "a", 1], dtype=object),
        flag=lambda pd: np.array([True, False, True] * 2),
        maybe=lambda pd: pd.array([True, None, False] * 2, dtype="boolean"),
    )


def pandas_default_text():
    """Strings as pandas reads them when nothing is said."""
    return _pandas(
        text=lambda pd: ["b", "a", None] * 2, number=lambda pd: np.arange(6.0)
    )


def pandas_arrow():
    """Columns of pyarrow, with and without missing values."""
    arrow = pytest.importorskip("pyarrow")

    def of(values, dtype):
        return lambda pd: pd.array(values, dtype=pd.ArrowDtype(dtype))

    levels = arrow.dictionary(arrow.int32(), arrow.string())
    return _pandas(
        text=of(list("bab") * 2, arrow.string()),
        gaps=of(["b", None, "a"] * 2, arrow.string()),
        large=of(["b", None, "a"] * 2, arrow.large_string()),
        nominal=of(list("bab") * 2, levels),
        flag=of([True, False, True] * 2, arrow.bool_()),
        whole=of([3, 1, 1, 2, 3, 3], arrow.int8()),
        real=of([0.5, None, 2, 3, 3, 9], arrow.float64()),
    )


def pandas_odd_names():
    """Column names that are no strings, one of them twice, and a scattered index."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.arange(18.0).reshape(6, 3), index=list("qqrstu"))
    frame.columns = pandas.Index([7, ("a", 1), 7], dtype=object, tupleize_cols=False)
    return frame


def pandas_duplicate_names():
    """Two columns of one name, of different dtypes."""
    pandas = pytest.importorskip("pandas")
    parts = [pandas.Series(list("babbab"), dtype=object), pandas.Series(range(6))]
    frame = pandas.concat(parts, axis=1)
    frame.columns = ["a", "a"]
    return frame


def polars_frame():
    """Every dtype that matters, with nulls."""
    polars = pytest.importorskip("polars")
    levels = polars.Enum(["low", "mid", "high"])
    return polars.DataFrame(
        {
            "enum": polars.Series(["low", "high", None] * 2, dtype=levels),
            "categorical": polars.Series(list("bab") * 2, dtype=polars.Categorical),
            "text": polars.Series(["b", None, "a"] * 2, dtype=polars.String),
            "flag": polars.Series([True, False, True] * 2, dtype=polars.Boolean),
            "maybe": polars.Series([True, None, False] * 2, dtype=polars.Boolean),
            "small": polars.Series([3, -1, 3, 4, 5, 100], dtype=polars.Int8),
            "gaps": polars.Series([1, None, 2, 3, 3, 9], dtype=polars.Int64),
            "single": polars.Series([0.5, None, 1, 1, 2, 2], dtype=polars.Float32),
            "real": polars.Series([0.5, 2.0, 1, 1, 2, 2], dtype=polars.Float64),
        }
    )


def _sparse(kind, dtype):
    dense = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0]] * 2, dtype=dtype)
    return getattr(sparse, kind)(dense)


CONTAINERS = {
    "float64": lambda: np.array(FLOATS),
    "float32": lambda: np.array(FLOATS, dtype=np.float32),
    "fortran": lambda: np.asfortranarray(FLOATS),
    "strided": lambda: np.repeat(np.array(FLOATS), 2, axis=1)[:, ::2],
    "read_only": lambda: _read_only(FLOATS),
    "int64": lambda: np.array(INTEGERS),
    "uint8": lambda: np.array(INTEGERS, dtype=np.uint8),
    "bool": lambda: np.array(INTEGERS) > 2,
    "text": lambda: np.array(TEXTS),
    "object_text": lambda: np.array(TEXTS, dtype=object),
    "object_numbers": lambda: np.array([[1, 2.5, None]] * 6, dtype=object),
    "object_mixed": lambda: np.array(MIXED, dtype=object),
    "pandas_numbers": pandas_numbers,
    "pandas_categories": pandas_categories,
    "pandas_default_text": pandas_default_text,
    "pandas_arrow": pandas_arrow,
    "pandas_odd_names": pandas_odd_names,
    "pandas_duplicate_names": pandas_duplicate_names,
    "polars": polars_frame,
    "csr_matrix": lambda: _sparse("csr_matrix", np.float64),
    "csr_array": lambda: _sparse("csr_array", np.float32),
    "csc_matrix": lambda: _sparse("csc_matrix", np.float32),
    "csc_array": lambda: _sparse("csc_array", np.float64),
    "coo_matrix": lambda: _sparse("coo_matrix", np.int64),
    "coo_array": lambda: _sparse("coo_array", np.float64),
}


def cells(container):
    """All entries as a list of rows, each with its type where it is an object."""
    if sparse.issparse(container):
        return container.toarray().tolist()
    if isinstance(container, np.ndarray):
        return container.tolist()
    if hasattr(container, "iloc"):
        n_rows, n_columns = container.shape
        return [[container.iloc[i, j] for j in range(n_columns)] for i in range(n_rows)]
    return [list(row) for row in container.rows()]


def schema(container):
    """Kind of container with names and dtypes, all that a model could tell apart."""
    kind = type(container).__name__
    if hasattr(container, "iloc"):
        return kind, list(container.columns), list(container.dtypes)
    if hasattr(container, "schema"):
        return kind, list(container.schema.items())
    return kind, container.shape[1], container.dtype


def same_cells(left, right):
    """Whether two lists of rows agree, missing values of one type being equal."""
    return len(left) == len(right) and all(
        len(a) == len(b) and all(map(_same, a, b))
        for a, b in zip(left, right, strict=True)
    )


def _same(left, right):
    if type(left) is not type(right):
        return False
    if type(left).__name__ == "NAType":
        return True
    return left == right or (left != left and right != right)
