"""How late a crash is noticed in an instance: the longest way from a crash to a state in which nobody is suspected.

Rounds are counted here and not read off the model's crash clock, which the model may cap, stop or never start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.discovery.bounds.instance import EVERY_STATE, NoBound, detector_of, in_place, visit
from fdverify.discovery.bounds.rounds import crashed as is_counted
from fdverify.engines.batch import truths
from fdverify.engines.explore import Exploration
from fdverify.engines.state_table import Packing, Rows
from fdverify.models.system import Property, System
from fdverify.verdict import Verdict

_BATCH = 1 << 15


def silent(text: str) -> None:
    """Nobody watches."""


def detection_times(system: System, report: Callable[[str], None] = silent) -> dict[int, int]:
    """By the timeout that the receiver has then: from which round after a crash on the sender is suspected for good.

    A timeout with which a crashed sender is always suspected is not listed.
    """
    detector = detector_of(system)
    crashed = Property("crashed", lambda s: is_counted(detector, s), "it has crashed")
    suspected = Property("suspected", detector.suspects, "it is suspected")
    exploration, _ = visit(system, EVERY_STATE, (crashed, suspected), report)
    where = in_place(system.fixed_values())
    rows: Rows = [np.concatenate(parts) for parts in zip(*exploration.levels, strict=True)]
    gone = _where(exploration, rows, crashed)
    if not gone.any():
        raise NoBound(f"no {detector.watched} ever crashes in {system.name}, at {where}").of(Verdict.VACUOUS)
    rows = [column[gone] for column in rows]
    report("counting rounds after a crash")
    trusted = ~_where(exploration, rows, suspected)
    rounds = _longest_ways(*_rounds_between(exploration, rows, crashed), trusted)
    if rounds is None:
        name = detector.watched
        raise NoBound(
            f"a crashed {name} may be trusted after any number of rounds: no detection time is a bound, at {where}"
        ).of(Verdict.VIOLATED)
    times, timeouts = rounds[trusted] + 1, exploration.batches.state(rows)[detector.timeout][trusted]
    return {int(timeout): int(times[timeouts == timeout].max()) for timeout in np.unique(timeouts)}


def _where(exploration: Exploration, rows: Rows, claim: Property) -> NDArray[Any]:
    return truths(claim.holds(exploration.batches.state(rows)), len(rows[0]))


def _rounds_between(exploration: Exploration, rows: Rows, claim: Property) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rounds that lead from one of these states to another, which are all those of the claim."""
    packing = Packing(tuple(int(column.min()) for column in rows), (0,) * len(rows)).widened(rows)
    keys = packing.pack(rows)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    before, after = [], []
    for start in range(0, len(keys), _BATCH):
        origin, ends = exploration.next_states([column[start : start + _BATCH] for column in rows])
        stays = _where(exploration, ends, claim)
        ends = [column[stays] for column in ends]
        found = order[np.searchsorted(keys, packing.pack(ends))]
        pairs = np.unique((origin[stays] + start) * len(keys) + found)
        before.append(pairs // len(keys))
        after.append(pairs % len(keys))
    return np.concatenate(before), np.concatenate(after)


def _longest_ways(before: NDArray[Any], after: NDArray[Any], goal: NDArray[Any]) -> NDArray[Any] | None:
    """The length of the longest way to each state from which the goal can be reached; ``None`` if there is no longest.

    A way that comes back to a state can be gone round as often as one likes before it leads to the goal.
    """
    leads = goal.copy()
    while True:
        also = before[leads[after] & ~leads[before]]
        if len(also) == 0:
            break
        leads[also] = True
    inside = leads[before] & leads[after]
    before, after = before[inside], after[inside]
    length = np.full(len(goal), -1, dtype=np.int64)
    waiting = np.bincount(after, minlength=len(goal))
    steps, last = 0, leads & (waiting == 0)
    while last.any():
        length[last] = steps
        reached = np.bincount(after[last[before]], minlength=len(goal))
        waiting -= reached
        last = (reached > 0) & (waiting == 0)
        steps += 1
    return None if (leads & (length < 0)).any() else length
