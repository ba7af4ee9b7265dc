"""Rows of all containers: perturbed copies keep everything but what is replaced."""

import tempfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils import check_array

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import (
    Rows,
    copy_of,
    gather,
    is_missing,
    label_key,
    order_labels,
    same_content,
)
from tests.model.containers import CONTAINERS, N_ROWS, cells, same_cells, schema


@pytest.fixture(params=CONTAINERS)
def container(request):
    """One container of each kind."""
    return CONTAINERS[request.param]()


def literal_tiles(container, start, stop, repeats, replacements):
    """The tiled rows, cell by cell."""
    source = cells(container)
    tiled = []
    for row in range(start, stop):
        for repeat in range(repeats):
            copy = list(source[row])
            for j, donors, codes in replacements:
                place = codes[0 if len(codes) == 1 else row - start][repeat]
                copy[j] = source[donors[place]][j]
            tiled.append(copy)
    return tiled


def replaced(rows, tiles, replacements):
    """The tiled rows by `Tiles`, with levels taken from some rows of the source."""
    return tiles.replace(
        [j for j, _, _ in replacements],
        [gather(rows.column(j), np.array(donors)) for j, donors, _ in replacements],
        [codes for _, _, codes in replacements],
    )


def test_perturbed_copies_differ_in_the_replaced_columns_alone(container):
    """One after the other on one work copy, which must not remember the last one."""
    before = cells(container)
    rows = as_rows(container)
    start, stop, repeats = 1, 5, 3
    tiles = rows.tiles(start, stop, repeats)
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, (stop - start, repeats))
    shared = np.array([[2, 0, 1]])
    last = rows.n_columns - 1
    for replacements in (
        [(0, [5, 1, 4], shared)],
        [(last, [3, 2], own), (0, [0, 1], 1 - own)],
        [(1, [4, 0], own)],
        [(1, [1, 2, 3], shared), (last, [0, 5], own)],
        [(0, [2], np.zeros((1, 3), int))],
    ):
        if len({j for j, *_ in replacements}) < len(replacements):
            continue
        found = replaced(rows, tiles, replacements)
        assert same_cells(
            cells(found), literal_tiles(container, start, stop, repeats, replacements)
        )
        assert schema(found) == schema(container)
    assert same_cells(cells(container), before)


def test_taken_rows_are_those_rows(container):
    index = np.array([4, 0, 4])
    taken = as_rows(container).take(index)
    assert isinstance(taken, Rows)
    assert (taken.n_rows, taken.n_columns) == (3, container.shape[1])
    assert same_cells(cells(taken.native), [cells(container)[i] for i in index])
    assert type(taken.native) is type(container)
    assert as_rows(container).take(np.array([], dtype=int)).n_rows == 0


def test_rows_put_together_from_several(container):
    before = cells(container)
    rows = as_rows(container)
    index, others = np.array([4, 0, 4, 2]), np.array([1, 1, 3, 2])
    for columns in ([], [0], sorted({0, rows.n_columns - 1})):
        expected = [
            [before[b if j in columns else a][j] for j in range(rows.n_columns)]
            for a, b in zip(index, others, strict=True)
        ]
        found = rows.mix(index, dict.fromkeys(columns, others))
        assert same_cells(cells(found), expected)
        assert schema(found) == schema(container)
    assert same_cells(cells(container), before)


def test_levels_are_told_apart_as_the_cells_are(container):
    """Codes, labels and first rows against a loop over the cells."""
    rows, source = as_rows(container), cells(container)
    for columns in ([0], [rows.n_columns - 1], [0, rows.n_columns - 1]):
        codes, labels, first = rows.encode(columns)
        keys = [tuple(label_key(row[j]) for j in columns) for row in source]
        found = [
            label_key(label) if len(columns) > 1 else (label_key(label),)
            for label in labels
        ]
        assert len(set(found)) == len(found)
        assert [found[code] for code in codes] == keys
        assert [keys[row] for row in first] == found
        assert [keys.index(key) for key in found] == first.tolist()


def test_numeric_columns_become_floats(container):
    rows, source = as_rows(container), cells(container)
    for j in np.flatnonzero(~rows.detected_categorical):
        expected = [np.nan if is_missing(row[j]) else float(row[j]) for row in source]
        found = rows.numbers(j)
        assert found.dtype == np.float64
        assert_array_equal(found, expected)


