"""The vocabulary of a proof: the comparisons and the queries to buffers that its claims are made of.

Claims are evaluated on symbolic constants, and on buffers that record the queries; the comparisons are then read from
the terms.  A missing conjunct is likely to use the same vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Self

import z3

from fdverify.errors import FdverifyError
from fdverify.invariant_search.clause import AtMost, Condition, FlagIs, HasResidue, InTransit, LabelIs, LinearSum
from fdverify.logic import Number, Truth
from fdverify.models.buffer import Buffer
from fdverify.models.system import Ages, Flags, Labels, Property, State, System
from fdverify.obligations.inductive import Invariant
from fdverify.runs.layout import list_variable_columns
from fdverify.symbolic.selection import build_fresh_parts
from fdverify.symbolic.values import Bool, Int, lift_truth

_MOST_CASES = 8


def collect_vocabulary(invariant: Invariant) -> list[Condition]:
    """Collect the conditions that the model's sorts offer, then those in the claims; none comes with its negation."""
    system = invariant.system
    vocabulary = dict.fromkeys(_list_sort_conditions(system))
    state = _build_constant_state(system)
    claims = [claim for claim in (*invariant.conjuncts, *invariant.conclusions) if isinstance(claim, Property)]
    for claim in claims:
        try:
            term = lift_truth(claim.holds(state))
        except FdverifyError:  # the claim makes a query that only real buffers can answer
            continue
        for condition in _extract_conditions(term, system):
            if condition.negate() not in vocabulary:
                vocabulary[condition] = None
    buffers = [state[v.name] for v in system.variables if isinstance(v.sort, Ages)]
    for condition in [asked for buffer in buffers for asked in buffer.asked]:
        if condition.negate() not in vocabulary:
            vocabulary[condition] = None
    return list(vocabulary)


def _list_sort_conditions(system: System) -> Iterator[Condition]:
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                delta = LinearSum.from_coefficients({bound: 1})
                yield InTransit(variable.name, bound, True)
                yield InTransit(variable.name, bound, True, delta, delta)
            case Labels(names=names):
                yield from (LabelIs(variable.name, label) for label in names)
            case Flags():
                yield FlagIs(variable.name, True)
            case _:
                pass


class _RecordingBuffer(Buffer):
    """A buffer that records its queries, and answers them with fresh unknowns."""

    encoding: ClassVar[str] = "asked"

    def __init__(self, name: str, bound: str, delta: Number) -> None:
        self._name = name
        self._bound = bound
        self.delta = delta
        self.asked: list[InTransit] = []

    def has(self, age: Number) -> Truth:
        return self.any(age, age)

    def any(self, low: Number, high: Number) -> Truth:
        for first in _read_sums(_to_term(low)):
            for last in _read_sums(_to_term(high)):
                self.asked.append(InTransit(self._name, self._bound, True, first, last))
        return Bool(z3.FreshBool("asked"))

    def empty(self) -> Truth:
        return Bool(z3.FreshBool("asked"))

    def exists(self, low: Number, high: Number, body: Callable[[Number], Truth]) -> Truth:
        return Bool(z3.FreshBool("asked"))

    forall = exists

    def send(self, when: Truth) -> Self:
        return self

    def age(self, when: Truth = True) -> Self:
        return self

    def deliver(self, delivered: Self) -> Self:
        return self

    def clear(self, when: Truth = True) -> Self:
        return self

    def within(self, other: Self) -> Truth:
        return Bool(z3.FreshBool("asked"))


def _build_constant_state(system: System) -> State:
    values: dict[str, Any] = {p.name: Int(z3.Int(p.name)) for p in system.parameters}
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            values[variable.name] = _RecordingBuffer(variable.name, variable.sort.bound, values[variable.sort.bound])
        else:
            (values[variable.name],) = build_fresh_parts(list_variable_columns(variable, values), variable.name)
    return State(values)


