"""What a process has received by the time it has a status, as far as the steps that led there tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.flow.arcs import Arc, Received
from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.formula import Linear

_MOST_HISTORIES = 2_000


@dataclass(frozen=True)
class Reception:
    """The last step in which a process received something of a counter."""

    received: Received
    most: Linear
    """More cannot have come, over shared variables at any time after the step."""


History = tuple[Reception | None, ...]
"""Of each counter, how it was last received; none if it is still 0."""


def never_more(left: Linear, right: Linear) -> bool:
    """Whether a sum is at most another one, whatever natural numbers the names stand for."""
    difference = right.plus(left, -1)
    return difference.constant >= 0 and all(factor >= 0 for _, factor in difference.factors)


def histories(flow: ControlFlow, arcs: Iterable[Arc]) -> dict[str, set[History]]:
    """The histories with which each status can be had if processes take these steps."""
    found: dict[str, set[History]] = {status: set() for status in flow.statuses}
    steps: dict[str, list[Arc]] = {status: [] for status in flow.statuses}
    for arc in arcs:
        steps[arc.source].append(arc)
    waiting: list[tuple[str, History]] = [(status, (None,) * len(flow.due)) for status in flow.initial]
    number = 0
    while waiting:
        status, history = waiting.pop()
        if history in found[status]:
            continue
        found[status].add(history)
        number += 1
        if number > _MOST_HISTORIES:
            raise UsageError(f"{flow.name}: there are more than {_MOST_HISTORIES} ways to have received something")
        waiting += [(arc.target, _after(flow, arc, history)) for arc in steps[status]]
    return found


def _after(flow: ControlFlow, arc: Arc, history: History) -> History:
    received = dict(arc.received)
    return tuple(
        _reception(arc, received[counter]) if counter in received else before
        for counter, before in zip(flow.due, history, strict=True)
    )


def _reception(arc: Arc, received: Received) -> Reception:
    # What the step sent after it received could not be received in it.
    unseen = received.bound.plus(Linear(constant=-arc.adding(received.written)))
    return Reception(received, unseen)


def cannot_hinder(before: Reception | None, received: Received) -> bool:
    """Whether a step that receives is possible, whatever was received before, if it is possible from 0 on.

    What was received is less than a number that the step needs anyway, or what the step allows, the last one did not
    exceed either.
    """
    if before is None:
        return True
    known = before.received
    if any(never_more(limit, needed) for limit in known.below for needed in received.at_least):
        return True
    return never_more(known.written, received.written) and all(
        any(never_more(limit, other) for limit in known.below) for other in received.below
    )


def hindered(flow: ControlFlow, arcs: Iterable[Arc], known: Mapping[str, set[History]]) -> dict[Arc, set[str]]:
    """The steps that may be impossible because of what was received before, and of which counters."""
    found: dict[Arc, set[str]] = {}
    for arc in arcs:
        for place, counter in enumerate(flow.due):
            received = dict(arc.received).get(counter)
            if received is not None and not all(
                cannot_hinder(history[place], received) for history in known[arc.source]
            ):
                found.setdefault(arc, set()).add(counter)
    return found


def needed_memory(flow: ControlFlow, rules: Sequence[Arc]) -> dict[str, set[str]]:
    """Of each status, the counters that must be remembered in it, because a later step may be hindered by them."""
    needed: dict[str, set[str]] = {status: set() for status in flow.statuses}
    for arc, counters in hindered(flow, rules, histories(flow, rules)).items():
        needed[arc.source] |= counters
    changed = True
    while changed:
        changed = False
        for arc in rules:
            if not needed[arc.target] <= needed[arc.source]:
                needed[arc.source] |= needed[arc.target]
                changed = True
    return needed