def test_own_values_can_be_cast_to_their_dtype(container):
    """Levels of the data, as labels, come back as native vectors of the same dtype."""
    rows = as_rows(container)
    for j in range(rows.n_columns):
        _, labels, first = rows.encode([j])
        known = [place for place, label in enumerate(labels) if not is_missing(label)]
        cast = rows.cast(j, [labels[place] for place in known])
        expected = gather(rows.column(j), first[known])
        assert cast.dtype == expected.dtype
        assert list(cast) == list(expected)


def test_an_empty_vector_can_be_cast(container):
    """A feature without any observed value has an empty grid."""
    rows = as_rows(container)
    for j in range(rows.n_columns):
        assert len(rows.cast(j, np.array([], dtype=float))) == 0


def test_row_bytes_are_positive(container):
    assert as_rows(container).row_bytes >= 1


def test_rows_of_rows_are_themselves(container):
    rows = as_rows(container)
    assert as_rows(rows) is rows


def test_copies_have_the_same_content_until_changed(container):
    copy = copy_of(container)
    assert copy is not container
    assert type(copy) is type(container)
    assert same_content(container, copy)
    changed = as_rows(container).take(np.array([1, 0, 2, 3, 4, 5])).native
    assert same_content(container, changed) == same_cells(
        cells(container), cells(changed)
    )


def test_texts_have_the_same_content():
    texts = ["one text", "another"]
    assert same_content(texts, copy_of(texts))
    assert not same_content(texts, ["one text", "a third"])


DETECTED = {
    "float64": "",
    "int64": "",
    "bool": "012",
    "text": "012",
    "object_numbers": "",
    "object_mixed": "02",
    "pandas_numbers": "",
    "pandas_categories": "01234567",
    "pandas_default_text": "0",
    "pandas_odd_names": "",
    "polars": "01234",
    "csr_matrix": "",
}


@pytest.mark.parametrize("kind", DETECTED)
def test_categories_are_detected_by_dtype_and_never_from_numbers(kind):
    rows = as_rows(CONTAINERS[kind]())
    found = "".join(map(str, np.flatnonzero(rows.detected_categorical)))
    assert found == DETECTED[kind]


@pytest.mark.parametrize(
    "kind, column, expected",
    [
        ("float64", 0, [0.5, 1.5, np.nan]),
        ("int64", 0, [3, 5]),
        ("bool", 0, [True]),
        ("bool", 1, [False, True]),
        ("text", 1, ["x", "yy", "zzz"]),
        ("object_mixed", 0, [3, "b", None]),
        ("pandas_categories", "nominal", ["b", "a"]),
        ("pandas_categories", "ordered", ["low", "high", None]),
        ("pandas_categories", "numbered", [3, 1, 2]),
        ("pandas_categories", "text", ["a", "b", None]),
        ("pandas_categories", "object", ["a", "b", None]),
        ("pandas_categories", "mixed", [2.5, 1, "a", "b", None]),
        ("pandas_categories", "flag", [False, True]),
        ("pandas_categories", "maybe", [False, True, None]),
        ("pandas_default_text", "text", ["a", "b", None]),
        ("pandas_numbers", "gaps", [1, 2, 3, 9, None]),
        ("polars", "enum", ["low", "high", None]),
        ("polars", "categorical", ["a", "b"]),
        ("polars", "text", ["a", "b", None]),
        ("polars", "maybe", [False, True, None]),
        ("polars", "gaps", [1, 2, 3, 9, None]),
    ],
)
def test_labels_come_in_their_natural_order_and_missing_last(kind, column, expected):
    rows = as_rows(CONTAINERS[kind]())
    j = rows.names.index(column) if isinstance(column, str) else column
    _, labels, _ = rows.encode([j])
    assert list(map(label_key, labels)) == list(map(label_key, expected))


def test_joint_levels_are_ordered_by_their_parts():
    rows = as_rows(CONTAINERS["pandas_categories"]())
    _, labels, _ = rows.encode([0, 3])
    keys = list(map(label_key, labels))
    assert keys == list(map(label_key, [("b", "a"), ("b", "b"), ("a", None)]))


