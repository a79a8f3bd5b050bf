"""Clauses from Z3's Spacer: summarised rounds as constrained Horn clauses, with a relation for each control state.

A control state fixes every program counter and flag.  The rules between control states are then conjunctions of linear
comparisons, for which Spacer works best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import z3

from fdverify.invariant_search.clause import AtMost, Clause, Condition, FlagIs, InTransit, LabelIs, LinearSum
from fdverify.invariant_search.summarised_round import SummarisedRound
from fdverify.models.system import Ages, Flags, Integers, Labels, Property, State, Variable
from fdverify.symbolic.values import Value, build_literal, lift_truth

ControlState: TypeAlias = tuple[Any, ...]
"""A control state: a value for each program counter and flag."""


class SpacerQuery:
    """The query whether a claim can be violated, and the clauses of the invariant if it cannot be."""

    def __init__(self, step: SummarisedRound, claim: Property, seed: int) -> None:
        self._step = step
        self._system = step.system
        self._engine = z3.Fixedpoint()
        self._engine.set("engine", "spacer")
        self._engine.set("spacer.random_seed", seed)
        self._settled = [v for v in self._system.variables if isinstance(v.sort, Labels | Flags)]
        self._parameters = [z3.Int(name) for name in self._system.list_arbitrary()]
        self._numbers = self._list_numbers(step.before)
        self._after = [z3.Int(f"{number}'") for number in self._numbers]
        width = len(self._parameters) + len(self._numbers)
        self._relations = {
            place: z3.Function(f"place{index}", *[z3.IntSort()] * width, z3.BoolSort())
            for index, place in enumerate(product(*(_list_values(v) for v in self._settled)))
        }
        for relation in self._relations.values():
            self._engine.register_relation(relation)
        self._broken = z3.Function("broken", z3.BoolSort())
        self._engine.register_relation(self._broken)
        self._add_rules(claim)

    def can_violate(self) -> bool | None:
        """Return whether the claim can be violated over summarised rounds; ``None`` if Spacer gives up."""
        status = self._engine.query(self._broken())
        return None if status == z3.unknown else bool(status == z3.sat)

    def enumerate_clauses(self) -> Iterator[Clause]:
        """Enumerate clauses that hold in each control state, as far as they can be written with the model's variables.

        The claim must be proved before.  Each clause comes in several versions, some stronger than Spacer's own: which
        of them are inductive is decided elsewhere.
        """
        for place, relation in self._relations.items():
            cover = z3.substitute_vars(self._engine.get_cover_delta(-1, relation), *self._parameters, *self._numbers)
            here = tuple(
                FlagIs(v.name, value) if isinstance(v.sort, Flags) else LabelIs(v.name, value)
                for v, value in zip(self._settled, place, strict=True)
            )
            for clause in _split_conjuncts(z3.simplify(cover)):
                conditions = self._read_conditions(clause)
                if conditions:
                    yield from _build_clauses(here, conditions)

    def _add_rules(self, claim: Property) -> None:
        step = self._step
        moves = z3.And(
            *step.parameter_facts,
            *step.list_buffer_constraints(step.before),
            *(lift_truth(bounds.holds(step.before)) for bounds in self._system.list_ranges()),
            *step.allowed,
        )
        broken = z3.And(*step.list_buffer_constraints(step.before), z3.Not(lift_truth(claim.holds(step.before))))
        following = [z3.And(*(a == n for a, n in zip(self._after, self._list_numbers(step.after), strict=True))), moves]
        arrivals = {place: self._encode_control_state(step.after, place) for place in self._relations}
        for constant in _collect_constants([*self._parameters, *self._numbers, broken, *following, *arrivals.values()]):
            self._engine.declare_var(constant)
        for place, relation in self._relations.items():
            known = relation(*self._parameters, *self._numbers)
            bad = self._specialise_formula(place, broken)
            if _may_be_satisfiable(bad):
                self._engine.rule(self._broken(), [known, bad])
            for goal, arrives in arrivals.items():
                body = self._specialise_formula(place, z3.And(*following, arrives))
                if _may_be_satisfiable(body):
                    self._engine.rule(self._relations[goal](*self._parameters, *self._after), [known, body])
        start = next(
            place
            for place in self._relations
            if z3.is_true(z3.simplify(self._encode_control_state(step.initial, place)))
        )
        numbers = self._list_numbers(step.initial)
        self._engine.rule(self._relations[start](*self._parameters, *numbers), list(step.parameter_facts))

    def _list_numbers(self, state: State) -> list[Any]:
        numbers: list[Any] = []
        for variable in self._system.variables:
            value = state[variable.name]
            if isinstance(variable.sort, Ages):
                numbers += [_to_term(value.oldest), _to_term(value.youngest)]
            elif isinstance(variable.sort, Integers):
                numbers.append(_to_term(value))
        return numbers

    def _encode_control_state(self, state: State, place: ControlState) -> Any:
        pairs = zip(self._settled, place, strict=True)
        return z3.And(*(_to_term(state[v.name]) == build_literal(value).term for v, value in pairs))

    def _specialise_formula(self, place: ControlState, formula: Any) -> Any:
        """Specialise a formula about a round to rounds that begin in a control state."""
        pairs = zip(self._settled, place, strict=True)
        known = [(self._step.before[v.name].term, build_literal(value).term) for v, value in pairs]
        return z3.simplify(z3.substitute(formula, *known))

    def _read_conditions(self, clause: Any) -> list[Condition] | None:
        """Read a disjunction of comparisons as conditions; ``None`` if one of them cannot be written as a condition."""
        conditions: list[Condition] = []
        for part in clause.children() if z3.is_or(clause) else [clause]:
            sum_ = _read_nonnegative_sum(part)
            condition = None if sum_ is None else self._read_condition(sum_)
            if condition is None:
                return None
            conditions.append(condition)
        return conditions

    def _read_condition(self, total: LinearSum) -> Condition | None:
        """Write ``total >= 0`` as a condition, if it has at most one end of a buffer, with coefficient 1 or -1."""
        coefficients = dict(total.coefficients)
        ends = [name for name in coefficients if "." in name]
        if not ends:
            return AtMost.from_excess(LinearSum(()).subtract(total))
        if len(ends) > 1 or abs(coefficients[ends[0]]) > 1:
            return None
        name, _, end = ends[0].partition(".")
        variable = next(v for v in self._system.variables if v.name == name)
        assert isinstance(variable.sort, Ages), "only buffers have ends"
        bound, sign = variable.sort.bound, coefficients.pop(ends[0])
        rest = LinearSum.from_coefficients(coefficients, total.constant)
        negative = LinearSum(()).subtract(rest)
        match end, sign:
            case "oldest", 1:
                return _build_in_transit(name, bound, True, low=negative)
            case "oldest", _:
                return _build_in_transit(name, bound, False, low=rest.add_constant(1))
            case _, 1:
                return _build_in_transit(name, bound, False, high=negative.add_constant(-1))
            case _:
                return _build_in_transit(name, bound, True, high=rest)


def _build_clauses(here: tuple[Condition, ...], conditions: Sequence[Condition]) -> Iterator[Clause]:
    """Build clauses that say that one of the conditions holds: here or anywhere, with or without age limits."""
    *others, last = conditions
    premises = tuple(condition.negate() for condition in others)
    # In the summary of an empty buffer, the oldest age is -1 and the youngest is above delta.
    possible = tuple(limit for condition in conditions if (limit := _build_age_limit(condition)) is not None)
    for place in ((), here):
        yield Clause((*place, *premises), last)
        if possible:
            yield Clause((*place, *premises, *possible), last)


def _build_age_limit(condition: Condition) -> Condition | None:
    """Build the condition that the age limit of a message in transit is a possible age."""
    match condition:
        case InTransit(yes=True, low=LinearSum() as low, high=None):
            return AtMost(LinearSum(()), low)
        case InTransit(yes=True, low=None, high=LinearSum() as high, bound=bound):
            return AtMost(high, LinearSum.from_coefficients({bound: 1}))
    return None


def _may_be_satisfiable(body: Any) -> bool:
    """Return whether the body of a rule may be satisfiable; other rules would only slow Spacer down."""
    solver = z3.Solver()
    return bool(solver.check(body) != z3.unsat)


def _build_in_transit(
    name: str, bound: str, yes: bool, low: LinearSum | None = None, high: LinearSum | None = None
) -> Condition:
    delta = LinearSum.from_coefficients({bound: 1})
    if low == LinearSum(()) or high == delta:
        return InTransit(name, bound, yes)
    if low == delta:
        return InTransit(name, bound, yes, low, low)
    return InTransit(name, bound, yes, low, high)


def _list_values(variable: Variable) -> list[Any]:
    return list(variable.sort.names) if isinstance(variable.sort, Labels) else [False, True]


def _to_term(value: Any) -> Any:
    return value.term if isinstance(value, Value) else build_literal(value).term


def _collect_constants(formulas: list[Any]) -> list[Any]:
    constants, seen, waiting = list[Any](), set[int](), list(formulas)
    while waiting:
        term = waiting.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            constants.append(term)
        waiting += term.children()
    return constants


def _split_conjuncts(formula: Any) -> list[Any]:
    if z3.is_and(formula):
        return [part for child in formula.children() for part in _split_conjuncts(child)]
    return [] if z3.is_true(formula) else [formula]


def _read_nonnegative_sum(comparison: Any) -> LinearSum | None:
    """Read a comparison of integers as a sum that it says is not negative; ``None`` if it is not linear."""
    if z3.is_not(comparison):
        positive = _read_nonnegative_sum(comparison.arg(0))
        return None if positive is None else LinearSum(()).subtract(positive).add_constant(-1)
    if not (z3.is_le(comparison) or z3.is_ge(comparison) or z3.is_lt(comparison) or z3.is_gt(comparison)):
        return None
    left, right = (_read_linear_sum(side) for side in comparison.children())
    if left is None or right is None:
        return None
    larger, smaller = (left, right) if z3.is_ge(comparison) or z3.is_gt(comparison) else (right, left)
    strict = z3.is_lt(comparison) or z3.is_gt(comparison)
    return larger.subtract(smaller).add_constant(-1 if strict else 0)


def _read_linear_sum(term: Any) -> LinearSum | None:
    if z3.is_int_value(term):
        return LinearSum((), term.as_long())
    if z3.is_const(term):
        return LinearSum.from_coefficients({str(term): 1})
    parts = [part for part in map(_read_linear_sum, term.children()) if part is not None]
    if len(parts) < term.num_args():
        return None
    if z3.is_add(term):
        return reduce(LinearSum.add, parts)
    if z3.is_mul(term) and len(parts) == 2 and not parts[0].coefficients:
        return LinearSum(()).add(parts[1], parts[0].constant)
    return None
