"""Words are only another spelling of bounded integers: every term keeps its value, and what has no bound is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import InternalError
from fdverify.smt.bitvectors import BitvectorTranslator
from fdverify.smt.solver import BitvectorSolver
from fdverify.symbolic.values import Int

Draw = Callable[[st.SearchStrategy[Any]], Any]


class Known(NamedTuple):
    """A term and its value, made together."""

    term: Any
    value: Any


@dataclass
class World:
    """Free truth values and bits, the integers defined over them so far, and the facts that define those."""

    flags: list[Known]
    bits: Known
    integers: list[Known] = field(default_factory=list)
    definitions: list[Any] = field(default_factory=list)

    def pins(self) -> list[Any]:
        return [known.term == _literal(known) for known in (*self.flags, self.bits)]

    def evaluated(self, term: Any) -> Any:
        """What the integer term itself evaluates to, with every constant replaced by its value."""
        constants = (*self.flags, self.bits, *self.integers)
        found = z3.simplify(z3.substitute(term, *((known.term, _literal(known)) for known in constants)))
        return z3.is_true(found) if z3.is_bool(found) else found.as_long()


def _literal(known: Known) -> Any:
    if z3.is_bool(known.term):
        return z3.BoolVal(known.value)
    return z3.BitVecVal(known.value, 3) if z3.is_bv(known.term) else z3.IntVal(known.value)


def integer(draw: Draw, world: World, depth: int) -> Known:
    heads = ["literal"] + ["constant"] * bool(world.integers)
    if depth > 0:
        heads += ["+", "-", "*", "minus", "//", "%", "if", "sum", "product"]
    head = draw(st.sampled_from(heads))
    match head:
        case "literal":
            number = draw(st.integers(-9, 9) | st.integers(-300, 300))
            return Known(z3.IntVal(number), number)
        case "constant":
            constant: Known = draw(st.sampled_from(world.integers))
            return constant
        case "minus":
            operand = integer(draw, world, depth - 1)
            return Known(-operand.term, -operand.value)
        case "//" | "%":
            operand, divisor = integer(draw, world, depth - 1), draw(st.integers(1, 12) | st.sampled_from([16, 100]))
            if head == "//":
                return Known(operand.term / z3.IntVal(divisor), operand.value // divisor)
            return Known(operand.term % z3.IntVal(divisor), operand.value % divisor)
        case "if":
            condition = truth(draw, world, depth - 1)
            then, otherwise = integer(draw, world, depth - 1), integer(draw, world, depth - 1)
            value = then.value if condition.value else otherwise.value
            return Known(z3.If(condition.term, then.term, otherwise.term), value)
    first, second, third = (integer(draw, world, depth - 1) for _ in range(3))
    return {
        "+": Known(first.term + second.term, first.value + second.value),
        "-": Known(first.term - second.term, first.value - second.value),
        "*": Known(first.term * second.term, first.value * second.value),
        "sum": Known(z3.Sum([first.term, second.term, third.term]), first.value + second.value + third.value),
        "product": Known(z3.Product([first.term, second.term, third.term]), first.value * second.value * third.value),
    }[head]


def truth(draw: Draw, world: World, depth: int) -> Known:
    heads = ["flag", "bits"] + (["compare"] * 4 + ["and", "or", "not", "iff", "if", "chosen bits"] if depth > 0 else [])
    head = draw(st.sampled_from(heads))
    match head:
        case "flag":
            flag: Known = draw(st.sampled_from(world.flags))
            return flag
        case "bits":
            number = draw(st.integers(0, 7))
            return Known(world.bits.term == number, world.bits.value == number)
        case "compare":
            return _compared(draw, integer(draw, world, depth - 1), integer(draw, world, depth - 1))
        case "not":
            operand = truth(draw, world, depth - 1)
            return Known(z3.Not(operand.term), not operand.value)
    first, second, third = (truth(draw, world, depth - 1) for _ in range(3))
    terms, values = [first.term, second.term, third.term], [first.value, second.value, third.value]
    if head == "chosen bits":
        number = draw(st.integers(0, 7))
        chosen = world.bits.value if first.value else number
        return Known(z3.If(first.term, world.bits.term, z3.BitVecVal(number, 3)) == 5, chosen == 5)
    return {
        "and": Known(z3.And(terms), all(values)),
        "or": Known(z3.Or(terms), any(values)),
        "iff": Known(first.term == second.term, first.value == second.value),
        "if": Known(z3.If(*terms), second.value if first.value else third.value),
    }[head]


def _compared(draw: Draw, left: Known, right: Known) -> Known:
    a, b = left.term, right.term
    compared: Known = draw(
        st.sampled_from(
            [
                Known(a < b, left.value < right.value),
                Known(a <= b, left.value <= right.value),
                Known(a > b, left.value > right.value),
                Known(a >= b, left.value >= right.value),
                Known(a == b, left.value == right.value),
                Known(a != b, left.value != right.value),
                Known(z3.Distinct(a, b), left.value != right.value),
            ]
        )
    )
    return compared


@st.composite
def worlds(draw: Draw) -> World:
    flags = [Known(z3.Bool(f"b{k}"), draw(st.booleans())) for k in range(3)]
    world = World(flags, Known(z3.BitVec("v", 3), draw(st.integers(0, 7))))
    for k in range(draw(st.integers(0, 4))):
        meaning = integer(draw, world, depth=draw(st.integers(0, 2)))
        constant = z3.Int(f"x{k}")
        meant = meaning.value if z3.is_int_value(meaning.term) else meaning.term
        world.definitions.append(constant == meant)
        world.integers.append(Known(constant, meaning.value))
    return world


@given(data=st.data())
def test_integers_keep_their_value(data: st.DataObject) -> None:
    world = data.draw(worlds())
    term, value = integer(data.draw, world, depth=3)
    assert world.evaluated(term) == value
    words = BitvectorTranslator()
    solver = z3.SolverFor("QF_BV")
    solver.add(*(words.translate_fact(definition) for definition in world.definitions), *world.pins())
    word = words.translate_integer(term)
    assert word.low <= value <= word.high
    assert solver.check() == z3.sat
    assert solver.model().eval(word.bits, model_completion=True).as_signed_long() == value
    solver.add(word.bits != value)
    assert solver.check() == z3.unsat


@given(data=st.data())
def test_formulas_keep_their_value(data: st.DataObject) -> None:
    """Asked the way the engines ask, and read back from the model in integers."""
    world = data.draw(worlds())
    term, value = truth(data.draw, world, depth=3)
    assert world.evaluated(term) is value
    solver = BitvectorSolver()
    solver.add(world.definitions)
    solver.add(world.pins())
    assert solver.ask(z3.Not(term) if value else term).status == "unsat"
    answer = solver.ask(term if value else z3.Not(term))
    assert answer.status == "sat"
    assert answer.get_value(term) is value
    for constant in world.integers:
        assert answer.get_value(constant.term) == constant.value


@pytest.mark.parametrize("compare", [lt, le, gt, ge, eq, ne], ids=lambda compare: compare.__name__)
def test_comparisons_across_widths(compare: Callable[[Any, Any], Any]) -> None:
    """Words of different widths are extended before they are compared, negative ones by their sign."""
    words = BitvectorTranslator()
    for left in range(-9, 10):
        for right in range(-9, 10):
            term = compare(z3.IntVal(left), z3.IntVal(right))
            assert z3.is_true(z3.simplify(words.translate_non_integer(term))) is compare(left, right), term


@given(st.integers(-100, 0), st.integers(0, 100), st.integers(1, 20))
def test_division_floors(low: int, high: int, divisor: int) -> None:
    """Both ends of an interval across zero, and whatever the interval's width does to the words."""
    below, dividend = z3.Bool("below"), z3.Int("dividend")
    for pick, value in ((True, low), (False, high)):
        solver = BitvectorSolver()
        solver.add([dividend == z3.If(below, z3.IntVal(low), z3.IntVal(high))])
        answer = solver.ask(below == pick)
        assert answer.get_value(dividend / divisor) == value // divisor
        assert answer.get_value(dividend % divisor) == value % divisor


