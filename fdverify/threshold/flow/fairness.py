"""FAIR (every process has received what is due) as a formula over the numbers of processes with a status.

The automaton does not record what was received.  That is no loss at a status with a self-loop that allows whatever can
have been received before: there, a process has received what is due if and only if it can receive it now.  For the
other statuses there is only a necessary condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from fdverify.threshold.claims.nnf import conjoin_all, disjoin_all, disjoin_formulas
from fdverify.threshold.flow.arcs import Arc, ReceptionConstraint, at_most, less_than
from fdverify.threshold.flow.control_flow import ControlFlow
from fdverify.threshold.flow.flow_locations import FlowLayout
from fdverify.threshold.flow.reception_history import History, Reception, compute_histories, is_never_more
from fdverify.threshold.ltl_formula import Constant, Formula, LinearComparison, LinearExpression
from fdverify.threshold.text.read import parse_linear

Due = Mapping[str, LinearExpression]

Choice = tuple[tuple[Arc, ...], tuple[str, ...]]
"""Steps that receive disjoint sets of counters, and the counters that none of them receives."""

_NOTHING = LinearExpression()
_MOST_CHOICES = 300


@dataclass(frozen=True)
class FairnessCondition:
    needed: Formula
    """A necessary condition for FAIR; it is also sufficient if no process has an ``unclear`` status."""
    unclear: tuple[str, ...]


def parse_due(flow: ControlFlow) -> dict[str, LinearExpression]:
    return {
        counter: parse_linear(text, (*flow.shared, *flow.parameters), f"{flow.name}: due {counter}")
        for counter, text in flow.due.items()
    }


def build_fairness(flow: ControlFlow, arcs: Sequence[Arc], layout: FlowLayout, due: Due) -> FairnessCondition:
    """Build the formula for FAIR, status by status."""
    known = compute_histories(flow, arcs)
    needed, unclear = [], []
    for status in flow.statuses:
        empty = LinearComparison(
            LinearExpression.from_factors(dict.fromkeys(layout.list_locations(status), 1)), "==", LinearExpression()
        )
        stays = [arc for arc in arcs if arc.source == status and not arc.has_effect and arc.received]
        received = Constant(False) if status in flow.left else _build_exact_condition(due, stays, known[status])
        if received is None:
            unclear.append(status)
            ways = [_build_necessary_condition(due, history) for history in sorted(known[status], key=repr)]
            received = disjoin_all(dict.fromkeys(ways))
        needed.append(disjoin_formulas(empty, received))
    return FairnessCondition(conjoin_all(needed), tuple(unclear))


def _build_exact_condition(due: Due, stays: Sequence[Arc], known: set[History]) -> Formula | None:
    """Build an exact formula for having received what is due at a status, if its self-loops allow one."""
    for choice, rest in _enumerate_choices(due, stays):
        never_received = all(
            history[place] is None or _is_too_late(due[counter], history[place])
            for place, counter in enumerate(due)
            if counter in rest
            for history in known
        )
        if never_received and _covers_histories(due, choice, known):
            return _build_reception_condition(due, choice, rest)
    return None


def _is_too_late(amount: LinearExpression, reception: Reception | None) -> bool:
    """Return whether the amount due always exceeds what the last reception can have received."""
    assert reception is not None, "the caller excludes that nothing was received"
    return is_never_more(reception.most.add(LinearExpression(constant=1)), amount)


def _enumerate_choices(due: Due, stays: Sequence[Arc]) -> Iterator[Choice]:
    """Enumerate ways to cover the counters by self-loops, up to a limit; those that cover most come first."""

    def choose_arcs(open_counters: tuple[str, ...], chosen: tuple[Arc, ...], rest: tuple[str, ...]) -> Iterator[Choice]:
        if not open_counters:
            yield chosen, rest
            return
        for arc in stays:
            counters = {counter for counter, _ in arc.received}
            if open_counters[0] in counters and counters <= set(open_counters):
                others = tuple(counter for counter in open_counters if counter not in counters)
                yield from choose_arcs(others, (*chosen, arc), rest)
        yield from choose_arcs(open_counters[1:], chosen, (*rest, open_counters[0]))

    return islice(choose_arcs(tuple(due), (), ()), _MOST_CHOICES)


def _covers_histories(due: Due, choice: Sequence[Arc], known: set[History]) -> bool:
    """Return whether each step allows whatever a history has received, or the history received none of its counters."""
    places = {counter: place for place, counter in enumerate(due)}
    for arc, history in product(choice, known):
        before = [(received, history[places[counter]]) for counter, received in arc.received]
        if any(reception is not None for _, reception in before) and not all(
            _allows_zero(received) if reception is None else _allows_reception(received, reception.received)
            for received, reception in before
        ):
            return False
    return True


def _allows_reception(received: ReceptionConstraint, other: ReceptionConstraint) -> bool:
    """Return whether the constraints of one reception follow from those of another, for all parameters."""
    return (
        is_never_more(other.written, received.written)
        and all(
            any(is_never_more(number, more) for more in (*other.at_least, _NOTHING)) for number in received.at_least
        )
        and all(any(is_never_more(less, limit) for less in other.below) for limit in received.below)
    )


def _allows_zero(received: ReceptionConstraint) -> bool:
    """Return whether a step allows a counter to stay 0, for all parameters."""
    return (
        is_never_more(_NOTHING, received.written)
        and all(is_never_more(number, _NOTHING) for number in received.at_least)
        and all(is_never_more(LinearExpression(constant=1), limit) for limit in received.below)
    )


def _build_reception_condition(due: Due, choice: Sequence[Arc], rest: Sequence[str]) -> Formula:
    """State that these steps can receive what is due, and that nothing is due for the remaining counters."""
    claims = [at_most(due[counter], _NOTHING) for counter in rest]
    for arc in choice:
        nothing = conjoin_all(at_most(due[counter], _NOTHING) for counter, _ in arc.received)
        allowed = [
            claim for counter, received in arc.received for claim in _list_amount_conditions(due[counter], received)
        ]
        claims.append(disjoin_formulas(nothing, conjoin_all(dict.fromkeys(allowed))))
    return conjoin_all(claims)


def _list_amount_conditions(amount: LinearExpression, received: ReceptionConstraint) -> Iterator[Formula]:
    """State that a step can receive an amount, or more if the step requires more."""
    numbers = (amount, *received.at_least, _NOTHING)
    for number in numbers:
        yield at_most(number, received.written)
    for number in numbers:
        for limit in received.below:
            yield less_than(number, limit)


def _build_necessary_condition(due: Due, history: History) -> Formula:
    """State a necessary condition for what is due to have been received along a history."""
    claims: list[Formula] = []
    for amount, reception in zip(due.values(), history, strict=True):
        if reception is None:
            claims.append(at_most(amount, _NOTHING))
            continue
        received = reception.received
        for number in (amount, *received.at_least, _NOTHING):
            claims.append(at_most(number, reception.most))
            claims += [less_than(number, limit) for limit in received.below]
    return conjoin_all(dict.fromkeys(claims))
