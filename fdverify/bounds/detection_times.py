"""Detection times of an instance: the longest paths from a crash to a state in which the sender is not suspected.

Rounds are counted in the state graph.  The model's crash clock is not used, since the model may cap it, stop it or
never start it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdverify.bounds.detector_instance import (
    EVERY_STATE,
    NoBound,
    format_parameters,
    require_detector,
    visit_states,
)
from fdverify.bounds.joined_instances import START, join_instances
from fdverify.bounds.round_counter import is_counted_round as is_counted
from fdverify.engines.batch import build_truth_column
from fdverify.engines.explore import Exploration
from fdverify.engines.packing import Rows, start_packing
from fdverify.errors import FdverifyError
from fdverify.models.detector import Detector
from fdverify.models.system import Property, System
from fdverify.runs.concrete_interpreter import build_initial_state
from fdverify.verdict import Verdict

_BATCH = 1 << 15
_MOST_STATES_TOGETHER = 500_000
_MOST_ROUNDS_TOGETHER = 1_000
"""Where exploring instances together is given up: what has no end is then found one by one, and explained."""


def ignore_progress(text: str) -> None:
    """Ignore a progress report."""


def measure_detection_times(system: System, report: Callable[[str], None] = ignore_progress) -> dict[int, int]:
    """Measure from which round after a crash the sender is suspected for good, by the receiver's timeout at that time.

    A timeout with which a crashed sender is always suspected is not listed.
    """
    detector = require_detector(system)
    crashed, suspected = _build_claims(detector)
    exploration, _ = visit_states(system, EVERY_STATE, (crashed, suspected), report)
    rows = _list_crashed_states(exploration, crashed)
    where = format_parameters(system.compute_fixed_parameters())
    if len(rows[0]) == 0:
        raise NoBound(f"no {detector.watched} ever crashes in {system.name}, at {where}").with_verdict(Verdict.VACUOUS)
    report("counting rounds after a crash")
    times = _count_rounds(exploration, rows, detector)
    if times is None:
        name = detector.watched
        raise NoBound(
            f"a crashed {name} may be trusted after any number of rounds: the detection time is unbounded, at {where}"
        ).with_verdict(Verdict.VIOLATED)
    return times


def measure_instances(instances: Sequence[System]) -> list[dict[int, int]]:
    """Measure the detection times of instances: of all of them together if that is possible, else of one by one."""
    try:
        together = _measure_together(instances)
    except FdverifyError:
        together = None  # one by one, the instance to blame is found
    return [measure_detection_times(instance) for instance in instances] if together is None else [together]


def _measure_together(instances: Sequence[System]) -> dict[int, int] | None:
    """Measure the detection times of instances by exploring one joined system; ``None`` if there is no such system."""
    if len(instances) < 2:
        return None
    detector = require_detector(instances[0])
    crashed, suspected = _build_claims(detector)
    joined = join_instances(instances, (crashed, suspected))
    if joined is None or any(crashed.holds(build_initial_state(instance)) for instance in instances):
        return None
    exploration, _ = visit_states(
        joined, EVERY_STATE, (crashed, suspected), ignore_progress, _MOST_STATES_TOGETHER, _MOST_ROUNDS_TOGETHER
    )
    rows = _list_crashed_states(exploration, crashed)
    crashing = np.unique(exploration.batches.restore_state(rows)[START])
    return _count_rounds(exploration, rows, detector) if len(crashing) == len(instances) else None


def _build_claims(detector: Detector) -> tuple[Property, Property]:
    """Build the claims that the sender has crashed, and that it is suspected."""
    return (
        Property("crashed", lambda s: is_counted(detector, s), "it has crashed"),
        Property("suspected", detector.suspects, "it is suspected"),
    )


def _list_crashed_states(exploration: Exploration, crashed: Property) -> Rows:
    rows = exploration.get_all_states()
    after_crash = _evaluate_claim(exploration, rows, crashed)
    return [column[after_crash] for column in rows]


def _count_rounds(exploration: Exploration, rows: Rows, detector: Detector) -> dict[int, int] | None:
    """Count the rounds after a crash, by timeout, from the states after a crash; ``None`` if there is no bound."""
    crashed, suspected = _build_claims(detector)
    trusted = ~_evaluate_claim(exploration, rows, suspected)
    rounds = _compute_longest_paths(*_list_rounds(exploration, rows, crashed), trusted)
    if rounds is None:
        return None
    times, timeouts = rounds[trusted] + 1, exploration.batches.restore_state(rows)[detector.timeout][trusted]
    return {int(timeout): int(times[timeouts == timeout].max()) for timeout in np.unique(timeouts)}


def _evaluate_claim(exploration: Exploration, rows: Rows, claim: Property) -> NDArray[Any]:
    return build_truth_column(exploration.batches.evaluate(claim.holds, rows), len(rows[0]))


def _list_rounds(exploration: Exploration, rows: Rows, claim: Property) -> tuple[NDArray[Any], NDArray[Any]]:
    """List the rounds between these states, which are all the reachable states that satisfy the claim."""
    packing = start_packing(rows)
    keys = packing.pack(rows)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    before, after = [], []
    for start in range(0, len(keys), _BATCH):
        origin, ends = exploration.find_successors([column[start : start + _BATCH] for column in rows])
        stays = _evaluate_claim(exploration, ends, claim)
        ends = [column[stays] for column in ends]
        successors = order[np.searchsorted(keys, packing.pack(ends))]
        pairs = np.unique((origin[stays] + start) * len(keys) + successors)
        before.append(pairs // len(keys))
        after.append(pairs % len(keys))
    return np.concatenate(before), np.concatenate(after)


def _compute_longest_paths(before: NDArray[Any], after: NDArray[Any], goal: NDArray[Any]) -> NDArray[Any] | None:
    """Compute the length of the longest path to each state from which the goal can be reached.

    Return ``None`` if such a path has a cycle, since there is no longest path then.
    """
    leads = goal.copy()
    while True:
        predecessors = before[leads[after] & ~leads[before]]
        if len(predecessors) == 0:
            break
        leads[predecessors] = True
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