x, y, b = z3.Int("x"), z3.Int("y"), z3.Bool("b")


@pytest.mark.parametrize(
    "undefined",
    [
        x > 0,
        x == x,
        z3.If(b, x, 0) == 1,
        x + 1 == 1,
        0 + x == 3,
        z3.And(b, z3.Not(x < 3)),
        x == x + 1,
        x == y,
    ],
    ids=str,
)
def test_an_integer_without_a_definition_is_refused(undefined: Any) -> None:
    with pytest.raises(InternalError, match="used before it is defined"):
        BitvectorTranslator().translate_fact(undefined)


def test_a_refusal_does_not_define() -> None:
    """The same question again is refused again, and the integer can still be defined afterwards."""
    words = BitvectorTranslator()
    for _ in range(2):
        with pytest.raises(InternalError):
            words.translate_non_integer(x > 0)
    words.translate_fact(x == 4)
    assert z3.is_true(
        z3.simplify(z3.substitute(words.translate_non_integer(x > 0), (z3.BitVec("x", 4), z3.BitVecVal(4, 4))))
    )


@pytest.mark.parametrize(
    "definition",
    [x == 4, z3.IntVal(4) == x, (Int(x) == 4).term, (Int(x) == Int(z3.IntVal(4))).term],
    ids=["z3", "literal first", "value", "two values"],
)
def test_a_literal_defines_whichever_side_it_is_on(definition: Any) -> None:
    """Python asks the right-hand side first when its class is the narrower one, so ``x == literal`` comes reversed."""
    solver = BitvectorSolver()
    solver.add([definition])
    answer = solver.ask()
    assert answer.status == "sat"
    assert answer.get_value(x) == 4