@pytest.mark.parametrize(
    "kind, columns",
    [
        ("float64", ""),
        ("int64", "012"),
        ("uint8", "012"),
        ("bool", ""),
        ("text", ""),
        ("object_numbers", ""),
        ("pandas_numbers", "0235"),
        ("pandas_categories", ""),
        ("polars", "56"),
        ("coo_matrix", "012"),
        ("csr_matrix", ""),
    ],
)
def test_whole_number_columns(kind, columns):
    rows = as_rows(CONTAINERS[kind]())
    found = [str(j) for j in range(rows.n_columns) if rows.is_integer(j)]
    assert "".join(found) == columns


@pytest.mark.parametrize(
    "kind, columns",
    [
        ("float64", ""),
        ("text", ""),
        ("bool", "012"),
        ("pandas_categories", "167"),
        ("pandas_numbers", ""),
        ("polars", "034"),
    ],
)
def test_dtypes_with_an_order_of_their_own(kind, columns):
    rows = as_rows(CONTAINERS[kind]())
    found = [str(j) for j in range(rows.n_columns) if rows.is_ordered(j)]
    assert "".join(found) == columns


@pytest.mark.parametrize(
    "kind, column, values",
    [
        ("int64", 0, [1.5]),
        ("int64", 0, [np.nan]),
        ("uint8", 0, [-1]),
        ("uint8", 0, [256.0]),
        ("bool", 0, [2]),
        ("float32", 0, [1e300]),
        ("csr_array", 0, [1e300]),
        ("coo_matrix", 0, [0.5]),
        ("pandas_numbers", "small", [300.0]),
        ("pandas_numbers", "small", [0.5]),
        ("pandas_numbers", "small", ["a"]),
        ("pandas_numbers", "whole", [0.5]),
        ("pandas_numbers", "gaps", [0.5, 1]),
        ("pandas_categories", "nominal", ["a", "d"]),
        ("pandas_categories", "numbered", ["3"]),
        ("pandas_categories", "flag", [2]),
        ("pandas_categories", "maybe", [2]),
        ("pandas_categories", "text", [1]),
        ("polars", "enum", ["none"]),
        ("polars", "text", [1.5]),
        ("polars", "categorical", [1]),
        ("polars", "flag", [2]),
        ("polars", "flag", ["yes"]),
        ("polars", "small", [300]),
        ("polars", "small", [0.5]),
        ("polars", "gaps", ["a"]),
        ("polars", "single", [1e300]),
    ],
)
def test_a_value_that_the_dtype_cannot_hold_is_refused(kind, column, values):
    rows = as_rows(CONTAINERS[kind]())
    j = rows.names.index(column) if isinstance(column, str) else column
    with pytest.raises(ValueError, match=f"The feature '{rows.names[j]}'"):
        rows.cast(j, values)


def test_single_precision_rounds_values_without_a_word():
    """0.1 has no float32 of its own; a grid may hold it all the same."""
    cast = as_rows(CONTAINERS["float32"]()).cast(0, np.array([0.1]))
    assert cast.dtype == np.float32
    assert cast[0] == np.float32(0.1)


@pytest.mark.parametrize(
    "kind, column", [("text", 0), ("pandas_categories", 0), ("polars", 2)]
)
def test_text_has_no_numbers(kind, column):
    with pytest.raises(ValueError, match=r"is not numeric .* categorical_features"):
        as_rows(CONTAINERS[kind]()).numbers(column)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_finite_or_not(dtype):
    X = np.ones((4, 3), dtype=dtype)
    assert as_rows(X).is_finite
    for bad in (np.nan, np.inf, -np.inf):
        X[2, 1], X[0, 0] = bad, 1
        assert not as_rows(X).is_finite
    X[2, 1], X[0, 0] = np.inf, -np.inf
    assert not as_rows(X).is_finite
    assert as_rows(np.arange(6).reshape(3, 2)).is_finite


