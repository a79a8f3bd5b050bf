"""The order encoding is only another spelling of integers: what it decides is what linear arithmetic decides."""

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
from fdverify.smt.order_encoding import OrderTranslator
from fdverify.smt.solver import FreshSolver, OrderSolver

P, Q, F = z3.Int("p"), z3.Int("q"), z3.Bool("f")
LEAST = {"p": 0, "q": 1}
COMPARISONS = [eq, ne, le, lt, ge, gt]

Draw = Callable[[st.SearchStrategy[Any]], Any]


class Known(NamedTuple):
    """A term and its value, made together."""

    term: Any
    value: Any


@dataclass
class World:
    """Two parameters and a truth value, the integers defined over them so far, and the facts that define those."""

    parameters: list[Known]
    flag: Known
    integers: list[Known] = field(default_factory=list)
    definitions: list[Any] = field(default_factory=list)

    @property
    def pins(self) -> list[Any]:
        return [known.term == known.value for known in (*self.parameters, self.flag)]

    def define(self, meaning: Known) -> None:
        constant = z3.Int(f"x{len(self.integers)}")
        self.definitions.append(constant == meaning.term)
        self.integers.append(Known(constant, meaning.value))


def integer(draw: Draw, world: World, depth: int) -> Known:
    heads = ["literal", "constant"] + (["+", "-", "minus", "times", "//", "if"] if depth > 0 else [])
    head = draw(st.sampled_from(heads))
    if head == "literal":
        number = draw(st.integers(-9, 9))
        return Known(z3.IntVal(number), number)
    if head == "constant":
        constant: Known = draw(st.sampled_from([*world.parameters, *world.integers]))
        return constant
    first, second = integer(draw, world, depth - 1), integer(draw, world, depth - 1)
    factor, divisor = draw(st.integers(-4, 4)), draw(st.integers(1, 5))
    return {
        "+": Known(first.term + second.term, first.value + second.value),
        "-": Known(first.term - second.term, first.value - second.value),
        "minus": Known(-first.term, -first.value),
        "times": Known(factor * first.term, factor * first.value),
        "//": Known(first.term / z3.IntVal(divisor), first.value // divisor),
        "if": Known(z3.If(F, first.term, second.term), first.value if world.flag.value else second.value),
    }[head]


def truth(draw: Draw, world: World, depth: int) -> Known:
    head = draw(st.sampled_from(["compare"] * 3 + (["and", "or", "not", "if"] if depth > 0 else [])))
    if head == "compare":
        left, right, compare = integer(draw, world, 2), integer(draw, world, 2), draw(st.sampled_from(COMPARISONS))
        return Known(compare(left.term, right.term), compare(left.value, right.value))
    first, second = truth(draw, world, depth - 1), truth(draw, world, depth - 1)
    return {
        "and": Known(z3.And(first.term, second.term), first.value and second.value),
        "or": Known(z3.Or(first.term, second.term), first.value or second.value),
        "not": Known(z3.Not(first.term), not first.value),
        "if": Known(z3.If(F, first.term, second.term), first.value if world.flag.value else second.value),
    }[head]


@st.composite
def worlds(draw: Draw) -> World:
    values = [Known(P, draw(st.integers(0, 12))), Known(Q, draw(st.integers(1, 12)))]
    world = World(values, Known(F, draw(st.booleans())))
    for _ in range(draw(st.integers(0, 3))):
        world.define(integer(draw, world, 2))
    return world


def solver_of(*facts: Any) -> OrderSolver:
    solver = OrderSolver(LEAST)
    solver.add([P >= 0, Q >= 1, *facts])
    return solver


@given(data=st.data())
def test_every_formula_keeps_its_value(data: st.DataObject) -> None:
    world = data.draw(worlds())
    formula = truth(data.draw, world, 2)
    solver = solver_of(*world.definitions)
    for claim, holds in ((formula.term, formula.value), (z3.Not(formula.term), not formula.value)):
        answer = solver.ask(claim, *world.pins)
        assert answer.status == ("sat" if holds else "unsat")
        if holds:
            assert [answer.get_value(each.term) for each in world.integers] == [each.value for each in world.integers]


@given(data=st.data())
def test_what_can_be_is_what_can_be_in_linear_arithmetic(data: st.DataObject) -> None:
    world = data.draw(worlds())
    questions = [truth(data.draw, world, 2).term for _ in range(3)]
    solver, arithmetic = solver_of(*world.definitions), FreshSolver()
    arithmetic.add([P >= 0, Q >= 1, *world.definitions])
    for number in range(len(questions)):
        asked = questions[: number + 1]
        answer = solver.ask(*asked)
        assert answer.status == arithmetic.ask(*asked).status
        assert answer.status == "unsat" or all(answer.get_value(part) for part in asked)


def refuse_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: FreshSolver, *query: object) -> None:
        raise AssertionError("linear arithmetic is asked")

    monkeypatch.setattr(FreshSolver, "ask", ask)


