"""Numbers as text."""

import numpy as np
import pytest

from sklearn_interpret._model.rows.number_format import (
    MINUS,
    entry_text,
    number_text,
    rounded_text,
    value_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (12345.678, "12346"),
        (999999.4, "999999"),
        (1234567.0, "1.235e6"),
        (-0.00123456, "-0.001235"),
        (1e-12, "1e-12"),
        (np.inf, "inf"),
        (np.float32(0.1), "0.1"),
        (123456789, "123456789"),
        ("nurse", "nurse"),
    ],
)
def test_texts_figures_and_tables_write_a_number_alike(value, text):
    assert entry_text(value) == text
    if isinstance(value, float | np.floating):
        assert number_text(float(value), 4).replace(MINUS, "-") == text


@pytest.mark.parametrize("value", [1234567, 1234567.0, np.int64(1234567)])
def test_whole_values_keep_all_digits(value):
    assert value_text(value) == "1234567"
    assert value_text(value, np.array([1.5, value])) == "1234567"


@pytest.mark.parametrize(
    ("value", "down", "text"),
    [(12345.6, True, "12300"), (12345.6, False, "12400"), (-0.56789, True, "-0.568")],
)
def test_bounds_stay_bounds(value, down, text):
    assert rounded_text(value, down=down) == text
