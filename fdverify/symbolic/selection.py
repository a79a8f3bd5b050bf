"""Subsets of a symbolic buffer: chosen by the solver, or fixed by a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import z3

from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.buffer import BitvectorBuffer, Buffer, Column, ColumnBuffer
from fdverify.symbolic.age_claims import SymbolicBuffer
from fdverify.symbolic.listed_buffer import ListedBuffer
from fdverify.symbolic.values import Bits, Bool, Int, Value, apply_predicate


class Selection(SymbolicBuffer):
    """A subset of a buffer with symbolic Δ.

    It says whether it is empty, and carries a witness if it is not.  So no question about it ranges over all ages, and
    the formula stays free of quantifiers.
    """

    def __init__(
        self, source: SymbolicBuffer, nonempty: Truth, witness: Number, member: Callable[[Number], Truth]
    ) -> None:
        super().__init__(
            source.delta, lambda age: And(nonempty, Or(age == witness, member(age)), source.has(age)), source.book
        )
        self.nonempty = nonempty
        self.witness = witness
        self.member = member
        self._source = source

    def empty(self) -> Truth:
        return Not(self.nonempty)

    def within(self, other: Buffer) -> Truth:
        assert other is self._source, "a selection is asked about the buffer it selects from"
        return Implies(self.nonempty, self._source.has(self.witness))


def build_fresh_selection(buffer: ColumnBuffer | SymbolicBuffer, name: str) -> Buffer:
    """Build an arbitrary subset of ``buffer`` for the solver to choose; ``within`` says what it must satisfy."""
    if isinstance(buffer, ColumnBuffer):
        columns = buffer.list_columns(buffer.delta)
        if "int" in columns:
            return buffer.from_members(buffer.delta, build_fresh_parts(("bool",) * (buffer.delta + 1), name))
        return buffer.from_columns(buffer.delta, build_fresh_parts(columns, name))
    if isinstance(buffer, ListedBuffer):
        return buffer.build_subset(name)
    return Selection(buffer, Bool(z3.Bool(f"{name}_any")), Int(z3.Int(f"{name}_one")), build_predicate(f"{name}_all"))


Pick: TypeAlias = Literal["oldest", "all"] | frozenset[int] | list[Number]
"""Which ages of a buffer to take: Δ if it is there, all of them, or the listed ones that are there."""


def build_planned_selection(buffer: Any, pick: Pick, when: Truth) -> Buffer:
    """Build the subset of ``buffer`` that a plan picks; it is empty where ``when`` does not hold."""
    if isinstance(buffer, ColumnBuffer):
        picked = _list_picked_ages(pick, buffer.delta)
        members = [And(when, buffer.has(age), age in picked) for age in range(buffer.delta + 1)]
        if not isinstance(buffer, BitvectorBuffer):
            return buffer.from_members(buffer.delta, members)
        mask = sum(1 << age for age in picked if age <= buffer.delta)
        return BitvectorBuffer(buffer.delta, If(when, buffer.bits & mask, buffer.bits & 0))
    if isinstance(pick, str):  # with symbolic Δ there is no witness for "all", so the oldest is taken
        return Selection(buffer, And(when, buffer.has(buffer.delta)), buffer.delta, lambda age: False)
    listed = pick if isinstance(pick, list) else sorted(pick)
    present = And(when, Or(*(buffer.has(age) for age in listed)))
    witness: Number = 0
    for age in listed:
        witness = If(buffer.has(age), age, witness)
    return Selection(buffer, present, witness, lambda age: Or(*(age == member for member in listed)))


def _list_picked_ages(pick: Pick, delta: int) -> frozenset[int]:
    match pick:
        case "oldest":
            return frozenset({delta})
        case "all":
            return frozenset(range(delta + 1))
        case ages:
            return frozenset(ages)


def build_fresh_parts(columns: Sequence[Column], name: str) -> list[Value]:
    names = [name] if len(columns) == 1 else [f"{name}_{k}" for k in range(len(columns))]
    return [_build_constant(column, part) for column, part in zip(columns, names, strict=True)]


def build_predicate(name: str) -> Callable[[Number], Bool]:
    function = z3.Function(name, z3.IntSort(), z3.BoolSort())
    zero = Int(z3.IntVal(0))
    return lambda age: apply_predicate(function, zero.lift(age))


def _build_constant(column: Column, name: str) -> Value:
    match column:
        case "bool":
            return Bool(z3.Bool(name))
        case "int":
            return Int(z3.Int(name))
        case width:
            return Bits(z3.BitVec(name, width))


def read_selection(selection: Any, value: Callable[[Any], Any], delta: int) -> frozenset[int]:
    """Read the ages that a model chose; with symbolic Δ they may exceed the buffer, and the replay drops the rest."""
    if isinstance(selection, Selection):
        if not value(selection.nonempty):
            return frozenset()
        chosen = {value(selection.witness)}
        return frozenset(chosen | {age for age in range(delta + 1) if value(selection.member(age))})
    if isinstance(selection, ListedBuffer):
        return read_listed_ages(selection, value, delta)
    parts = [value(part) for part in selection.to_columns()]
    ages: frozenset[int] = selection.from_columns(delta, parts).ages()
    return ages


def read_listed_ages(buffer: ListedBuffer, value: Callable[[Any], Any], delta: int) -> frozenset[int]:
    """Read the ages of a buffer in a model."""
    younger = {age for age, member in buffer.younger.items() if value(member)}
    return frozenset(younger | {delta} if value(buffer.oldest) else younger)
