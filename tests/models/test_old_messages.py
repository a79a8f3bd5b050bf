"""Calling every age from Δ on "Δ" loses nothing: the model behaves like a system whose messages just grow older.

The system with true ages is written out below in plain Python, once more from the words of the semantics and without
phases.  Its states, with ages cut at Δ, must be exactly the model's, and must lead on exactly as the model's do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import pytest

from fdverify.detectors.chandra_toueg import ReceiverPc, SenderPc, build_chandra_toueg
from fdverify.models.buffer import find_buffer_class
from fdverify.models.system import State, System
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, observe_state
from tests.sampling import every

NEXT_STEP = {"NoSnd": "Receive", "Receive": "Compute", "Compute": "NoSnd"}


class Situation(NamedTuple):
    """The end of a round; of a crash only that it happened, of the waiting time nothing beyond the timeout."""

    crashed: bool
    suspected: bool
    waiting: int
    timeout: int
    step: str
    ages: frozenset[int]
    sender_idle: int
    receiver_idle: int

    def capped(self) -> Situation:
        return self._replace(waiting=min(self.waiting, self.timeout))


@dataclass(frozen=True)
class TrueAges:
    """The detector with messages that remember how old they are."""

    delta: int
    phi: int
    timeout: int
    ivy: bool
    may_crash: bool

    def initial(self) -> Situation:
        step = "NoSnd" if self.ivy else "Compute"
        return Situation(False, False, 0, self.timeout, step, frozenset(), 0, 0)

    def after_round(self, now: Situation) -> Iterator[Situation]:
        for crashed, sends, sender_idle in self.sender_ways(now):
            ages = frozenset(age + 1 for age in now.ages) | (frozenset({0}) if sends else frozenset())
            moved = now._replace(crashed=crashed, sender_idle=sender_idle, ages=ages)
            if now.receiver_idle + 1 < self.phi:
                yield moved._replace(receiver_idle=now.receiver_idle + 1)
            yield from self.receiver_step(moved._replace(receiver_idle=0, step=NEXT_STEP[now.step]))

    def sender_ways(self, now: Situation) -> Iterator[tuple[bool, bool, int]]:
        if now.crashed or self.may_crash:
            yield True, False, 0
        if now.crashed:
            return
        if self.ivy or now.sender_idle >= 2:
            yield False, True, 0
        if now.sender_idle + 1 < 3 * self.phi:
            yield False, False, now.sender_idle + 1

    def receiver_step(self, now: Situation) -> Iterator[Situation]:
        waited = now.waiting + 1 if self.ivy else min(now.waiting + 1, now.timeout)
        match now.step:
            case "NoSnd":
                yield now._replace(waiting=waited)
            case "Receive":
                for kept in self.kept_after_receive(now.ages):
                    if kept == now.ages:
                        yield now._replace(waiting=waited)
                    else:
                        longer = now.timeout + 1 if now.suspected else now.timeout
                        yield now._replace(waiting=0, ages=kept, suspected=False, timeout=longer)
            case "Compute":
                counted = waited if self.ivy else now.waiting
                yield now._replace(waiting=waited, suspected=now.suspected or counted >= now.timeout)

    def kept_after_receive(self, ages: frozenset[int]) -> Iterator[frozenset[int]]:
        """What may stay in transit: any of the younger messages, none that has reached the bound on delay."""
        young = sorted(age for age in ages if age < self.delta)
        for size in range(len(young) + 1):
            yield from map(frozenset, combinations(young, size))

    def as_model_sees(self, situation: Situation) -> Situation:
        return situation._replace(ages=frozenset(min(age, self.delta) for age in situation.ages))


class CutAges:
    """The shipped model, its rounds run by the interpreter."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.parameters = system.compute_fixed_parameters()
        self.known: dict[Situation, frozenset[Situation]] = {}

    def initial(self) -> Situation:
        return self.situation(build_initial_state(self.system))

    def after_round(self, now: Situation) -> frozenset[Situation]:
        if now not in self.known:
            states = [self.state(now)]
            for phase in self.system.phases:
                states = [after for state in states for _, after in enumerate_outcomes(self.system, phase, state)]
            self.known[now] = frozenset(self.situation(state).capped() for state in states)
        return self.known[now]

    def situation(self, state: State) -> Situation:
        seen = observe_state(self.system, state)
        return Situation(
            crashed=seen["sender_pc"] == "Crashed",
            suspected=seen["suspected"],
            waiting=seen["waiting_time"],
            timeout=seen["timeout"],
            step=seen["receiver_pc"],
            ages=seen["buffer"],
            sender_idle=seen["sender_timer"],
            receiver_idle=seen["receiver_timer"],
        )

    def state(self, now: Situation) -> State:
        values: dict[str, Any] = {
            "sender_pc": SenderPc.Crashed if now.crashed else SenderPc.Send,
            "suspected": now.suspected,
            "waiting_time": now.waiting,
            "timeout": now.timeout,
            "receiver_pc": ReceiverPc[now.step],
            "buffer": find_buffer_class("bitvector").from_ages(self.parameters["delta"], now.ages),
            "sender_timer": now.sender_idle,
            "receiver_timer": now.receiver_idle,
            "hlfsc": 0 if now.crashed else -1,
        }
        return State({**self.parameters, **{v.name: values[v.name] for v in self.system.variables}})