@pytest.mark.parametrize(
    "kind, finite, gap", [("pandas_numbers", 0, 3), ("polars", 5, 6), ("polars", 5, 7)]
)
def test_frames_are_finite_where_no_number_is_missing(kind, finite, gap):
    rows = as_rows(CONTAINERS[kind]())
    assert rows.keep_columns([finite]).is_finite
    for bad in (rows, rows.keep_columns([gap])):
        assert not bad.is_finite
        with pytest.raises(ValueError, match=r"X contains NaN\.\nOurs does not"):
            bad.check_finite("Ours")


def test_stored_numbers_of_sparse_matrices_are_finite_or_not():
    X = CONTAINERS["coo_array"]()
    assert as_rows(X).is_finite
    X.data[1] = np.inf
    assert not as_rows(X).is_finite


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, "pandas", "polars"])
def test_numbers_lie_within_a_limit_or_not(container, dtype):
    X = np.array([[1, 0], [0, 1]], dtype=dtype)
    if isinstance(container, str):
        container = pytest.importorskip(container).DataFrame
    assert as_rows(container(X)).are_within(1)
    assert not as_rows(container(X)).are_within(0.5)
    if np.dtype(dtype).kind == "f":
        for bad in (np.nan, np.inf, -np.inf, -1.5):
            X[1, 0] = bad
            assert not as_rows(container(X)).are_within(1)


@pytest.mark.parametrize(
    "X", [np.ones((2, 2), object), np.full((2, 2), "1"), sparse.csr_array(np.eye(2))]
)
def test_what_is_no_array_of_numbers_lies_within_no_limit(X):
    assert not as_rows(X).are_within(10)


def test_a_part_of_an_array_is_no_copy():
    X = np.arange(12.0).reshape(4, 3)
    part = as_rows(X).sliced(slice(1, 3)).native
    assert_array_equal(part, X[1:3])
    assert np.shares_memory(part, X)


def test_infinity_has_no_place_on_a_grid():
    with pytest.raises(ValueError, match=r"Input X contains infinity .* 'x1'"):
        as_rows(np.array([[0.0, np.inf]])).numbers(1)


def test_names_of_columns():
    assert as_rows(np.zeros((1, 2))).names == ["x0", "x1"]
    assert not as_rows(np.zeros((1, 2))).named
    assert as_rows(CONTAINERS["polars"]()).names[0] == "enum"
    assert as_rows(CONTAINERS["polars"]()).named
    assert as_rows(CONTAINERS["pandas_duplicate_names"]()).names == ["a", "a"]
    odd = as_rows(CONTAINERS["pandas_odd_names"]())
    assert odd.names == ["7", "('a', 1)", "7"]
    assert not odd.named


def test_a_read_only_memory_map_is_read_alone():
    with tempfile.NamedTemporaryFile() as file:
        np.arange(12.0).tofile(file.name)
        mapped = np.memmap(file.name, np.float64, "r", shape=(4, 3))
        rows = as_rows(mapped)
        tiles = rows.tiles(0, 4, 2)
        found = tiles.replace([1], [np.array([-1.0, -2.0])], [np.array([[0, 1]])])
        expected = np.repeat(np.arange(12.0).reshape(4, 3), 2, axis=0)
        expected[:, 1] = [-1, -2] * 4
        assert_array_equal(found, expected)
        assert found.flags.writeable
        del rows, tiles, mapped


def test_lists_become_arrays():
    rows = as_rows([[1, 2], [3, 4]])
    assert_array_equal(rows.native, [[1, 2], [3, 4]])


@pytest.mark.parametrize("bad", [np.zeros(3), [1, 2], np.zeros((1, 1, 1)), "text"])
def test_what_is_not_two_dimensional_gets_scikit_learns_error(bad):
    with pytest.raises(ValueError) as ours:
        as_rows(bad)
    with pytest.raises(ValueError) as theirs:
        check_array(bad, dtype=None)
    assert str(ours.value) == str(theirs.value)


def other_frames():
    """Tables that are neither pandas nor polars DataFrames."""

    class Table:
        columns = ("a",)
        shape = (1, 1)

    yield Table()
    polars = pytest.importorskip("polars")
    yield polars.LazyFrame({"a": [1]})
    yield pytest.importorskip("pyarrow").table({"a": [1]})


def test_other_frames_are_refused_and_not_converted():
    for frame in other_frames():
        with pytest.raises(TypeError, match="supported containers are"):
            as_rows(frame)