def counted(rounds: int) -> list[Any]:
    """Define a counter that may be reset in every round."""
    facts = [z3.Int("x0") == 0]
    for number in range(rounds):
        before, after = z3.Int(f"x{number}"), z3.Int(f"x{number + 1}")
        facts.append(after == z3.If(z3.Bool(f"reset{number}"), 0, before + 1))
    return facts


def test_a_counter_against_parameters_needs_no_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_arithmetic(monkeypatch)
    solver = solver_of(*counted(20))
    last = z3.Int("x20")
    assert solver.ask(last >= 3 * Q + P, Q >= 7).status == "unsat"
    assert solver.ask(last > 20).status == "unsat"
    with pytest.raises(AssertionError, match="linear arithmetic is asked"):  # for the integers of a model
        solver.ask(last >= 3 * Q + P, Q >= 6)


@pytest.mark.slow
def test_a_long_run_is_no_deep_recursion() -> None:
    solver = solver_of(*counted(3000))
    assert solver.ask(z3.Int("x3000") >= P + 4, z3.Int("x2999") == 2, P >= 0).status == "unsat"
    assert solver.ask(z3.Int("x3000") >= P + 3, z3.Int("x2999") == 2).status == "sat"


UNBOUNDED = {
    "two parameters": P > Q,
    "a product": P * Q == 6,
    "a remainder": P % 3 == 1,
    "no definition": z3.Int("free") > P,
    "a function": z3.Function("h", z3.IntSort(), z3.BoolSort())(P),
    "many numbers": z3.If(F, P, -5000) + z3.If(z3.Bool("g"), -P, 5000) > z3.If(F, 3000, -3000),
}


@pytest.mark.parametrize("fact", UNBOUNDED.values(), ids=UNBOUNDED)
def test_what_has_no_encoding_is_neither_dropped_nor_guessed(fact: Any) -> None:
    assert solver_of().ask(fact).status == "sat"
    assert solver_of().ask(fact, z3.Not(fact)).status == "unsat"
    solver = solver_of(fact)
    assert solver.ask(z3.Not(fact)).status == "unsat"
    assert solver.ask(P >= 1).status == "sat"
    assert solver.ask(P < 0).status == "unsat"


def test_a_fact_that_comes_after_one_without_encoding_counts() -> None:
    solver = solver_of(P > Q)
    solver.add([P <= 3])
    assert solver.ask(Q >= 3).status == "unsat"
    assert solver.ask(Q >= 2).status == "sat"


def test_a_truth_value_without_a_definition_is_not_left_behind() -> None:
    """That the difference is at least 3 gets a name, but has no encoding; the name must not be left open."""
    solver = solver_of(z3.Int("difference") == P - Q, *counted(5))
    for _ in range(2):
        assert solver.ask(z3.Int("difference") >= 3, P <= 3).status == "unsat"
        assert solver.ask(z3.Int("difference") >= 3).status == "sat"
        assert solver.ask(z3.Int("x5") >= P, P >= 6).status == "unsat"
        assert solver.ask(z3.Int("x5") >= P, P >= 5).status == "sat"


def test_a_wrong_encoding_is_noticed_in_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    original = OrderTranslator._compare_summand
    monkeypatch.setattr(
        OrderTranslator, "_compare_summand", lambda self, part, number: original(self, part, number + 1)
    )
    with pytest.raises(InternalError, match="rejects a model"):
        solver_of().ask(P == 3)