MOST = 20_000
"""More situations than any instance here has: a system that never stops growing fails instead of running for ever."""


def reached(first: Situation, after: Callable[[Situation], Iterable[Situation]]) -> set[Situation]:
    seen, frontier = {first}, [first]
    while frontier:
        for found in after(frontier.pop()):
            if found not in seen:
                seen.add(found)
                frontier.append(found)
        assert len(seen) <= MOST
    return seen


INSTANCES = [
    *((delta, 1, timeout) for delta in (0, 1, 2, 3) for timeout in (1, delta + 4)),
    *((delta, 2, delta + 4) for delta in (0, 1, 2, 3)),
    (0, 2, 1),
]


def check_exact(true: TrueAges) -> set[Situation]:
    """Compare with the model, and hand over what the system with true ages reaches."""
    variant = "ivy" if true.ivy else "tla"
    system = build_chandra_toueg(true.delta, true.phi, variant=variant, crash=true.may_crash, timeout=str(true.timeout))
    cut = CutAges(system)
    all_true = reached(true.initial(), lambda now: (after.capped() for after in true.after_round(now)))
    assert true.as_model_sees(true.initial()) == cut.initial()
    assert {true.as_model_sees(now) for now in all_true} == reached(cut.initial(), cut.after_round)
    for now in all_true:
        led_to = {true.as_model_sees(after).capped() for after in true.after_round(now)}
        assert led_to == cut.after_round(true.as_model_sees(now)), now
    return all_true


@pytest.mark.parametrize(("instance", "variant", "crash"), every(6, product(INSTANCES, ("tla", "ivy"), (False, True))))
def test_cutting_ages_is_exact(instance: tuple[int, int, int], variant: str, crash: bool) -> None:
    """Δ = 0 included: two messages in transit are two true ages there, and one age 0 in the model."""
    delta, phi, timeout = instance
    situations = check_exact(TrueAges(delta, phi, timeout, variant == "ivy", crash))
    if phi > 1:
        assert any(max(now.ages, default=0) > delta for now in situations), "no message outgrew the bound"
        assert any(now.suspected for now in situations) or not crash, "nobody was ever suspected"


@pytest.mark.parametrize("crash", [False, True], ids=["correct", "crash"])
@pytest.mark.parametrize(("delta", "phi", "timeout"), [(1, 2, 1), (0, 3, 9)])
def test_cutting_ages_is_exact_in_larger_instances(delta: int, phi: int, timeout: int, crash: bool) -> None:
    """Of variant tla alone, in which fewer messages are sent."""
    check_exact(TrueAges(delta, phi, timeout, ivy=False, may_crash=crash))


@pytest.mark.parametrize(("delta", "phi"), [(0, 2), (1, 1), (2, 1)])
def test_waiting_beyond_the_timeout_changes_nothing(delta: int, phi: int) -> None:
    """The comparison above cuts the waiting time of variant ivy at the timeout; this is what allows it."""
    true = TrueAges(delta, phi, 2, ivy=True, may_crash=True)
    cut = CutAges(build_chandra_toueg(delta, phi, variant="ivy", crash=True, timeout="2"))
    beyond = [now for now in reached(cut.initial(), cut.after_round) if now.waiting == now.timeout]
    assert beyond
    for now in beyond:
        for longer in (1, 50):
            late = now._replace(waiting=now.waiting + longer)
            assert cut.after_round(late) == cut.after_round(now)
            assert {after.capped() for after in true.after_round(late)} == {
                after.capped() for after in true.after_round(now)
            }
