"""The shipped model against the TLA+ module it comes from, sub-round by sub-round.

Interpreter and compiler run the same phases, so neither can tell whether the phases are right; the oracle can.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import settings

from fdverify.detectors.chandra_toueg import build_chandra_toueg
from fdverify.models.buffer import ENCODINGS
from fdverify.models.system import State, System
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from tests.oracle import appendix_b
from tests.sampling import every

SUB_ROUNDS = {
    "schedule_sender": "SSched",
    "schedule_receiver": "RSched",
    "age_messages": "IncMsgAge",
    "send": "SSnd",
    "no_send": "RNoSnd",
    "receive": "RRcv",
    "compute": "RComp",
}
RECEIVER = {"NoSnd": "RNoSnd", "Receive": "RRcv", "Compute": "RComp"}
SENDER = {"Send": "SSnd"}

DEEPEST = min(1000, 2 * settings().max_examples)
"""Both sides stop here.  The full profile reaches every end; the sample only those of safe timeouts."""


def as_oracle_sees(system: System, state: State, at: int) -> appendix_b.State:
    """The state in the module's words, about to do the phase number ``at``."""
    seen: dict[str, Any] = observe_state(system, state)
    return appendix_b.State(
        suspected=seen["suspected"],
        waitingTime=seen["waiting_time"],
        timeout=seen["timeout"],
        sPC=SENDER[seen["sender_pc"]],
        rPC=RECEIVER[seen["receiver_pc"]],
        existsMsgOfAge=tuple(age in seen["buffer"] for age in range(state.delta + 1)),
        sTimer=seen["sender_timer"],
        rTimer=seen["receiver_timer"],
        ePC=SUB_ROUNDS[system.phases[at].name],
    )


def interpreted_levels(system: System) -> Iterator[set[appendix_b.State]]:
    """The sub-round states that the interpreter reaches, by their distance from the initial one."""
    initial = build_initial_state(system)
    frontier = {as_oracle_sees(system, initial, 0): initial}
    seen = set(frontier)
    at = 0
    while frontier:
        yield set(frontier)
        phase, at = system.phases[at], (at + 1) % len(system.phases)
        reached = {
            as_oracle_sees(system, after, at): after
            for state in frontier.values()
            for _, after in enumerate_outcomes(system, phase, state)
        }
        frontier = {key: state for key, state in reached.items() if key not in seen}
        seen |= set(frontier)


@cache
def oracle_levels(delta: int, phi: int, timeout: int) -> list[set[appendix_b.State]]:
    return appendix_b.Module(Delta=delta, Phi=phi, TODefault=timeout).levels(most=DEEPEST)


@pytest.mark.parametrize(
    ("delta", "phi", "timeout", "encoding"),
    every(10, product(range(4), (1, 2, 3), ("6*phi+delta", "delta+1"), ENCODINGS)),
)
def test_same_sub_round_states_level_by_level(delta: int, phi: int, timeout: str, encoding: str) -> None:
    """A safe timeout never grows; a short one grows until it is safe enough, so both instances have an end."""
    system = build_chandra_toueg(delta, phi, timeout=timeout, buffer=encoding)
    assert [phase.name for phase in system.phases] == list(SUB_ROUNDS)
    expected = oracle_levels(delta, phi, {"6*phi+delta": 6 * phi + delta, "delta+1": delta + 1}[timeout])
    assert len(expected) <= DEEPEST or (timeout == "delta+1" and DEEPEST < 1000)
    found = list(islice(interpreted_levels(system), DEEPEST + 1))
    for depth, (ours, theirs) in enumerate(zip(found, expected, strict=False)):
        assert ours == theirs, f"at depth {depth}"
    assert len(found) == len(expected), "one goes on where the other has ended"


def test_short_timeouts_are_told_apart() -> None:
    """The comparison above is of systems that do suspect, retract and wait longer."""
    states = set().union(*oracle_levels(2, 2, 3))
    assert {state.suspected for state in states} == {False, True}
    assert max(state.timeout for state in states) > 3


@pytest.mark.parametrize(
    ("delta", "phi", "states", "depth"),
    [(2, 4, 10158, 176), (4, 4, 16590, 183), (4, 5, 28492, 225), (4, 6, 44733, 267)],
)
def test_the_oracle_counts_what_tlc_counts(delta: int, phi: int, states: int, depth: int) -> None:
    """The published table prints 44.7K and 267 beside phi = 5; they are the figures of phi = 6."""
    levels = appendix_b.Module(Delta=delta, Phi=phi, TODefault=6 * phi + delta).levels()
    assert sum(len(level) for level in levels) == states
    assert len(levels) == depth
