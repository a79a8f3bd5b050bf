"""Explicit-state exploration: every reachable state of a system with fixed parameters, breadth first.

A level is the states first reached after so many steps, where a step is a global round or, at sub-rounds, one phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from fdverify.engines.batch import Batches, Expansion, Index, step_back, truths
from fdverify.engines.caps import Box, Caps, capped, check_behaviour, declared_caps, integers, sees_past
from fdverify.engines.conclusion import conclude
from fdverify.engines.machine import MachineGuard, OutgrowsMachine, check_compiles
from fdverify.engines.state_table import Rows, StateTable
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Number
from fdverify.models.interpret import first_round, initial_state
from fdverify.models.layout import Layout
from fdverify.models.system import Property, State, System
from fdverify.traces.run import Run, replay
from fdverify.verdict import Progress, Report, Result, silent

_FURTHEST_CLOCK = 1 << 14
_BATCH = 1 << 15
_GHOSTS = 4
"""How many values ghosts may have, of each state, where the number of states is limited."""


def explore(
    system: System, claim: Property, subrounds: bool = False, depth: int | None = None, report: Report = silent
) -> Result:
    """Check ``claim`` in every reachable state, or in those within ``depth`` steps of the initial one."""
    start = perf_counter()
    exploration = explore_states(system, claim, subrounds=subrounds, depth=depth, report=report)
    return conclude(exploration, perf_counter() - start)


def explore_states(
    system: System,
    claim: Property,
    observed: Sequence[Property] = (),
    subrounds: bool = False,
    depth: int | None = None,
    report: Report = silent,
    most_states: int | None = None,
) -> Exploration:
    """Visit the states until one breaks ``claim``; neither it nor what is ``observed`` sees how states are stored."""
    system.fixed_values()
    together = replace(claim, holds=lambda s: And(*(each.holds(s) for each in (claim, *observed))))
    check_compiles(system, together if observed else claim)
    for each in observed:
        declared_caps(system, each, depth)
    horizon = 0
    while True:
        caps = caps_for(system, claim, horizon, depth)
        exploration = explored(system, claim, caps, subrounds, depth, report, most_states)
        needed = horizon if depth is not None else _needed_horizon(exploration, observed, horizon)
        if needed == horizon:
            return exploration
        horizon = needed


def explored(
    system: System,
    claim: Property,
    caps: Caps,
    subrounds: bool,
    depth: int | None,
    report: Report,
    most_states: int | None = None,
) -> Exploration:
    """Explore with machine integers; if a value could outgrow them, with Python's."""
    exploration = Exploration(system, claim, caps, subrounds)
    try:
        exploration.run(depth, report, most_states)
    except (OutgrowsMachine, OverflowError):
        exploration = Exploration(system, claim, caps, subrounds, exact=True)
        exploration.run(depth, report, most_states)
    return exploration


def caps_for(system: System, claim: Property, horizon: int, depth: int | None) -> Caps:
    """The caps to store states with: those the model declares, and the horizon for its clocks."""
    # Within a depth a clock takes finitely many values: all of them are kept.
    clocks = {v.name: _constant(horizon) for v in system.variables if v.clock and depth is None}
    caps = {**declared_caps(system, claim, depth), **clocks}
    check_behaviour(system, caps)
    return caps


def _constant(number: int) -> Callable[[State], Number]:
    return lambda state: number


def _needed_horizon(exploration: Exploration, observed: Sequence[Property], horizon: int) -> int:
    """How far the clocks must be told apart for what is asked of states, given the other values that were met."""
    system, claim, caps = exploration.system, exploration.claim, exploration.caps
    clocks = [v.name for v in system.variables if v.clock]
    if not clocks:
        return horizon
    if exploration.violation is not None:
        run = exploration.trace_to(exploration.violation)
        # A violation that is there only because a clock was cut short is none.
        return _raised(system, claim, horizon) if claim.holds(replay(system, run).last) else horizon
    box = exploration.box()
    for each in (claim, *observed):
        while sees_past(system, each, {**caps, **dict.fromkeys(clocks, _constant(horizon))}, box):
            horizon = _raised(system, each, horizon)
    return horizon


def _raised(system: System, claim: Property, horizon: int) -> int:
    if 2 * horizon > _FURTHEST_CLOCK:
        clocks = ", ".join(v.name for v in system.variables if v.clock)
        raise UsageError(f"{claim.name} reads {clocks} without a bound", "bound it: --depth N")
    return max(16, 2 * horizon)


@dataclass(frozen=True)
class _End:
    """A state that ends the search or the run: where it is."""

    level: int
    at: int