def test_a_second_definition_is_a_constraint() -> None:
    """Only the first gives the interval; the second must still be able to contradict it."""
    solver = BitvectorSolver()
    solver.add([x == z3.If(b, z3.IntVal(1), z3.IntVal(2))])
    assert solver.ask().status == "sat"
    solver.add([x == 2])
    assert solver.ask(b).status == "unsat"
    solver.add([x == 1000])
    assert solver.ask().status == "unsat"


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (z3.Distinct(x, y, z3.IntVal(3)), False),
        (z3.Distinct(x, y, z3.IntVal(7)), True),
        (x / y == 3, True),
        (x % y == 1, True),
        (x / z3.IntVal(-2) == -3, True),
        (x % z3.IntVal(-2) == 1, True),
        (x / z3.If(b, z3.IntVal(2), z3.IntVal(1)) == 7, True),
        (z3.Function("f", z3.IntSort(), z3.BoolSort())(x) == z3.Function("f", z3.IntSort(), z3.BoolSort())(y), None),
        (z3.Function("g", z3.IntSort(), z3.IntSort())(x) == 3, None),
        (z3.Abs(x) == 7, True),
        (x**2 == 49, True),
    ],
    ids=str,
)
def test_what_is_not_translated_is_refused(term: Any, value: bool | None) -> None:
    """A term outside the supported ones is translated right or refused as an internal error: never guessed."""
    solver = BitvectorSolver()
    solver.add([x == 7, y == z3.If(b, z3.IntVal(1), z3.IntVal(2)), z3.Not(b)])
    try:
        answer = solver.ask(term)
    except InternalError:
        return
    assert value is not None
    assert answer.status == ("sat" if value else "unsat")


@pytest.mark.parametrize("low", range(-9, 10, 3))
@pytest.mark.parametrize("further", [-4, -1, 0, 1, 6])
def test_an_integer_between_two_bounds_has_exactly_their_values(low: int, further: int) -> None:
    chosen, end = z3.Int("chosen"), z3.Int("end")
    solver = BitvectorSolver()
    solver.add([end == z3.If(b, z3.IntVal(low), z3.IntVal(low + 1)), z3.And(end <= chosen, chosen <= low + further)])
    for value in range(low - 3, low + 10):
        answer = solver.ask(chosen == value)
        assert answer.status == ("sat" if low <= value <= low + further else "unsat")
        if answer.status == "sat":
            assert answer.get_value(chosen) == value


def test_an_integer_with_one_bound_is_refused() -> None:
    chosen, other = z3.Int("chosen"), z3.Int("other")
    for fact in (chosen <= 3, z3.And(chosen >= 0, other >= 0), z3.And(chosen <= 3, chosen <= 4)):
        with pytest.raises(InternalError):
            BitvectorSolver().add([fact])
