"""The vocabulary of a proof: the comparisons and the queries to buffers that its claims are made of.

Claims are evaluated on symbolic constants, and on buffers that record the queries; the comparisons are then read from
the terms.  A missing conjunct is likely to use the same vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Self

import z3

from fdverify.discovery.clauses.clause import AtMost, Condition, HasResidue, InTransit, Is, IsAt, Linear
from fdverify.engines.inductive import Invariant
from fdverify.errors import FdverifyError
from fdverify.logic import Number, Truth
from fdverify.models.buffer import Buffer
from fdverify.models.layout import columns_of
from fdverify.models.system import Ages, Flags, Labels, Property, State, System
from fdverify.symbolic.selection import fresh_parts
from fdverify.symbolic.values import Bool, Int, truth

_MOST_CASES = 8


def words(invariant: Invariant) -> list[Condition]:
    """Collect the conditions that the model's sorts offer, then those in the claims; none comes with its negation."""
    system = invariant.system
    vocabulary = dict.fromkeys(_of_sorts(system))
    state = _constants(system)
    claims = [claim for claim in (*invariant.conjuncts, *invariant.conclusions) if isinstance(claim, Property)]
    for claim in claims:
        try:
            term = truth(claim.holds(state))
        except FdverifyError:  # the claim makes a query that only real buffers can answer
            continue
        for condition in _conditions(term, system):
            if condition.negated() not in vocabulary:
                vocabulary[condition] = None
    buffers = [state[v.name] for v in system.variables if isinstance(v.sort, Ages)]
    for condition in [asked for buffer in buffers for asked in buffer.asked]:
        if condition.negated() not in vocabulary:
            vocabulary[condition] = None
    return list(vocabulary)


def _of_sorts(system: System) -> Iterator[Condition]:
    for variable in system.variables:
        match variable.sort:
            case Ages(bound=bound):
                delta = Linear.of({bound: 1})
                yield InTransit(variable.name, bound, True)
                yield InTransit(variable.name, bound, True, delta, delta)
            case Labels(names=names):
                yield from (IsAt(variable.name, label) for label in names)
            case Flags():
                yield Is(variable.name, True)
            case _:
                pass


class _Asked(Buffer):
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
        for first in _sums(_term(low)):
            for last in _sums(_term(high)):
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

    def within(self, other: Self) -> Truth:
        return Bool(z3.FreshBool("asked"))


def _constants(system: System) -> State:
    values: dict[str, Any] = {p.name: Int(z3.Int(p.name)) for p in system.parameters}
    for variable in system.variables:
        if isinstance(variable.sort, Ages):
            values[variable.name] = _Asked(variable.name, variable.sort.bound, values[variable.sort.bound])
        else:
            (values[variable.name],) = fresh_parts(columns_of(variable, values), variable.name)
    return State(values)


def _term(value: Number) -> Any:
    return value.term if isinstance(value, Int) else z3.IntVal(value)


def _conditions(term: Any, system: System) -> Iterator[Condition]:
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
            yield from _residues(*sides)
        if not z3.is_bool(part) or len(sides) != 2:
            continue
        left, right = sides
        if z3.is_bv(left) and z3.is_bv_value(right):
            if z3.is_const(left) and left.decl().name() in labels:
                yield IsAt(left.decl().name(), labels[left.decl().name()](right.as_long()))
        elif z3.is_int(left):
            yield from _comparisons(part, left, right)


def _comparisons(part: Any, left: Any, right: Any) -> Iterator[Condition]:
    for one in _sums(left):
        for other in _sums(right):
            if one.minus(other).coefficients == ():
                continue
            if z3.is_le(part) or z3.is_eq(part):
                yield AtMost.zero(one.minus(other))
            if z3.is_ge(part) or z3.is_eq(part):
                yield AtMost.zero(other.minus(one))
            if z3.is_lt(part):
                yield AtMost.zero(one.minus(other).shifted(1))
            if z3.is_gt(part):
                yield AtMost.zero(other.minus(one).shifted(1))


def _residues(number: Any, modulus: Any) -> Iterator[Condition]:
    for total in _sums(number):
        changing = total.shifted(-total.constant)
        if changing.coefficients and z3.is_int_value(modulus):
            yield from (HasResidue(changing, modulus.as_long(), residue) for residue in range(modulus.as_long()))


def _sums(term: Any) -> list[Linear]:
    """Read a number as linear sums, one for each branch of its conditionals; none if it is not linear."""
    if z3.is_int_value(term):
        return [Linear((), term.as_long())]
    if z3.is_const(term):
        return [Linear.of({term.decl().name(): 1})]
    children = term.children()
    if z3.is_app_of(term, z3.Z3_OP_ITE):
        return _few([*_sums(children[1]), *_sums(children[2])])
    if z3.is_app_of(term, z3.Z3_OP_UMINUS):
        return [Linear((), 0).minus(value) for value in _sums(children[0])]
    if z3.is_add(term) or z3.is_sub(term):
        sign = 1 if z3.is_add(term) else -1
        totals = _sums(children[0])
        for child in children[1:]:
            totals = [total.plus(value, sign) for total in totals for value in _sums(child)]
        return _few(totals)
    if z3.is_mul(term) and len(children) == 2:
        return _few([total for a in _sums(children[0]) for b in _sums(children[1]) for total in _product(a, b)])
    return []


def _few(sums: Iterable[Linear]) -> list[Linear]:
    return list(dict.fromkeys(sums))[:_MOST_CASES]


def _product(a: Linear, b: Linear) -> list[Linear]:
    """Multiply two sums, one of which is a constant, or both of which are multiples of one variable; else none."""
    if a.coefficients and b.coefficients:
        (first, *more), (second, *others) = a.coefficients, b.coefficients
        names = "*".join(sorted((first[0], second[0])))
        single = not (more or others or a.constant or b.constant or names.count("*") > 1)
        return [Linear.of({names: first[1] * second[1]})] if single else []
    number, value = (a.constant, b) if not a.coefficients else (b.constant, a)
    return [Linear((), 0).plus(value, number)]
