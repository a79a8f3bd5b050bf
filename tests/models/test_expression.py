"""Expressions come from the command line: what is accepted means what Python means by it, all else is refused."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError
from fdverify.models.expression import parse_expression
from fdverify.symbolic.values import Int, build_literal

NAMES = ("delta", "phi")
DELTA, PHI = 5, 7


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("  42 ", 42),
        ("phi", PHI),
        ("6*phi+delta", 6 * PHI + DELTA),
        ("phi - delta - 1", PHI - DELTA - 1),
        ("phi - (delta - 1)", PHI - (DELTA - 1)),
        ("2 + 3 * phi", 2 + 3 * PHI),
        ("(2 + 3) * phi", (2 + 3) * PHI),
        ("-phi", -PHI),
        ("+phi", PHI),
        ("--phi", PHI),
        ("3 - -phi", 3 + PHI),
        ("phi // 2", 3),
        ("-phi // 2", -4),
        ("-(phi // 2)", -3),
        ("phi % 4", 3),
        ("-phi % 4", 1),
        ("phi * 5 // 3 % 4", PHI * 5 // 3 % 4),
        ("min(phi, delta)", DELTA),
        ("max(phi, delta)", PHI),
        ("min(phi, 3, delta)", 3),
        ("max(phi, 3, delta, 9)", 9),
        ("max(min(phi, delta), 6) * 2", 12),
        ("1_000", 1000),
        ("0x10", 16),
    ],
)
def test_accepts(text: str, value: int) -> None:
    expression = parse_expression(text, NAMES)
    assert expression.evaluate({"delta": DELTA, "phi": PHI}) == value
    assert str(expression) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "phi**",
        "phi**2",
        "2**2",
        '__import__("os")',
        "__import__",
        "epsilon",
        "Phi",
        "phi.real",
        "(1).real",
        "phi[0]",
        "phi()",
        "min",
        "min(phi)",
        "min()",
        "max(phi, key=delta)",
        "min(*phi)",
        "min(phi, *delta)",
        "abs(phi)",
        "True",
        "-True",
        "phi + False",
        "None",
        "...",
        "1.0",
        "1e3",
        "2j",
        "phi / 2",
        '"phi"',
        'b"phi"',
        'f"{phi}"',
        "phi // 0",
        "phi % 0",
        "phi // -1",
        "phi % -2",
        "phi // +2",
        "phi // delta",
        "phi % delta",
        "phi // (1 + 1)",
        "phi // True",
        "phi // 2.0",
        "~phi",
        "not phi",
        "phi << 1",
        "phi | 1",
        "phi @ 2",
        "phi < 2",
        "phi and delta",
        "phi if delta else 1",
        "(phi := 3)",
        "lambda: 1",
        "[phi]",
        "(phi, delta)",
        "{phi}",
        "[x for x in phi]",
        "phi phi",
        "phi = 3",
        "phi; delta",
        "phi\ndelta",
        "(phi",
        "phi)",
        "007",
        "phi\0",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_expression(text, NAMES)
    assert caught.value.message.startswith("bad expression ")
    assert "\n" not in caught.value.message
    assert caught.value.hint is not None
    assert "delta, phi" in caught.value.hint


def test_says_what_is_wrong() -> None:
    with pytest.raises(UsageError, match=r"unknown name epsilon"):
        parse_expression("phi + epsilon", NAMES)
    with pytest.raises(UsageError, match=r"the divisor is not a positive literal"):
        parse_expression("6 // phi", NAMES)
    with pytest.raises(UsageError, match=r"'phi \*\* 2' is not in the grammar"):
        parse_expression("1 + phi**2", NAMES)


@pytest.mark.parametrize("opening", ["(", "-(", "1+(", "["])
def test_huge_nesting_is_refused(opening: str) -> None:
    times = 900 // (len(opening) + opening.count("("))
    text = opening * times + "1" + ")" * (times * opening.count("(")) + "]" * (times * opening.count("["))
    with pytest.raises(UsageError, match="it does not parse"):
        parse_expression(text[:1000], NAMES)


@pytest.mark.parametrize("length", [100, 500, 850, 900, 950, 990])
@pytest.mark.parametrize("unit", ["-", "1+", "phi-", "max(1,"])
def test_what_is_accepted_can_be_evaluated(unit: str, length: int) -> None:
    """An expression is read in one place and evaluated in another, further down the stack: it must not crash there."""
    times = length // (len(unit) + unit.count("("))
    text = unit * times + "phi" + ")" * (times * unit.count("("))
    try:
        expression = parse_expression(text, NAMES)
    except UsageError:
        return
    value = {"-": (-1) ** times * PHI, "1+": times + PHI, "phi-": PHI - times * PHI, "max(1,": PHI}[unit]
    assert _further_down(100, lambda: expression.evaluate({"phi": PHI})) == value
    symbolic = _further_down(100, lambda: expression.evaluate({"phi": Int(z3.IntVal(PHI))}))
    assert z3.simplify(symbolic.term).as_long() == value


def _further_down(frames: int, work: Callable[[], Any]) -> Any:
    return work() if frames == 0 else _further_down(frames - 1, work)


def test_length_is_limited() -> None:
    assert parse_expression("1 + 1".ljust(1000), NAMES).evaluate({}) == 2
    with pytest.raises(UsageError, match="1001 characters"):
        parse_expression("1 + 1".ljust(1001), NAMES)


class Sample(NamedTuple):
    """A text and its value, made together: the value never comes from reading the text."""

    text: str
    value: int


class Case(NamedTuple):
    delta: int
    phi: int
    sample: Sample


Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def cases(draw: Draw) -> Case:
    delta, phi = draw(st.integers(-20, 20)), draw(st.integers(-20, 20))
    return Case(delta, phi, _sum(draw, {"delta": delta, "phi": phi}, depth=2))


def _sum(draw: Draw, values: dict[str, int], depth: int) -> Sample:
    text, value = _product(draw, values, depth)
    for operator in draw(st.lists(st.sampled_from("+-"), max_size=2)):
        operand = _product(draw, values, depth)
        text = f"{text} {operator} {operand.text}"
        value = value + operand.value if operator == "+" else value - operand.value
    return Sample(text, value)


def _product(draw: Draw, values: dict[str, int], depth: int) -> Sample:
    text, value = _factor(draw, values, depth)
    for operator in draw(st.lists(st.sampled_from(["*", "//", "%"]), max_size=2)):
        if operator == "*":
            operand = _factor(draw, values, depth)
            text, value = f"{text}*{operand.text}", value * operand.value
        else:
            divisor = draw(st.integers(1, 9))
            quotient, rest = _floored(value, divisor)
            text, value = f"{text} {operator} {divisor}", quotient if operator == "//" else rest
    return Sample(text, value)


def _factor(draw: Draw, values: dict[str, int], depth: int) -> Sample:
    shapes = ["number", "name"] + (["minus", "plus", "brackets", "min", "max"] if depth > 0 else [])
    shape = draw(st.sampled_from(shapes))
    match shape:
        case "number":
            number = draw(st.integers(0, 30))
            return Sample(str(number), number)
        case "name":
            name = draw(st.sampled_from(NAMES))
            return Sample(name, values[name])
        case "minus":
            operand = _factor(draw, values, depth - 1)
            return Sample(f"-{operand.text}", -operand.value)
        case "plus":
            operand = _factor(draw, values, depth - 1)
            return Sample(f"+{operand.text}", operand.value)
        case "brackets":
            inner = _sum(draw, values, depth - 1)
            return Sample(f"({inner.text})", inner.value)
    arguments = [_sum(draw, values, depth - 1) for _ in range(draw(st.integers(2, 3)))]
    ordered = sorted(argument.value for argument in arguments)
    text = f"{shape}({', '.join(argument.text for argument in arguments)})"
    return Sample(text, ordered[0] if shape == "min" else ordered[-1])


def _floored(value: int, divisor: int) -> tuple[int, int]:
    """Quotient and rest of a division that rounds down, by counting: not by the operators under test."""
    quotient = len(range(divisor, abs(value) + 1, divisor))
    rest = abs(value) - quotient * divisor
    if value >= 0:
        return quotient, rest
    return (-quotient, 0) if rest == 0 else (-quotient - 1, divisor - rest)


@given(cases())
def test_means_what_python_means(case: Case) -> None:
    if len(case.sample.text) > 1000:
        with pytest.raises(UsageError):
            parse_expression(case.sample.text, NAMES)
        return
    expression = parse_expression(case.sample.text, NAMES)
    value = expression.evaluate({"delta": case.delta, "phi": case.phi})
    assert type(value) is int
    assert value == case.sample.value


@given(cases())
def test_means_the_same_to_the_solver(case: Case) -> None:
    if len(case.sample.text) > 1000:
        return
    delta, phi = z3.Ints("delta phi")
    symbolic = parse_expression(case.sample.text, NAMES).evaluate({"delta": Int(delta), "phi": Int(phi)})
    term = symbolic.term if isinstance(symbolic, Int) else build_literal(symbolic).term
    pinned = z3.substitute(term, (delta, z3.IntVal(case.delta)), (phi, z3.IntVal(case.phi)))
    assert z3.simplify(pinned).as_long() == case.sample.value


@pytest.mark.parametrize("divisor", [1, 2, 3, 7])
def test_division_floors_in_the_solver(divisor: int) -> None:
    """Python floors; the claim is proved for every dividend, not sampled."""
    phi = z3.Int("phi")
    quotient = parse_expression(f"phi // {divisor}", NAMES).evaluate({"phi": Int(phi)}).term
    rest = parse_expression(f"phi % {divisor}", NAMES).evaluate({"phi": Int(phi)}).term
    solver = z3.Solver()
    solver.add(z3.Not(z3.And(quotient * divisor + rest == phi, rest >= 0, rest < divisor)))
    assert solver.check() == z3.unsat