class Exploration:
    def __init__(self, system: System, claim: Property, caps: Caps, subrounds: bool, exact: bool = False) -> None:
        self.system = system
        self.claim = claim
        self.caps = caps
        self.subrounds = subrounds
        self._steps = [(phase,) for phase in system.phases] if subrounds else [system.phases]
        values = system.fixed_values()
        self.batches = Batches(Layout(system, values, system.variables), exact)
        self._guard = None if exact else MachineGuard(system, claim)
        self._integers = [k for k, column in enumerate(self.batches.layout.columns) if column == "int"]
        self.complete = False
        self._counted = [k for k, v in enumerate(self.batches.layout.owners()) if not v.ghost]
        self._tables = [StateTable(self.batches.kinds) for _ in self._steps]
        self._counts = [StateTable([self.batches.kinds[k] for k in self._counted]) for _ in self._steps]
        self.levels: list[Rows] = []
        self.depth = 0
        self.violation: _End | None = None
        self.dead_end: _End | None = None

    @property
    def states(self) -> int:
        """How many distinct states there are, ghosts left out."""
        return sum(table.size for table in self._counts)

    def _visited(self) -> int:
        """How many distinct states there are, ghosts included."""
        return sum(table.size for table in self._tables)

    def run(self, depth: int | None, report: Report, most_states: int | None = None) -> None:
        """Explore until nothing is new, a violation is found, or ``depth`` or ``most_states`` is reached."""
        self._enter([self.capped(self.batches.rows(initial_state(self.system)))])
        while self.violation is None and len(self.levels[-1][0]) > 0:
            if depth is not None and len(self.levels) > depth:
                return
            # A ghost that grows makes no new state, and no end either.
            if most_states is not None and max(self.states, self._visited() // _GHOSTS) > most_states:
                return
            self._enter(self._successors(len(self.levels) - 1, report))
            report(Progress(depth=len(self.levels) - 1, states=self.states))
        self.complete = True

    def box(self) -> Box:
        layout = self.batches.layout
        names = [variable.name for variable in layout.owners()]
        met: dict[str, tuple[int, int]] = {}
        for name in integers(self.system):
            column = names.index(name)
            filled = [level[column] for level in self.levels if len(level[column])]
            met[name] = (int(min(c.min() for c in filled)), int(max(c.max() for c in filled)))
        return met

    def trace_to(self, end: _End) -> Run:
        """A shortest run to a state: from each level back to a state of the one before that leads to it."""
        target = [column[end.at] for column in self.levels[end.level]]
        steps: list[dict[str, Any]] = []
        for level in range(end.level - 1, -1, -1):
            made, target = self._back(level, target)
            steps.append(made)
        steps.reverse()
        values = self.system.fixed_values()
        if not self.subrounds:
            return Run(values, tuple(steps))
        size = len(self.system.phases)
        rounds = [steps[at : at + size] for at in range(0, len(steps), size)]
        whole = tuple({name: value for step in part for name, value in step.items()} for part in rounds)
        return Run(values, whole, len(rounds[-1]) if rounds else None)

    def run_to_dead_end(self, end: _End) -> Run:
        """The run, once its replay has shown that the interpreter cannot go on either."""
        run = self.trace_to(end)
        trace = replay(self.system, run)
        if run.phases_of_last in (None, len(trace.system.phases)) and first_round(trace.system, trace.last) is not None:
            raise InternalError("the interpreter goes on where the explorer found a dead end")
        return run

    def capped(self, rows: Rows) -> Rows:
        if not self.caps:
            return rows
        return self.batches.flattened(capped(self.batches.state(rows), self.caps), len(rows[0]))

    def _enter(self, batches: Iterable[Rows]) -> None:
        """Make a level of those states that are new, and look at each of them."""
        table = len(self.levels) % len(self._steps)
        parts: list[Rows] = []
        for rows in batches:
            new = self._tables[table].add(rows)
            parts.append([column[new] for column in rows])
        level = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        self.levels.append(level)
        size = len(level[0])
        if size == 0:
            return
        if self._guard is not None:
            self._guard.check([level[k] for k in self._integers])
        if len(self._counts[table].add([level[k] for k in self._counted])) > 0:
            self.depth = len(self.levels)
        broken = np.flatnonzero(~truths(self.claim.holds(self.batches.state(level)), size))
        if len(broken) > 0:
            self.violation = _End(len(self.levels) - 1, int(broken[0]))

    def _successors(self, level: int, report: Report) -> Iterator[Rows]:
        """The states one step after a level, in batches."""
        for start, rows in self.batches_of(level):
            expansions = self.expand(level, rows)
            self._note_dead_ends(level, start, len(rows[0]), expansions)
            report(Progress(depth=level, states=self.states))
            yield self.capped(expansions[-1].rows)

    def batches_of(self, level: int) -> Iterator[tuple[int, Rows]]:
        """A level in parts of a size whose successors fit in memory, each with its first position."""
        rows = self.levels[level]
        for start in range(0, len(rows[0]), _BATCH):
            yield start, [column[start : start + _BATCH] for column in rows]

    def expand(self, level: int, rows: Rows) -> list[Expansion]:
        expansions: list[Expansion] = []
        for phase in self._steps[level % len(self._steps)]:
            expansions.append(self.batches.expand(phase, expansions[-1].rows if expansions else rows))
        return expansions

    def next_states(self, rows: Rows) -> tuple[Index, Rows]:
        """Every state that one round leads to from these, each with the position of the one that it came from."""
        expansions = self.expand(0, rows)
        return _origin(expansions), self.capped(expansions[-1].rows)

    def _note_dead_ends(self, level: int, start: int, size: int, expansions: list[Expansion]) -> None:
        if self.dead_end is not None:
            return
        goes_on = np.zeros(size, dtype=bool)
        goes_on[_origin(expansions)] = True
        if not goes_on.all():
            self.dead_end = _End(level, start + int(np.flatnonzero(~goes_on)[0]))

    def _back(self, level: int, target: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """A state of ``level`` that one step leads to ``target`` from, and the choices of that step."""
        for _, rows in self.batches_of(level):
            expansions = self.expand(level, rows)
            ends = self.capped(expansions[-1].rows)
            if np.logical_and.reduce([column == part for column, part in zip(ends, target, strict=True)]).any():
                break
        made, at = step_back(expansions, ends, target)
        return made, [column[at] for column in rows]


def _origin(expansions: list[Expansion]) -> Index:
    """For each state after the last of some phases, the position of the one before the first."""
    origin = expansions[-1].origin
    for expansion in expansions[-2::-1]:
        origin = expansion.origin[origin]
    return origin