def _to_term(value: Number) -> Any:
    return value.term if isinstance(value, Int) else z3.IntVal(value)


def _extract_conditions(term: Any, system: System) -> Iterator[Condition]:
    """Extract the comparisons from a formula."""
    seen, waiting = set[int](), [term]
    labels = {v.name: v.sort.names for v in system.variables if isinstance(v.sort, Labels)}
    while waiting:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        sides = part.children()
        waiting += reversed(sides)
        if z3.is_mod(part):
            yield from _extract_residues(*sides)
        if not z3.is_bool(part) or len(sides) != 2:
            continue
        left, right = sides
        if z3.is_bv(left) and z3.is_bv_value(right):
            if z3.is_const(left) and left.decl().name() in labels:
                yield LabelIs(left.decl().name(), labels[left.decl().name()](right.as_long()))
        elif z3.is_int(left):
            yield from _extract_comparisons(part, left, right)


def _extract_comparisons(part: Any, left: Any, right: Any) -> Iterator[Condition]:
    for one in _read_sums(left):
        for other in _read_sums(right):
            if one.subtract(other).coefficients == ():
                continue
            if z3.is_le(part) or z3.is_eq(part):
                yield AtMost.from_excess(one.subtract(other))
            if z3.is_ge(part) or z3.is_eq(part):
                yield AtMost.from_excess(other.subtract(one))
            if z3.is_lt(part):
                yield AtMost.from_excess(one.subtract(other).add_constant(1))
            if z3.is_gt(part):
                yield AtMost.from_excess(other.subtract(one).add_constant(1))


def _extract_residues(number: Any, modulus: Any) -> Iterator[Condition]:
    for total in _read_sums(number):
        changing = total.add_constant(-total.constant)
        if changing.coefficients and z3.is_int_value(modulus):
            yield from (HasResidue(changing, modulus.as_long(), residue) for residue in range(modulus.as_long()))


def _read_sums(term: Any) -> list[LinearSum]:
    """Read a number as linear sums, one for each branch of its conditionals; none if it is not linear."""
    if z3.is_int_value(term):
        return [LinearSum((), term.as_long())]
    if z3.is_const(term):
        return [LinearSum.from_coefficients({term.decl().name(): 1})]
    children = term.children()
    if z3.is_app_of(term, z3.Z3_OP_ITE):
        return _limit_cases([*_read_sums(children[1]), *_read_sums(children[2])])
    if z3.is_app_of(term, z3.Z3_OP_UMINUS):
        return [LinearSum((), 0).subtract(value) for value in _read_sums(children[0])]
    if z3.is_add(term) or z3.is_sub(term):
        sign = 1 if z3.is_add(term) else -1
        totals = _read_sums(children[0])
        for child in children[1:]:
            totals = [total.add(value, sign) for total in totals for value in _read_sums(child)]
        return _limit_cases(totals)
    if z3.is_mul(term) and len(children) == 2:
        return _limit_cases(
            [total for a in _read_sums(children[0]) for b in _read_sums(children[1]) for total in _multiply_sums(a, b)]
        )
    return []


def _limit_cases(sums: Iterable[LinearSum]) -> list[LinearSum]:
    return list(dict.fromkeys(sums))[:_MOST_CASES]


def _multiply_sums(a: LinearSum, b: LinearSum) -> list[LinearSum]:
    """Multiply two sums, one of which is a constant, or both of which are multiples of one variable; else none."""
    if a.coefficients and b.coefficients:
        (first, *more), (second, *others) = a.coefficients, b.coefficients
        names = "*".join(sorted((first[0], second[0])))
        single = not (more or others or a.constant or b.constant or names.count("*") > 1)
        return [LinearSum.from_coefficients({names: first[1] * second[1]})] if single else []
    number, value = (a.constant, b) if not a.coefficients else (b.constant, a)
    return [LinearSum((), 0).add(value, number)]
