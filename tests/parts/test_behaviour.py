"""The parts do what their page says: they are compared with an oracle, run by run and round by round."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from fdverify import Flags, Integers, Or, Phase, Property, State, System, Truth, Variable, update
from fdverify.models.system import Parameter
from fdverify.parts import LossyChannel
from fdverify.runs.concrete_interpreter import build_initial_state, enumerate_outcomes, run_phase
from tests.oracle.parts import Carrier, list_runs, list_ticks
from tests.parts.small_systems import SENDER, assemble_timer, build_task
from tests.sampling import choose

ROUNDS = 20
NUMBERS = range(choose(full=400, sample=40))


def build_task_system(kind: str, period: int, first: int, pause: int) -> System:
    task = build_task(kind, first=lambda s: s.first)
    names = {"period": period, "first": first, "pause": pause}
    return System(
        name="task",
        options={},
        parameters=tuple(Parameter(name, 0, value) for name, value in names.items()),
        variables=(*SENDER.variables(), *task.variables(), Variable("runs", Flags(), initial=lambda s: False)),
        phases=(*SENDER.phases(), *task.phases(), Phase("note", lambda s, c: update(runs=task.runs(s)))),
        properties=(Property("anything", lambda s: True, "nothing is claimed"),),
    )


def draw_pattern(random: Random, pause: int) -> list[bool]:
    """Draw for each round from 1 on whether a process runs; round 0 is before the first."""
    running, paused = [True], 0
    for _ in range(ROUNDS):
        paused = paused + 1 if paused < pause and random.random() < 0.7 else 0
        running.append(paused == 0)
    return running


@pytest.mark.parametrize("kind", ["fixed-delay", "fixed-rate", "skipping"])
def test_a_task_runs_when_the_oracle_says(kind: str) -> None:
    random = Random(kind)
    for _ in NUMBERS:
        period, first, pause = random.randint(1, 5), random.randint(1, 7), random.randint(0, 6)
        running = draw_pattern(random, pause)
        system = build_task_system(kind, period, first, pause)
        state, ran = build_initial_state(system), []
        for number in range(1, ROUNDS + 1):
            for phase in system.phases:
                chosen = {"sender_pauses": not running[number]} if phase.choices else {}
                after = run_phase(system, phase, state, chosen)
                assert after is not None
                state = after
            ran += [number] if state.runs else []
        assert ran == list_runs(kind, period, first, running), (period, first, pause, running)


def test_a_pause_is_not_longer_than_its_bound() -> None:
    system = build_task_system("fixed-rate", 1, 1, 2)
    schedule, *_ = system.phases
    state = build_initial_state(system)
    for lasts in (1, 2):
        paused = [after for chosen, after in enumerate_outcomes(system, schedule, state) if chosen["sender_pauses"]]
        assert [after.sender_paused for after in paused] == [lasts]
        (state,) = paused
    assert [chosen["sender_pauses"] for chosen, _ in enumerate_outcomes(system, schedule, state)] == [False]


@pytest.mark.parametrize("steady", range(1, 5))
def test_a_clock_ticks_as_the_oracle_says(steady: int) -> None:
    system, rounds = assemble_timer(steady), choose(full=10, sample=7)
    now: dict[tuple[int, ...], State] = {(): build_initial_state(system)}
    for _ in range(rounds):
        after: dict[tuple[int, ...], State] = {}
        for ticks, state in now.items():
            for reached in follow_phases(system, 0, state):
                if reached.timer_rounds > 0:  # it is not reset
                    after[(*ticks, reached.timer - state.timer)] = reached
        now = after
    assert set(now) == list_ticks(steady, rounds)
    assert all((state.timer, state.timer_rounds) == (sum(ticks), rounds) for ticks, state in now.items())


def test_a_stopwatch_begins_again_when_it_is_reset() -> None:
    system = assemble_timer(2)
    restart = system.phases[-1]
    state = build_initial_state(system)
    for restarts, expected in ((False, 2), (True, 0), (False, 1)):
        for phase in system.phases:
            chosen = {"clock_gains": expected == 2, "restarts": restarts and phase is restart}
            after = run_phase(system, phase, state, {choice.name: chosen[choice.name] for choice in phase.choices})
            assert after is not None
            state = after
        assert (state.timer, state.timer_rounds) == (expected, min(expected, 1))


def build_channel_system(carrier: Carrier, sends: Sequence[bool], listens: Sequence[bool]) -> System:
    channel = LossyChannel(
        "letters", "delta", lambda s: s.least, lambda s: s.losses, duplicates=carrier.copies, encoding="bitvector"
    )

    def is_one_of(pattern: Sequence[bool], s: State) -> Truth:
        return Or(*(s.round == number for number, wanted in enumerate(pattern) if wanted))

    numbers = {"delta": carrier.most, "least": carrier.least, "losses": carrier.losses}
    return System(
        name="channel",
        options={},
        parameters=tuple(Parameter(name, 0, value) for name, value in numbers.items()),
        variables=(
            *channel.variables(),
            Variable("round", Integers(), initial=lambda s: 0),
            Variable("heard", Flags(), initial=lambda s: False),
        ),
        phases=(
            Phase("advance", lambda s, c: update(round=s.round + 1)),
            channel.carry(sends=lambda s: is_one_of(sends, s)),
            channel.hand_over(lambda s: is_one_of(listens, s), lambda s, heard: {"heard": heard}),
        ),
        properties=(Property("anything", lambda s: True, "nothing is claimed"),),
    )


def follow_rounds(system: System, rounds: int) -> set[tuple[bool, ...]]:
    """Follow all runs, and return for each what is heard in its rounds."""
    now: dict[Any, tuple[State, tuple[bool, ...]]] = {(): (build_initial_state(system), ())}
    for _ in range(rounds):
        after: dict[Any, tuple[State, tuple[bool, ...]]] = {}
        for state, heard in now.values():
            for reached in follow_phases(system, 0, state):
                trace = (*heard, bool(reached.heard))
                after[(trace, reached.letters.ages(), reached.letters_lost)] = (reached, trace)
        now = after
    return {heard for _, heard in now.values()}


def follow_phases(system: System, index: int, state: State) -> Iterator[State]:
    if index == len(system.phases):
        yield state
        return
    for _, after in enumerate_outcomes(system, system.phases[index], state):
        yield from follow_phases(system, index + 1, after)


@pytest.mark.parametrize("copies", [False, True])
def test_a_channel_delivers_what_the_oracle_says(copies: bool) -> None:
    random = Random(1)
    for _ in range(choose(full=60, sample=8)):
        most = random.randint(0, 3)
        carrier = Carrier(random.randint(0, most), most, random.randint(0, 2), copies)
        sends, listens = ([False, *(random.random() < chance for _ in range(6))] for chance in (0.6, 0.7))
        system = build_channel_system(carrier, sends, listens)
        assert follow_rounds(system, 6) == carrier.list_outcomes(sends, listens), (carrier, sends, listens)
