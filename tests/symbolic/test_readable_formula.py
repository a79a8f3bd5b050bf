"""Numbers as formulas: what is read is what was meant."""

from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.models.expression import parse_expression
from fdverify.symbolic.readable_formula import build_maximum, build_readable_state, format_number
from fdverify.symbolic.values import Int

PHI, DELTA = Int(z3.Int("phi")), Int(z3.Int("delta"))

SHOWN = {
    "6*phi + delta - 2": 6 * PHI + DELTA - 2,
    "6*phi + delta - timeout - 1": 6 * PHI + DELTA - 2 + 1 - Int(z3.Int("timeout")),
    "phi*delta + phi": PHI * (DELTA + 1),
    "-phi": 0 - PHI,
    "7": 7,
    "0": PHI - PHI,
}


@pytest.mark.parametrize(("text", "number"), SHOWN.items(), ids=SHOWN)
def test_a_sum_of_products(text: str, number: Any) -> None:
    assert sorted(format_number(number).replace("delta*phi", "phi*delta")) == sorted(text)
    assert format_number(number).split(" - ")[0].count("-") == text.split(" - ")[0].count("-")


PARTS = (lambda phi, delta: phi, lambda phi, delta: delta, lambda phi, delta: phi * delta, lambda phi, delta: phi * phi)


def total(constant: int, factors: list[tuple[int, int]], phi: Any, delta: Any) -> Any:
    """A number made of products, alike of numbers and of symbols."""
    return sum((factor * PARTS[part](phi, delta) for factor, part in factors), constant + 0 * phi)


@given(st.integers(-5, 5), st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), max_size=5))
def test_the_formula_has_the_value_of_the_number(constant: int, factors: list[tuple[int, int]]) -> None:
    text = format_number(total(constant, factors, PHI, DELTA))
    for phi, delta in ((1, 0), (2, 3), (7, 5)):
        value = parse_expression(text, {"phi", "delta"}).evaluate({"phi": phi, "delta": delta})
        assert value == total(constant, factors, phi, delta)


def test_the_larger_of_two() -> None:
    assert format_number(build_maximum(3, 5)) == "5"
    assert format_number(build_maximum(PHI, 5)) == "max(phi, 5)"
    assert format_number(build_maximum(PHI + 1, 1 + PHI)) == "phi + 1"
    assert format_number(PHI * build_maximum(6 * PHI + DELTA, 6 * PHI + DELTA - 1)) == format_number(
        6 * PHI * PHI + PHI * DELTA
    )


def test_a_state_to_read_has_names_for_what_is_arbitrary() -> None:
    state = build_readable_state(build_chandra_toueg(2, None, timeout="6*phi+delta"), timeout="T")
    assert (format_number(state.delta), format_number(state.phi), format_number(state.initial_timeout)) == (
        "2",
        "phi",
        "6*phi + 2",
    )
    assert format_number(state.timeout + state.delta) == "T + 2"
