"""Small systems that are made of parts, for the tests of the parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fdverify import And, Flag, Model, Parameter, Phase, Property, System, update
from fdverify.parts import (
    FixedDelayTask,
    FixedRateTask,
    LocalClock,
    LossyChannel,
    PausingProcess,
    PeriodicTask,
    Silence,
    Stopwatch,
)

NAMES = ("delta", "least", "period", "losses", "pause", "stall")
LEAST = {"period": 1}
PARAMETERS = tuple(Parameter(name, LEAST.get(name, 0), None, small=(1, 2)) for name in NAMES)
SENDER = PausingProcess("sender", longest_pause=lambda s: s.pause)
MORTAL = PausingProcess("sender", longest_pause=lambda s: s.pause, crashes=True)
RECEIVER = PausingProcess("receiver", longest_pause=lambda s: s.stall)
CHANNEL = LossyChannel("letters", "delta", lambda s: s.least, lambda s: s.losses)
STEADY = Parameter("steady", 1, None, small=(2, 1, 3))
CLOCK = LocalClock("clock", steady=lambda s: s.steady)
KINDS: dict[str, type[PeriodicTask]] = {"fixed-delay": FixedDelayTask, "fixed-rate": FixedRateTask}


def build_task(kind: str, process: PausingProcess = SENDER, **options: Any) -> PeriodicTask:
    """Build a task of this kind: at a fixed rate, with a fixed delay, or one that skips."""
    if kind == "skipping":
        return FixedRateTask("beat", process, period=lambda s: s.period, skips=True, **options)
    return KINDS[kind]("beat", process, period=lambda s: s.period, **options)


def build_silence(task: PeriodicTask, channel: LossyChannel = CHANNEL) -> Silence:
    """Build the silence between the messages of a task."""
    return Silence("silence", task, channel, matters=lambda s: s.silence + 1)


def assemble(
    task: PeriodicTask,
    values: Mapping[str, int | None],
    *,
    channel: LossyChannel = CHANNEL,
    silence: Silence | None = None,
    assumptions: Iterable[Property] = (),
) -> System:
    """Assemble a sender with a task, a channel, and a receiver that listens whenever it runs."""
    quiet = build_silence(task, channel) if silence is None else silence
    parts = (task.process, RECEIVER, task, channel, quiet)
    fits = Property("fits", lambda s: And(s.least <= s.delta, s.least <= s.period), "the shortest delay is short")
    variables = tuple(replace(v, cap=None) for part in parts for v in part.variables())
    return System(
        name="assembled",
        options={},
        parameters=tuple(replace(parameter, value=values.get(parameter.name)) for parameter in PARAMETERS),
        variables=variables,
        phases=(
            *task.process.phases(),
            *RECEIVER.phases(),
            *task.phases(),
            channel.carry(sends=task.runs),
            channel.hand_over(receives=RECEIVER.runs, then=quiet.after),
        ),
        properties=(Property("anything", lambda s: True, "nothing is claimed"),),
        assumptions=(fits, *assumptions),
    )


def model_of(task: PeriodicTask, **options: Any) -> Model:
    """Return the model of the assembled systems, with all parameters arbitrary unless they are given."""

    def build(**values: int | None) -> System:
        return assemble(task, values, **options)

    return Model("assembled", "a sender, a channel and a receiver", PARAMETERS, (), "anything", build)


def build_timer(clock: LocalClock) -> Stopwatch:
    return Stopwatch("timer", clock, matters=lambda s: s.timer + 1)


def assemble_timer(steady: int | None, clock: LocalClock = CLOCK) -> System:
    """Assemble a clock and a stopwatch that is reset now and then."""
    timer = build_timer(clock)
    return System(
        name="timer",
        options={},
        parameters=(replace(STEADY, value=steady),),
        variables=tuple(replace(v, cap=None) for v in (*clock.variables(), *timer.variables())),
        phases=(
            *clock.phases(),
            *timer.phases(),
            Phase("restart", lambda s, c: update(**timer.reset(s, c.restarts)), (Flag("restarts"),)),
        ),
        properties=(Property("anything", lambda s: True, "nothing is claimed"),),
    )


def model_timer(clock: LocalClock) -> Model:
    """Return the model of the clock and the stopwatch, for every bound on the clock."""

    def build(steady: int | None) -> System:
        return assemble_timer(steady, clock)

    return Model("timer", "a clock and a stopwatch", (STEADY,), (), "anything", build)
