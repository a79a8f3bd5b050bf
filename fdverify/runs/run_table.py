"""A run as plain data: what every report shows of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fdverify.models.expression import Expression
from fdverify.models.participants import Channel, Role, derive_cast
from fdverify.models.system import Integers, State, System
from fdverify.runs.concrete_interpreter import observe_state
from fdverify.runs.messages import Message, follow_messages
from fdverify.runs.run import Run, Trace, replay_run

ShownValue: TypeAlias = bool | int | str | tuple[int, ...]
"""A value as reports show it."""


@dataclass(frozen=True)
class ShownStep:
    """A state and the choices that led to it; sets of ages are sorted.  ``phase`` is named at sub-rounds only."""

    round: int
    phase: str | None
    choices: Mapping[str, ShownValue]
    state: Mapping[str, ShownValue]
    show: Mapping[str, int] = field(default_factory=dict)
    """Expressions that the user asked for."""


@dataclass(frozen=True)
class ShownRun:
    """A run that was replayed; if there is a ``loop``, the steps of the rounds after that one repeat for ever."""

    parameters: Mapping[str, int]
    steps: tuple[ShownStep, ...]
    loop: int | None = None
    processes: tuple[Role, ...] = ()
    channels: tuple[Channel, ...] = ()
    messages: tuple[Message, ...] = ()
    model: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    WRITTEN = ("parameters", "steps", "loop", "processes", "channels", "messages")

    @property
    def rows(self) -> tuple[ShownStep, ...]:
        """The former name of ``steps``."""
        warnings.warn("rows is called steps now", DeprecationWarning, stacklevel=2)
        return self.steps


def show_run(system: System, run: Run, subrounds: bool = False, show: Sequence[Expression] = ()) -> ShownRun:
    """Replay a run, and list its steps."""
    trace = replay_run(system, run)
    cast = derive_cast(system)
    return ShownRun(
        parameters=dict(run.parameters),
        steps=tuple(_list_steps(trace, subrounds, show)),
        loop=run.loop,
        processes=cast.processes,
        channels=cast.channels,
        messages=follow_messages(trace, subrounds),
        model=system.name,
        options=system.options,
    )


def _list_steps(trace: Trace, subrounds: bool, show: Sequence[Expression]) -> list[ShownStep]:
    system = trace.system

    def show_step(number: int, phase: str | None, choices: Mapping[str, Any], state: State) -> ShownStep:
        values = {expression.text: expression.evaluate(state.values()) for expression in show}
        return ShownStep(number, phase, _sort_ages(choices), _sort_ages(observe_state(system, state)), values)

    steps = [show_step(0, None, {}, trace.initial)]
    for number, traced in enumerate(trace.rounds, start=1):
        if not subrounds:
            steps.append(show_step(number, None, traced.choices, traced.after))
            continue
        for phase, state in zip(system.phases, traced.states, strict=False):
            choices = {choice.name: traced.choices[choice.name] for choice in phase.choices}
            steps.append(show_step(number, phase.name, choices, state))
    return steps


def _sort_ages(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(sorted(value)) if isinstance(value, frozenset) else value for name, value in values.items()}


def list_shown_names(system: System) -> set[str]:
    """List the names that an expression over a run may use: parameters and integer variables."""
    return {p.name for p in system.parameters} | {v.name for v in system.variables if isinstance(v.sort, Integers)}
