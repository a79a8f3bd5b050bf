"""A trace as plain rows: what every report shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fdverify.models.cast import Cast, cast_of
from fdverify.models.expression import Expression
from fdverify.models.interpret import observe
from fdverify.models.system import Integers, State, System
from fdverify.traces.messages import Message, messages
from fdverify.traces.run import Run, Trace, replay


@dataclass(frozen=True)
class Row:
    """A state of a trace and how it came about; ``phase`` is named at sub-rounds only."""

    round: int
    phase: str | None
    choices: dict[str, Any]
    state: dict[str, Any]
    shown: dict[str, int]


@dataclass(frozen=True)
class Shown:
    """A run that has been replayed, ready to be shown: plain data, whoever replayed it."""

    parameters: dict[str, int]
    rows: tuple[Row, ...]
    loop: int | None = None
    """The round after which the rows repeat for ever."""
    cast: Cast = field(default_factory=Cast)
    messages: tuple[Message, ...] = ()


def shown(system: System, run: Run, subrounds: bool = False, show: Sequence[Expression] = ()) -> Shown:
    trace = replay(system, run)
    seen = tuple(rows(trace, subrounds, show))
    return Shown(dict(run.parameters), seen, run.loop, cast_of(system), messages(trace, subrounds))


def rows(trace: Trace, subrounds: bool, show: Sequence[Expression]) -> list[Row]:
    system = trace.system

    def row(number: int, phase: str | None, choices: dict[str, Any], state: State) -> Row:
        shown = {expression.text: expression.evaluate(state.values()) for expression in show}
        return Row(number, phase, choices, observe(system, state), shown)

    found = [row(0, None, {}, trace.initial)]
    for number, traced in enumerate(trace.rounds, start=1):
        if not subrounds:
            found.append(row(number, None, dict(traced.made), traced.after))
            continue
        for phase, state in zip(system.phases, traced.states, strict=False):
            made = {choice.name: traced.made[choice.name] for choice in phase.choices}
            found.append(row(number, phase.name, made, state))
    return found


def shown_names(system: System) -> set[str]:
    """The names that an expression over a trace may use: parameters and integer variables."""
    return {p.name for p in system.parameters} | {v.name for v in system.variables if isinstance(v.sort, Integers)}
