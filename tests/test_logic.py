"""The connectives mean the same on Python values, arrays and symbolic values; misuse names the author's line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.errors import UsageError, format_location
from fdverify.logic import And, If, Iff, Implies, Max, Min, Not, Or, SymbolicMisuse, is_truth
from fdverify.symbolic.values import Bits, Bool, Int, Value, build_literal

FLAGS = ("p", "q", "r")
NUMBERS = ("x", "y")
Assignment = Mapping[str, Any]


@dataclass(frozen=True)
class Tree:
    """A formula to be read twice: by ``plainly`` with Python's own words, and by ``connected`` with ours."""

    head: str
    parts: tuple[Any, ...]


def _trees(head: str, *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    return st.builds(Tree, st.just(head), st.tuples(*parts))


def _several(head: str, part: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    return st.builds(Tree, st.just(head), st.lists(part, max_size=3).map(tuple))


def numbers(depth: int) -> st.SearchStrategy[Tree]:
    leaves = _trees("number", st.integers(-3, 3)) | _trees("name", st.sampled_from(NUMBERS))
    if depth == 0:
        return leaves
    below = numbers(depth - 1)
    pairs = st.one_of(*(_trees(head, below, below) for head in ("Min", "Max", "+", "-")))
    return leaves | pairs | _trees("If", truths(depth - 1), below, below)


def truths(depth: int) -> st.SearchStrategy[Tree]:
    leaves = _trees("number", st.booleans()) | _trees("name", st.sampled_from(FLAGS))
    if depth == 0:
        return leaves
    below, values = truths(depth - 1), numbers(depth - 1)
    return st.one_of(
        leaves,
        _several("And", below),
        _several("Or", below),
        _trees("Not", below),
        _trees("Implies", below, below),
        _trees("Iff", below, below),
        _trees("If", below, below, below),
        *(_trees(head, values, values) for head in ("<", "<=", ">", ">=", "==", "!=")),
    )


PLAIN: dict[str, Callable[..., Any]] = {
    "And": lambda *operands: all(operands),
    "Or": lambda *operands: any(operands),
    "Not": lambda operand: not operand,
    "Implies": lambda premise, conclusion: conclusion if premise else True,
    "Iff": lambda left, right: left is right,
    "If": lambda condition, then, otherwise: then if condition else otherwise,
    "Min": min,
    "Max": max,
}
OURS: dict[str, Callable[..., Any]] = {
    "And": And,
    "Or": Or,
    "Not": Not,
    "Implies": Implies,
    "Iff": Iff,
    "If": If,
    "Min": Min,
    "Max": Max,
}
PYTHONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def read(tree: Tree, values: Assignment, connectives: Mapping[str, Callable[..., Any]]) -> Any:
    match tree.head:
        case "number":
            return tree.parts[0]
        case "name":
            return values[tree.parts[0]]
    meaning = connectives.get(tree.head) or PYTHONS[tree.head]
    return meaning(*(read(part, values, connectives) for part in tree.parts))


ROWS = st.lists(
    st.fixed_dictionaries(
        {**{name: st.booleans() for name in FLAGS}, **{name: st.integers(-3, 3) for name in NUMBERS}}
    ),
    min_size=1,
    max_size=4,
)


@given(truths(3) | numbers(3), ROWS)
def test_python_values(tree: Tree, rows: list[Assignment]) -> None:
    for row in rows:
        found, expected = read(tree, row, OURS), read(tree, row, PLAIN)
        assert type(found) is type(expected)
        assert found == expected


@given(truths(3) | numbers(3), ROWS, st.sets(st.sampled_from(FLAGS + NUMBERS)))
def test_arrays(tree: Tree, rows: list[Assignment], batched: set[str]) -> None:
    """Names outside ``batched`` keep one Python value for the whole batch, as parameters do."""
    rows = [{**row, **{name: rows[0][name] for name in FLAGS + NUMBERS if name not in batched}} for row in rows]
    batch = {name: np.array([row[name] for row in rows]) if name in batched else rows[0][name] for name in rows[0]}
    expected = np.array([read(tree, row, PLAIN) for row in rows])
    found = read(tree, batch, OURS)
    assert np.asarray(found).dtype == expected.dtype
    assert np.array_equal(np.broadcast_to(found, expected.shape), expected)


@given(truths(3) | numbers(3), ROWS, st.sets(st.sampled_from(FLAGS + NUMBERS)))
def test_symbolic_values(tree: Tree, rows: list[Assignment], symbolic: set[str]) -> None:
    """Names outside ``symbolic`` keep a Python value, as fixed parameters do."""
    constants = {name: Bool(z3.Bool(name)) if name in FLAGS else Int(z3.Int(name)) for name in rows[0]}
    for row in rows:
        mixed = {name: constants[name] if name in symbolic else row[name] for name in row}
        found = read(tree, mixed, OURS)
        assert evaluated(found, constants, row) == read(tree, row, PLAIN)


def evaluated(found: Any, constants: Mapping[str, Value], row: Assignment) -> Any:
    term = found.term if isinstance(found, Value) else build_literal(found).term
    value = z3.simplify(z3.substitute(term, *((constants[name].term, build_literal(row[name]).term) for name in row)))
    return z3.is_true(value) if z3.is_bool(value) else value.as_long()


def test_arrays_are_not_changed_in_place() -> None:
    """A state is a value: a connective that wrote into its operands would change the state before."""
    p, q = np.array([True, False]), np.array([True, True])
    And(p, q), Or(p, q), Not(p), If(p, p, q)
    assert (p.tolist(), q.tolist()) == ([True, False], [True, True])


P, Q = Bool(z3.Bool("p")), Bool(z3.Bool("q"))
X, Y = Int(z3.Int("x")), Int(z3.Int("y"))

MISUSES: dict[str, Callable[[], object]] = {
    "and": lambda: P and Q,
    "or": lambda: P or Q,
    "not": lambda: not P,
    "if": lambda: 1 if P else 2,
    "if of a comparison": lambda: 1 if X == Y else 2,
    "if of a number": lambda: 1 if X else 2,
    "filter": lambda: [age for age in range(3) if age < X],
    "in a list": lambda: X in [Y],
    "in a range": lambda: X in range(3),
    "in a set": lambda: X in {1, 2},
    "chained comparison": lambda: 0 <= X <= 3,
    "chained equality": lambda: X == Y == 3,
    "min": lambda: min(X, Y),
    "max": lambda: max(X, 0),
    "all": lambda: all([P, Q]),
    "any": lambda: any([P, Q]),
    "sorted": lambda: sorted([X, Y]),
    "bool": lambda: bool(P),
    "hash": lambda: hash(X),
    "hash of a truth value": lambda: hash(P),
    "a set": lambda: {X},
    "a key": lambda: {X: 1},
    "an index": lambda: [1, 2, 3][X],
    "a slice": lambda: [1, 2, 3][:X],
    "a range": lambda: range(X),
    "division by zero": lambda: X // 0,
    "division by a negative number": lambda: X % -2,
    "division by a symbolic value": lambda: X // Y,
    "a truth value as a number": lambda: X + P,
    "a Python truth value as a number": lambda: X + True,
    "a fraction": lambda: X < 0.5,
    "a number as a truth value": lambda: And(P, X),
    "a Python number as a truth value": lambda: Or(P, 1),
    "a negated number": lambda: Not(X),
    "a number as a premise": lambda: Implies(X, P),
    "a number as a condition": lambda: If(X, 1, 2),
    "equivalent numbers": lambda: Iff(X, Y),
    "a number equivalent to a truth value": lambda: Iff(P, 1),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_names_the_line(name: str) -> None:
    """Z3's own terms would answer most of these in silence, and a proof would be of something else."""
    act = MISUSES[name]
    with pytest.raises(SymbolicMisuse) as caught:
        act()
    assert str(caught.value).startswith(f"{format_location(__file__, act.__code__.co_firstlineno)}: ")
    assert caught.value.hint


def _branches() -> int:
    first = X + 1
    if first > 3:
        return 1
    return 2


def _loops() -> None:
    while P:
        pass


@pytest.mark.parametrize(("act", "lines_down"), [(_branches, 2), (_loops, 1)])
def test_misuse_in_a_statement_names_the_line(act: Callable[[], object], lines_down: int) -> None:
    with pytest.raises(SymbolicMisuse) as caught:
        act()
    assert str(caught.value).startswith(f"{format_location(__file__, act.__code__.co_firstlineno + lines_down)}: ")


@pytest.mark.parametrize("wrong", [1, 0, 1.0, "yes", None, [True], np.array([0, 1])])
def test_what_is_no_truth_value_is_refused(wrong: Any) -> None:
    assert not is_truth(wrong)
    acts: list[Callable[[], Any]] = [
        lambda: And(wrong, True),
        lambda: And(True, wrong),
        lambda: Or(wrong, False),
        lambda: Or(False, wrong),
        lambda: Not(wrong),
        lambda: Implies(wrong, True),
        lambda: Implies(True, wrong),
        lambda: Iff(wrong, True),
        lambda: Iff(True, wrong),
        lambda: If(wrong, 1, 2),
    ]
    for act in acts:
        with pytest.raises(UsageError) as caught:
            act()
        place = format_location(__file__, act.__code__.co_firstlineno)
        assert str(caught.value).startswith(f"{place}: expected a truth value")


class Signal(IntEnum):
    """A program counter whose names need two bits."""

    Red = 0
    Amber = 1
    Green = 2


def test_named_integers_are_bits_wide_enough_for_all_names() -> None:
    chosen = If(P, Signal.Red, Signal.Amber)
    assert isinstance(chosen, Bits)
    assert chosen.term.size() == 2
    assert proved(Iff(chosen == Signal.Red, P))
    assert proved(Iff(chosen == Signal.Amber, Not(P)))
    assert proved(chosen != Signal.Green)


@pytest.mark.parametrize("number", [4, 6, -1])
def test_bits_do_not_equal_a_number_they_cannot_hold(number: int) -> None:
    """A Python number never equals such a number, so cutting it down to the width would give a model two meanings."""
    light = Bits(z3.BitVec("light", 2))
    try:
        same = light == number
    except SymbolicMisuse:
        return
    assert proved(Not(same))


def proved(claim: Any) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(claim.term))
    return bool(solver.check() == z3.unsat)
