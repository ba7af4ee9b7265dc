"""Numbers as texts and as ticks."""

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_interpret._plotting.labels import (
    MINUS,
    number_beside,
    number_text,
    plain_number_ticks,
)


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (12345.0, "12345"),
        (1234.56, "1235"),
        (0.012345, "0.0123"),
        (-2.5, f"{MINUS}2.5"),
        (999.9999, "1000"),
        (999999.9, "1e6"),
        (1.5e-7, f"1.5e{MINUS}7"),
        (-3e300, f"{MINUS}3e300"),
    ],
)
def test_texts(value, text):
    assert number_text(value) == text


def test_signs():
    texts = [number_text(value, signed=True) for value in (2.0, 0.0, -2.0)]
    assert texts == ["+2", "0", f"{MINUS}2"]


@given(st.floats(-1e307, 1e307, allow_subnormal=False))
def test_texts_are_short_and_near(value):
    text = number_text(value)
    assert len(text) <= 10
    assert float(text.replace(MINUS, "-")) == pytest.approx(value, rel=6e-3)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_enough_decimals_for_a_span(value, span):
    text = number_beside(value, span).replace(MINUS, "-")
    assert abs(float(text) - value) <= max(0.005 * span, 1e-9)


@pytest.mark.parametrize("which", ["x", "y"])
def test_ticks_have_no_offset_to_add(which):
    figure, ax = plt.subplots()
    ax.set(xlim=(123456.0, 123456.03), ylim=(123456.0, 123456.03))
    plain_number_ticks(ax, which)
    figure.canvas.draw()
    axis = ax.xaxis if which == "x" else ax.yaxis
    assert axis.get_offset_text().get_text() == ""
    assert axis.get_ticklabels()[1].get_text().startswith("123456.0")
