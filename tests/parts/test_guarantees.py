"""What parts guarantee is proved for all parameters, and is false, with a run, where a part is broken."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fdverify import (
    Choices,
    Flag,
    If,
    Implies,
    Model,
    Number,
    Phase,
    Proof,
    Property,
    State,
    System,
    Truth,
    Update,
)
from fdverify.engines.explore import explore
from fdverify.parts import FixedDelayTask, FixedRateTask, LocalClock, LossyChannel, PausingProcess, PeriodicTask
from fdverify.parts.guarantee import Guarantee
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run_table import show_run
from fdverify.verdict import Verdict
from tests.parts.small_systems import (
    CHANNEL,
    CLOCK,
    MORTAL,
    RECEIVER,
    SENDER,
    assemble,
    assemble_timer,
    build_silence,
    build_task,
    build_timer,
    model_of,
    model_timer,
)

KINDS = ("fixed-delay", "fixed-rate")
SMALL = {"delta": 1, "least": 1, "period": 2, "losses": 1, "pause": 1, "stall": 1}
SHORT_PAUSES = Property("short-pauses", lambda s: s.pause < s.period, "pauses are shorter than the period")


def decide(goal: Guarantee, task: PeriodicTask, lemmas: tuple[Guarantee, ...] = (), **options: Any) -> Verdict:
    """Decide by induction whether a system with a task guarantees something."""
    return decide_for(model_of(task, **options), goal, lemmas)


def decide_for(model: Model, goal: Guarantee, lemmas: tuple[Guarantee, ...] = (), **values: int) -> Verdict:
    """Decide by induction whether a model guarantees something, for all parameters that have no values."""
    proof = Proof(model)
    proof.goal(rename(goal))
    proof.invariants(goal, *lemmas)
    (result,) = check_proofs([proof], ProofSettings(cache=False, parameters=values))
    if result.error is not None:
        raise result.error
    return result.verdict


def rename(goal: Guarantee) -> Callable[[State], Truth]:
    """Return the guarantee under another name, to be the goal."""

    def goal_itself(s: State) -> Truth:
        """The guarantee."""
        return goal(s)

    return goal_itself


def find_violation(system: System, guarantee: Guarantee, depth: int | None = None) -> int:
    """Find a run after which a guarantee is false, replay it, and return how many rounds it has."""
    result = explore(system, Property("guarantee", guarantee, guarantee.__doc__ or ""), depth=depth)
    assert result.verdict is Verdict.VIOLATED
    assert result.run is not None
    return len(show_run(system, result.run).steps) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_is_due_only_while_its_process_is_paused(kind: str) -> None:
    task = build_task(kind)
    (overdue,) = task.guarantees()
    assert decide(overdue, task) is Verdict.PROVED


def test_old_messages_wait_only_for_a_paused_receiver() -> None:
    (delivered,) = CHANNEL.guarantees(RECEIVER)
    assert decide(delivered, build_task("fixed-delay")) is Verdict.PROVED


def test_messages_of_a_crashed_sender_grow_old_and_are_delivered() -> None:
    task = build_task("fixed-delay", MORTAL)
    grow_old, soon_empty = CHANNEL.guarantees_after_crash(MORTAL, RECEIVER)
    assert decide(grow_old, task) is Verdict.PROVED
    assert decide(soon_empty, task, (grow_old,)) is Verdict.PROVED


@pytest.mark.parametrize("kind", KINDS)
def test_a_silence_is_as_short_as_it_says(kind: str) -> None:
    task = build_task(kind)
    silence = build_silence(task)
    youngest, following = silence.guarantees()
    (delivered,) = CHANNEL.guarantees(RECEIVER)
    lemmas = (*task.guarantees(), youngest, following, delivered)
    assumptions = (SHORT_PAUSES,) if kind == "fixed-rate" else ()

    def never_longer(s: State) -> Truth:
        """While the receiver runs, the silence is shorter than the longest."""
        return Implies(RECEIVER.runs(s), silence.rounds(s) < silence.longest(s))

    assert decide(never_longer, task, lemmas, silence=silence, assumptions=assumptions) is Verdict.PROVED


def test_a_stopwatch_is_neither_slow_nor_faster_than_its_clock_may_be() -> None:
    for guarantee in build_timer(CLOCK).guarantees():
        assert decide_for(model_timer(CLOCK), guarantee) is Verdict.PROVED


# Broken parts: each breaks what the part guarantees, and a run shows it.


@dataclass(frozen=True)
class LateDelayTask(FixedDelayTask):
    """A task that runs only once it has been due for a round."""

    def _take_turn(self, s: State) -> Update:
        turn = super()._take_turn(s)
        on_time = s[self._wait] == 1
        changes = {self._step: If(on_time, 1, turn.changes[self._step]), self._wait: s[self._wait] - 1}
        return replace(turn, changes={**turn.changes, **changes, self._wait: If(on_time, 0, turn.changes[self._wait])})


@dataclass(frozen=True)
class LateRateTask(FixedRateTask):
    """A task that never runs at a tick, only after it."""

    def _take_turn(self, s: State) -> Update:
        turn = super()._take_turn(s)
        return replace(turn, changes={**turn.changes, self._step: If(s[self._wait] <= 1, 1, turn.changes[self._step])})


@pytest.mark.parametrize("late", [LateDelayTask, LateRateTask])
def test_a_task_that_is_late_without_a_pause_is_noticed(late: type[PeriodicTask]) -> None:
    task = late("beat", SENDER, period=lambda s: s.period)
    (overdue,) = task.guarantees()
    assert find_violation(assemble(task, SMALL), overdue) == 1
    assert decide(overdue, task) is Verdict.VIOLATED


def holding_back(system: System) -> System:
    """Let the channel keep messages that are as old as they may be."""
    name = f"hand_over_{CHANNEL.name}"
    exact = system.phase(name).run

    def hold_back(s: State, c: Choices) -> Update:
        return replace(exact(s, c), assume=True)

    return system.with_phase(name, hold_back)


def test_a_channel_that_keeps_old_messages_is_noticed() -> None:
    system = holding_back(assemble(build_task("fixed-delay"), SMALL))
    (delivered,) = CHANNEL.guarantees(RECEIVER)
    assert find_violation(system, delivered) == 2
    mortal = holding_back(assemble(build_task("fixed-delay", MORTAL), SMALL))
    _, soon_empty = CHANNEL.guarantees_after_crash(MORTAL, RECEIVER)
    assert find_violation(mortal, soon_empty) == 2


def test_a_sender_that_sends_after_its_crash_is_noticed() -> None:
    task = build_task("fixed-delay", MORTAL)
    system = assemble(task, SMALL)
    system = system.with_phase("carry_letters", CHANNEL.carry(sends=lambda s: True).run)
    grow_old, _ = CHANNEL.guarantees_after_crash(MORTAL, RECEIVER)
    assert find_violation(system, grow_old) == 1


def worse_parts() -> dict[str, tuple[PeriodicTask, LossyChannel]]:
    """Return a task and a channel of which one does worse than what the silence is computed from."""
    sleepy = PausingProcess("sender", longest_pause=lambda s: s.pause + 1)
    lossier = replace(CHANNEL, losses=lambda s: s.losses + 1)
    slower = FixedDelayTask("beat", SENDER, period=lambda s: s.period + 1)
    return {
        "pauses": (build_task("fixed-delay", sleepy), CHANNEL),
        "losses": (build_task("fixed-delay"), lossier),
        "period": (slower, CHANNEL),
    }


@pytest.mark.parametrize("worse", ["pauses", "losses", "period"])
def test_a_silence_that_is_longer_than_computed_is_noticed(worse: str) -> None:
    task, channel = worse_parts()[worse]
    promised = build_silence(build_task("fixed-delay"))
    system = assemble(task, SMALL, channel=channel)

    def never_longer(s: State) -> Truth:
        return Implies(RECEIVER.runs(s), promised.rounds(s) < promised.longest(s))

    assert find_violation(system, never_longer) > 0


def test_pauses_as_long_as_the_period_make_a_silence_at_a_fixed_rate_longer() -> None:
    task = build_task("fixed-rate")
    silence = build_silence(task)

    def never_longer(s: State) -> Truth:
        return Implies(RECEIVER.runs(s), silence.rounds(s) < silence.longest(s))

    assert find_violation(assemble(task, {**SMALL, "pause": 2}), never_longer) > 0


@dataclass(frozen=True)
class HastyClock(LocalClock):
    """A clock that gains a tick one round too soon."""

    def phases(self) -> tuple[Phase, ...]:
        (advance,) = super().phases()
        return (replace(advance, choices=(Flag("clock_gains", when=lambda s: s.clock_steady <= 2),)),)


@dataclass(frozen=True)
class SlowClock(LocalClock):
    """A clock that stands still in rounds in which it might gain a tick and does not."""

    def ticks(self, s: State) -> Number:
        return If(s.clock_steady == 0, 0, super().ticks(s))


@pytest.mark.parametrize(("broken", "place", "rounds"), [(SlowClock, 0, 1), (HastyClock, 1, 3)])
def test_a_clock_that_is_slow_or_too_fast_is_noticed(broken: type[LocalClock], place: int, rounds: int) -> None:
    clock = broken("clock", steady=lambda s: s.steady)
    guarantee = build_timer(clock).guarantees()[place]
    assert find_violation(assemble_timer(3, clock), guarantee, depth=rounds) == rounds
    assert decide_for(model_timer(clock), guarantee, steady=3) is Verdict.VIOLATED
