"""What a process can have received when it has a status, computed from the steps that lead there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.flow.arcs import Arc, ReceptionConstraint
from fdverify.threshold.flow.control_flow import ControlFlow
from fdverify.threshold.ltl_formula import LinearExpression

_MOST_HISTORIES = 2_000


@dataclass(frozen=True)
class Reception:
    """The last step in which a process received something of a counter."""

    received: ReceptionConstraint
    most: LinearExpression
    """An upper bound on what was received, over the shared variables at any time after the step."""


History = tuple[Reception | None, ...]
"""For each counter, its last reception; ``None`` if it is still 0."""


def is_never_more(left: LinearExpression, right: LinearExpression) -> bool:
    """Return whether left <= right for all natural numbers: a sufficient condition on the coefficients."""
    difference = right.add(left, -1)
    return difference.constant >= 0 and all(factor >= 0 for _, factor in difference.factors)


def compute_histories(flow: ControlFlow, arcs: Iterable[Arc]) -> dict[str, set[History]]:
    """Compute the histories that are reachable at each status by these steps."""
    by_status: dict[str, set[History]] = {status: set() for status in flow.statuses}
    steps: dict[str, list[Arc]] = {status: [] for status in flow.statuses}
    for arc in arcs:
        steps[arc.source].append(arc)
    waiting: list[tuple[str, History]] = [(status, (None,) * len(flow.due)) for status in flow.initial]
    number = 0
    while waiting:
        status, history = waiting.pop()
        if history in by_status[status]:
            continue
        by_status[status].add(history)
        number += 1
        if number > _MOST_HISTORIES:
            raise UsageError(f"{flow.name}: there are more than {_MOST_HISTORIES} histories of received messages")
        waiting += [(arc.target, _extend_history(flow, arc, history)) for arc in steps[status]]
    return by_status


def _extend_history(flow: ControlFlow, arc: Arc, history: History) -> History:
    received = dict(arc.received)
    return tuple(
        _build_reception(arc, received[counter]) if counter in received else before
        for counter, before in zip(flow.due, history, strict=True)
    )


def _build_reception(arc: Arc, received: ReceptionConstraint) -> Reception:
    # Messages that the step sends after receiving are not received in it.
    most = received.bound.add(LinearExpression(constant=-arc.compute_growth(received.written)))
    return Reception(received, most)


def can_never_disable(before: Reception | None, received: ReceptionConstraint) -> bool:
    """Return whether an earlier reception can never disable a step that is enabled for a counter of 0.

    Either the counter is below a lower bound of the step anyway, or each upper bound of the step is implied by one of
    the earlier reception.
    """
    if before is None:
        return True
    earlier = before.received
    if any(is_never_more(limit, needed) for limit in earlier.below for needed in received.at_least):
        return True
    return is_never_more(earlier.written, received.written) and all(
        any(is_never_more(limit, other) for limit in earlier.below) for other in received.below
    )


def find_disabled_arcs(
    flow: ControlFlow, arcs: Iterable[Arc], known: Mapping[str, set[History]]
) -> dict[Arc, set[str]]:
    """Return the steps that earlier receptions may disable, with the counters that are to blame."""
    counters_by_step: dict[Arc, set[str]] = {}
    for arc in arcs:
        for place, counter in enumerate(flow.due):
            received = dict(arc.received).get(counter)
            if received is not None and not all(
                can_never_disable(history[place], received) for history in known[arc.source]
            ):
                counters_by_step.setdefault(arc, set()).add(counter)
    return counters_by_step


def compute_needed_memory(flow: ControlFlow, rules: Sequence[Arc]) -> dict[str, set[str]]:
    """Return, for each status, the counters to be remembered there, because they may disable a later step."""
    needed: dict[str, set[str]] = {status: set() for status in flow.statuses}
    for arc, counters in find_disabled_arcs(flow, rules, compute_histories(flow, rules)).items():
        needed[arc.source] |= counters
    changed = True
    while changed:
        changed = False
        for arc in rules:
            if not needed[arc.target] <= needed[arc.source]:
                needed[arc.source] |= needed[arc.target]
                changed = True
    return needed
