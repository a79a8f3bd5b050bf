"""FAIR, that everybody has received what is due, said of how many processes have a status.

What was received is not kept.  Where a step by which a process keeps its status covers all that it can have received
before, that does not matter: it has received what is due if it can do so now.  Elsewhere there is only what is so *if*
it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from fdverify.threshold.claims.normal import all_of, any_of, either
from fdverify.threshold.flow.arcs import Arc, Received, at_most, less_than
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.flow.memory import History, Reception, histories, never_more
from fdverify.threshold.flow.places import Layout
from fdverify.threshold.formula import Comparison, Constant, Formula, Linear
from fdverify.threshold.text.read import read_linear

Due = Mapping[str, Linear]

Choice = tuple[tuple[Arc, ...], tuple[str, ...]]
"""Steps that receive different counters, and the counters that none of them receives."""

_NOTHING = Linear()
_MOST_CHOICES = 300


@dataclass(frozen=True)
class Fairness:
    needed: Formula
    """What is so if everybody has received what is due; but for these statuses, the converse holds, too."""
    unclear: tuple[str, ...]


def read_due(flow: ControlFlow) -> dict[str, Linear]:
    return {
        counter: read_linear(text, (*flow.shared, *flow.parameters), f"{flow.name}: due {counter}")
        for counter, text in flow.due.items()
    }


def fairness(flow: ControlFlow, arcs: Sequence[Arc], layout: Layout, due: Due) -> Fairness:
    known = histories(flow, arcs)
    needed, unclear = [], []
    for status in flow.statuses:
        empty = Comparison(Linear.of(dict.fromkeys(layout.of_status(status), 1)), "==", Linear())
        stays = [arc for arc in arcs if arc.source == status and not arc.has_effect and arc.received]
        received = Constant(False) if status in flow.left else _exact(due, stays, known[status])
        if received is None:
            unclear.append(status)
            ways = [_has_received(due, history) for history in sorted(known[status], key=repr)]
            received = any_of(dict.fromkeys(ways))
        needed.append(either(empty, received))
    return Fairness(all_of(needed), tuple(unclear))


def _exact(due: Due, stays: Sequence[Arc], known: set[History]) -> Formula | None:
    """Whether everything due is received at a status, if steps by which processes stay there tell it."""
    for choice, rest in _choices(due, stays):
        never_received = all(
            history[place] is None or _is_too_late(due[counter], history[place])
            for place, counter in enumerate(due)
            if counter in rest
            for history in known
        )
        if never_received and _covers(due, choice, known):
            return _receives(due, choice, rest)
    return None


def _is_too_late(amount: Linear, reception: Reception | None) -> bool:
    """Whether more is due than can have come, ever since."""
    assert reception is not None, "nothing was received, which is another case"
    return never_more(reception.most.plus(Linear(constant=1)), amount)


def _choices(due: Due, stays: Sequence[Arc]) -> Iterator[Choice]:
    """Ways to receive what is due, those at first that receive most; of very many, some."""

    def choose(left: tuple[str, ...], chosen: tuple[Arc, ...], rest: tuple[str, ...]) -> Iterator[Choice]:
        if not left:
            yield chosen, rest
            return
        for arc in stays:
            counters = {counter for counter, _ in arc.received}
            if left[0] in counters and counters <= set(left):
                yield from choose(tuple(each for each in left if each not in counters), (*chosen, arc), rest)
        yield from choose(left[1:], chosen, (*rest, left[0]))

    return islice(choose(tuple(due), (), ()), _MOST_CHOICES)


def _covers(due: Due, choice: Sequence[Arc], known: set[History]) -> bool:
    """Whether, of each step, all that it receives can be as it was received before, unless nothing of it was."""
    places = {counter: place for place, counter in enumerate(due)}
    for arc, history in product(choice, known):
        before = [(received, history[places[counter]]) for counter, received in arc.received]
        if any(reception is not None for _, reception in before) and not all(
            _allows_nothing(received) if reception is None else _allows(received, reception.received)
            for received, reception in before
        ):
            return False
    return True


def _allows(received: Received, other: Received) -> bool:
    """Whether a step allows to receive whatever another one does."""
    return (
        never_more(other.written, received.written)
        and all(any(never_more(number, more) for more in (*other.at_least, _NOTHING)) for number in received.at_least)
        and all(any(never_more(less, limit) for less in other.below) for limit in received.below)
    )


def _allows_nothing(received: Received) -> bool:
    """Whether a step allows a counter to stay 0, for all parameters."""
    return (
        never_more(_NOTHING, received.written)
        and all(never_more(number, _NOTHING) for number in received.at_least)
        and all(never_more(Linear(constant=1), limit) for limit in received.below)
    )


def _receives(due: Due, choice: Sequence[Arc], rest: Sequence[str]) -> Formula:
    """That these steps can receive all that is due, and that of the other counters nothing is."""
    claims = [at_most(due[counter], _NOTHING) for counter in rest]
    for arc in choice:
        nothing = all_of(at_most(due[counter], _NOTHING) for counter, _ in arc.received)
        allowed = [claim for counter, received in arc.received for claim in _can_be(due[counter], received)]
        claims.append(either(nothing, all_of(dict.fromkeys(allowed))))
    return all_of(claims)


def _can_be(amount: Linear, received: Received) -> Iterator[Formula]:
    """That a step can receive as much, and more if it needs more."""
    numbers = (amount, *received.at_least, _NOTHING)
    for number in numbers:
        yield at_most(number, received.written)
    for number in numbers:
        for limit in received.below:
            yield less_than(number, limit)


def _has_received(due: Due, history: History) -> Formula:
    """What is so if what is due was received in steps that have been taken."""
    claims: list[Formula] = []
    for amount, reception in zip(due.values(), history, strict=True):
        if reception is None:
            claims.append(at_most(amount, _NOTHING))
            continue
        received = reception.received
        for number in (amount, *received.at_least, _NOTHING):
            claims.append(at_most(number, reception.most))
            claims += [less_than(number, limit) for limit in received.below]
    return all_of(dict.fromkeys(claims))