def test_missing_labels_fall_together():
    pandas = pytest.importorskip("pandas")
    missing = [None, np.nan, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT]
    assert all(map(is_missing, missing))
    assert len(set(map(label_key, missing))) == 1
    assert not any(map(is_missing, ["", 0, 0.0, False, "nan", np.inf]))


def test_labels_of_mixed_types_have_an_order_that_rows_do_not_change():
    labels = ["b", 1, None, 2.5, "a"]
    assert (
        order_labels(labels) == order_labels(labels[::-1]) == [2.5, 1, "a", "b", None]
    )


def literal_blends(container, bases, donors, present):
    """The blended rows, cell by cell."""
    source = cells(container)
    return [
        [source[donor if held[j] else base][j] for j in range(len(held))]
        for donor, held in zip(donors, present, strict=True)
        for base in range(bases)
    ]


def test_blended_rows_take_some_columns_from_a_later_row(container):
    before = cells(container)
    rows = as_rows(container)
    n_background, donors = 3, np.array([3, 5, 3, 4])
    rng = np.random.default_rng(0)
    present = rng.random((len(donors), rows.n_columns)) < 0.5
    present[0], present[1] = False, True
    found = rows.blend(n_background, donors, present)
    assert same_cells(
        cells(found), literal_blends(container, n_background, donors, present)
    )
    assert schema(found) == schema(container)
    assert same_cells(cells(container), before)


def test_rows_behind_others_are_those_rows(container):
    rows = as_rows(container)
    upper, lower = rows.take(np.arange(4)), rows.take(np.arange(4, N_ROWS))
    whole = upper.followed_by(lower)
    assert type(whole) is type(rows)
    assert same_cells(cells(whole.native), cells(container))
    assert schema(whole.native) == schema(container)


def test_agreement_is_that_of_cells(container):
    rows = as_rows(container)
    source = cells(container)
    for n_background in (1, 2):
        found = rows.equals_first_rows(n_background)
        expected = [
            [
                all(
                    same_cells([[source[base][j]]], [[row[j]]])
                    for base in range(n_background)
                )
                for j in range(rows.n_columns)
            ]
            for row in source[n_background:]
        ]
        assert found.tolist() == expected


def test_numbers_behind_whole_numbers_keep_their_fractions():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    fractions = np.array([[0.5, 2.0]])
    for whole in (
        np.array([[1, 2], [3, 4]]),
        pandas.DataFrame({"a": [1, 3], "b": [2, 4]}),
        polars.DataFrame({"a": [1, 3], "b": [2, 4]}),
        sparse.csr_array([[1, 2], [3, 4]]),
    ):
        for others in (fractions, type(as_rows(whole))(whole).take([0]).native):
            found = as_rows(whole).followed_by(as_rows(others))
            assert float(cells(found.native)[2][0]) == float(cells(others)[0][0])


def test_categories_behind_others_are_cast_or_refused():
    pandas = pytest.importorskip("pandas")
    kind = pandas.CategoricalDtype(["u", "v"])
    upper = as_rows(pandas.DataFrame({"a": pandas.Series(["u", "v"], dtype=kind)}))
    lower = pandas.DataFrame({"a": pandas.Series(["v"], dtype="category")})
    found = upper.followed_by(as_rows(lower)).native
    assert found["a"].dtype == kind
    assert found["a"].tolist() == ["u", "v", "v"]
    lower = pandas.DataFrame({"a": pandas.Series(["w"], dtype="category")})
    with pytest.raises(ValueError, match="'a' has no category 'w'"):
        upper.followed_by(as_rows(lower))


@pytest.mark.parametrize("kind", ["List", "Array"])
def test_lists_are_neither_numbers_nor_levels(kind):
    polars = pytest.importorskip("polars")
    dtype = polars.List(polars.Int64) if kind == "List" else polars.Array(float, 2)
    rows = as_rows(polars.DataFrame({"l": [[1, 2], [3, 4]]}, schema={"l": dtype}))
    assert rows.column_array(0).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="'l' is not numeric"):
        rows.numbers(0)
    with pytest.raises(ValueError, match="'l' has values that cannot be levels"):
        rows.encode_column(0)
