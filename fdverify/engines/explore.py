"""Explicit-state exploration: visit every reachable state of a system with fixed parameters, breadth first.

A level holds the states that are first reached after the same number of steps.  A step is a global round or, at
sub-rounds, one phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from fdverify.engines.batch import BatchInterpreter, Expansion, Index, build_truth_column, find_predecessor
from fdverify.engines.caps import (
    Box,
    Caps,
    apply_caps,
    build_constant_cap,
    can_see_past_caps,
    check_phases_ignore_caps,
    choose_declared_caps,
    list_integer_variables,
)
from fdverify.engines.level_store import LevelStore
from fdverify.engines.overflow import OverflowGuard, check_compiles
from fdverify.engines.packing import Packing, Rows, join_states
from fdverify.engines.state_table import StateTable
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And
from fdverify.models.system import Property, System
from fdverify.runs.concrete_interpreter import build_initial_state, find_first_round
from fdverify.runs.layout import Layout
from fdverify.runs.run import Run, confirm_violation, format_rounds, replay_run
from fdverify.verdict import Obligation, Progress, Report, Result, Verdict, ignore_progress

_FURTHEST_CLOCK = 1 << 14
_BATCH = 1 << 15
_GHOSTS = 4
"""If the number of states is limited: how many states may differ in their ghosts alone, on average."""


def explore(
    system: System,
    claim: Property,
    subrounds: bool = False,
    depth: int | None = None,
    report: Report = ignore_progress,
    memory_limit: int | None = None,
) -> Result:
    """Check ``claim`` in every reachable state, or in those within ``depth`` steps of the initial state."""
    start = perf_counter()
    exploration = explore_states(
        system, claim, subrounds=subrounds, depth=depth, report=report, memory_limit=memory_limit
    )
    return conclude_exploration(exploration, perf_counter() - start)


def explore_states(
    system: System,
    claim: Property,
    observed: Sequence[Property] = (),
    subrounds: bool = False,
    depth: int | None = None,
    report: Report = ignore_progress,
    most_states: int | None = None,
    memory_limit: int | None = None,
) -> Exploration:
    """Visit states until one violates ``claim``.

    States are stored such that neither the claim nor the ``observed`` properties see past a cap.  Those that take more
    than ``memory_limit`` bytes go to temporary files.
    """
    system.compute_fixed_parameters()
    together = replace(claim, holds=lambda s: And(*(prop.holds(s) for prop in (claim, *observed))))
    check_compiles(system, together if observed else claim)
    for prop in observed:
        choose_declared_caps(system, prop, depth)
    horizon = 0
    while True:
        caps = choose_caps(system, claim, horizon, depth)
        exploration = explore_with_caps(system, claim, caps, subrounds, depth, report, most_states, memory_limit)
        needed = horizon if depth is not None else _find_needed_horizon(exploration, observed, horizon)
        if needed == horizon:
            return exploration
        horizon = needed


def explore_with_caps(
    system: System,
    claim: Property,
    caps: Caps,
    subrounds: bool,
    depth: int | None,
    report: Report,
    most_states: int | None = None,
    memory_limit: int | None = None,
) -> Exploration:
    """Explore with the smallest integers that suffice."""
    exploration = Exploration(system, claim, caps, subrounds, memory_limit=memory_limit)
    try:
        exploration.run(depth, report, most_states)
    except OverflowError:  # numpy refuses a number that is too large for an array
        exploration = Exploration(system, claim, caps, subrounds, exact=True, memory_limit=memory_limit)
        exploration.run(depth, report, most_states)
    return exploration


def choose_caps(system: System, claim: Property, horizon: int, depth: int | None) -> Caps:
    """Return the caps for storing states: those that the model declares, and the horizon for its clocks."""
    # Up to a bounded depth a clock takes finitely many values: all of them are stored.
    clocks = {v.name: build_constant_cap(horizon) for v in system.variables if v.clock and depth is None}
    caps = {**choose_declared_caps(system, claim, depth), **clocks}
    check_phases_ignore_caps(system, caps)
    return caps


def _find_needed_horizon(exploration: Exploration, observed: Sequence[Property], horizon: int) -> int:
    """Return how far clocks must be stored, given the values of the other variables that were reached."""
    system, claim, caps = exploration.system, exploration.claim, exploration.caps
    clocks = [v.name for v in system.variables if v.clock]
    if not clocks:
        return horizon
    if exploration.violation is not None:
        run = exploration.reconstruct_run(exploration.violation)
        # A violation that exists only because a clock was capped is spurious.
        return _raise_horizon(system, claim, horizon) if claim.holds(replay_run(system, run).last) else horizon
    box = exploration.compute_box()
    for prop in (claim, *observed):
        while can_see_past_caps(system, prop, {**caps, **dict.fromkeys(clocks, build_constant_cap(horizon))}, box):
            horizon = _raise_horizon(system, prop, horizon)
    return horizon


def _raise_horizon(system: System, claim: Property, horizon: int) -> int:
    if 2 * horizon > _FURTHEST_CLOCK:
        clocks = ", ".join(v.name for v in system.variables if v.clock)
        raise UsageError(f"{claim.name} reads {clocks} without a bound", "bound it: --depth N")
    return max(16, 2 * horizon)


@dataclass(frozen=True)
class _StatePosition:
    """The position of a state: its level, and its index there."""

    level: int
    at: int


class Exploration:
    """One breadth-first exploration with fixed caps: its levels, the first violation and the first dead end."""

    def __init__(
        self,
        system: System,
        claim: Property,
        caps: Caps,
        subrounds: bool,
        exact: bool = False,
        memory_limit: int | None = None,
    ) -> None:
        self.system = system
        self.claim = claim
        self.caps = caps
        self.subrounds = subrounds
        self._steps = [(phase,) for phase in system.phases] if subrounds else [system.phases]
        self._layout = Layout(system, system.compute_fixed_parameters(), system.variables)
        self.batches = BatchInterpreter(self._layout, object)
        self._guard = None if exact else OverflowGuard(system, claim)
        self.complete = False
        self._counted = [k for k, v in enumerate(self._layout.list_column_owners()) if not v.ghost]
        # Without ghosts, the states that are counted are the visited ones.
        self._has_ghosts = len(self._counted) < len(self._layout.columns)
        number = len(self._steps) * (2 if self._has_ghosts else 1)
        half = None if memory_limit is None else memory_limit // 2
        tables = [StateTable(None if half is None else half // number) for _ in range(number)]
        self._tables, self._counts = tables[: len(self._steps)], tables[-len(self._steps) :]
        self._levels = LevelStore(half)
        self._guarded: Packing | None = None
        self.depth = 0
        self.violation: _StatePosition | None = None
        self.dead_end: _StatePosition | None = None

    @property
    def states(self) -> int:
        """The number of distinct states, without ghosts."""
        return sum(table.size for table in self._counts)

    @property
    def level_sizes(self) -> list[int]:
        """The number of states in each level."""
        return self._levels.sizes

    def get_level(self, level: int) -> Rows:
        """Return the states that are first reached after this number of steps.

        Their integers are whole machine words or Python's, since other functions than those of the model read them.
        """
        return _widen_rows(self._read_states(level, 0, self.level_sizes[level]))

    def get_all_states(self) -> Rows:
        """Return the states of all levels, one level after the other."""
        levels = [self.get_level(level) for level in range(len(self._levels))]
        return [np.concatenate(columns) for columns in zip(*levels, strict=True)]

    def _count_visited(self) -> int:
        """Count the distinct states, ghosts included."""
        return sum(table.size for table in self._tables)

    def run(self, depth: int | None, report: Report, most_states: int | None = None) -> None:
        """Explore until no state is new, a violation is found, or ``depth`` or ``most_states`` is reached."""
        self._add_level([self.cap_rows(self.batches.build_rows(build_initial_state(self.system)))])
        while self.violation is None and self.level_sizes[-1] > 0:
            if depth is not None and len(self._levels) > depth:
                return
            # A ghost that grows for ever adds no state to the count, so the visited ones are limited, too.
            if most_states is not None and max(self.states, self._count_visited() // _GHOSTS) > most_states:
                return
            self._add_level(self._generate_successors(len(self._levels) - 1, report))
            report(Progress(depth=len(self._levels) - 1, states=self.states))
        self.complete = True

    def compute_box(self) -> Box:
        """Return the smallest and the largest value of each integer variable in the visited states."""
        names = [variable.name for variable in self._layout.list_column_owners()]
        columns = {name: names.index(name) for name in list_integer_variables(self.system)}
        box: dict[str, tuple[int, int]] = {}
        for level in range(len(self._levels)):
            for _, rows in self.split_level(level):
                for name, at in columns.items():
                    low, high = int(rows[at].min()), int(rows[at].max())
                    lowest, highest = box.get(name, (low, high))
                    box[name] = min(low, lowest), max(high, highest)
        return box

    def reconstruct_run(self, end: _StatePosition) -> Run:
        """Reconstruct a shortest run to a state: find a predecessor in each level, from the last to the first."""
        target = [column[0] for column in self._read_states(end.level, end.at, end.at + 1)]
        steps: list[dict[str, Any]] = []
        for level in range(end.level - 1, -1, -1):
            choices, target = self._find_predecessor(level, target)
            steps.append(choices)
        steps.reverse()
        values = self.system.compute_fixed_parameters()
        if not self.subrounds:
            return Run(values, tuple(steps))
        size = len(self.system.phases)
        rounds = [steps[start : start + size] for start in range(0, len(steps), size)]
        whole = tuple({name: value for step in part for name, value in step.items()} for part in rounds)
        return Run(values, whole, len(rounds[-1]) if rounds else None)

    def reconstruct_dead_end_run(self, end: _StatePosition) -> Run:
        """Reconstruct a run to a dead end; its replay confirms that the interpreter cannot go on either."""
        run = self.reconstruct_run(end)
        trace = replay_run(self.system, run)
        if (
            run.phases_of_last in (None, len(trace.system.phases))
            and find_first_round(trace.system, trace.last) is not None
        ):
            raise InternalError("the interpreter goes on where the explorer found a dead end")
        return run

    def cap_rows(self, rows: Rows) -> Rows:
        if not self.caps:
            return rows
        capped = self.batches.evaluate(lambda state: apply_caps(state, self.caps), rows)
        return self.batches.flatten_state(capped, len(rows[0]))

    def _add_level(self, batches: Iterable[Rows]) -> None:
        """Add a level with those states that are new, and check the claim in each of them."""
        at = len(self._levels) % len(self._steps)
        level = join_states([self._tables[at].add(rows) for rows in batches])
        self._levels.append(level)
        self._choose_integer(level.packing)
        if self._count_level(at) > 0:
            self.depth = len(self._levels)
        for start, rows in self.split_level(len(self._levels) - 1):
            holds = build_truth_column(self.batches.evaluate(self.claim.holds, rows), len(rows[0]))
            if not holds.all():
                self.violation = _StatePosition(len(self._levels) - 1, start + int(np.argmin(holds)))
                return

    def _choose_integer(self, packing: Packing) -> None:
        """Choose the type of integers before anything is computed from a level."""
        if self._guard is None or packing is self._guarded:
            return
        self._guarded = packing
        columns = zip(self._layout.columns, packing.lows, packing.highs, strict=True)
        integer = self._guard.choose_integer([(low, high) for kind, low, high in columns if kind == "int"])
        if integer is not self.batches.integer:
            self.batches = BatchInterpreter(self._layout, integer)

    def _count_level(self, at: int) -> int:
        """Count the states of the last level that differ from all others in more than ghosts."""
        if not self._has_ghosts:
            return self.level_sizes[-1]
        batches = self.split_level(len(self._levels) - 1)
        return sum(len(self._counts[at].add([rows[k] for k in self._counted])) for _, rows in batches)

    def _generate_successors(self, level: int, report: Report) -> Iterator[Rows]:
        """Generate the successors of a level, in batches."""
        for start, rows in self.split_level(level):
            expansions = self.expand(level, rows)
            self._note_dead_ends(level, start, len(rows[0]), expansions)
            report(Progress(depth=level, states=self.states))
            yield self.cap_rows(expansions[-1].rows)

    def split_level(self, level: int) -> Iterator[tuple[int, Rows]]:
        """Split a level into batches whose successors fit in memory, each with its first position."""
        for start in range(0, self.level_sizes[level], _BATCH):
            yield start, self._read_states(level, start, start + _BATCH)

    def _read_states(self, level: int, start: int, end: int) -> Rows:
        return self._levels.read(level, start, end).unpack(self.batches.kinds)

    def expand(self, level: int, rows: Rows) -> list[Expansion]:
        """Run the phases of the step that follows this level."""
        expansions: list[Expansion] = []
        for phase in self._steps[level % len(self._steps)]:
            expansions.append(self.batches.expand(phase, expansions[-1].rows if expansions else rows))
        return expansions

    def find_successors(self, rows: Rows) -> tuple[Index, Rows]:
        """Return all successors of these states, each with the position of the state it came from."""
        expansions = self.expand(0, rows)
        return compose_origins(expansions), _widen_rows(self.cap_rows(expansions[-1].rows))

    def _note_dead_ends(self, level: int, start: int, size: int, expansions: list[Expansion]) -> None:
        if self.dead_end is not None:
            return
        goes_on = np.zeros(size, dtype=bool)
        goes_on[compose_origins(expansions)] = True
        if not goes_on.all():
            self.dead_end = _StatePosition(level, start + int(np.flatnonzero(~goes_on)[0]))

    def _find_predecessor(self, level: int, target: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return the choices of a step from ``level`` to ``target``, and the state it starts from."""
        for _, rows in self.split_level(level):
            expansions = self.expand(level, rows)
            ends = self.cap_rows(expansions[-1].rows)
            if np.logical_and.reduce([column == part for column, part in zip(ends, target, strict=True)]).any():
                break
        choices, position = find_predecessor(expansions, ends, target)
        return choices, [column[position] for column in rows]


def _widen_rows(rows: Rows) -> Rows:
    """Store integers of half a machine word in whole ones."""
    return [column.astype(np.int64) if column.dtype == np.int32 else column for column in rows]


def compose_origins(expansions: list[Expansion]) -> Index:
    """Return, for each state after the last phase, the position of the state before the first phase."""
    origin = expansions[-1].origin
    for expansion in expansions[-2::-1]:
        origin = expansion.origin.take(origin)
    return origin


def conclude_exploration(exploration: Exploration, seconds: float) -> Result:
    """Return the verdict on the claim; a run in it has been replayed."""
    claim = exploration.claim
    statistics = {"states": exploration.states, "depth": exploration.depth}

    def build_result(verdict: Verdict, detail: str, run: Run | None = None) -> Result:
        return Result(verdict, detail, statistics, (Obligation(claim.name, "exploration", verdict, seconds),), run)

    if exploration.violation is not None:
        run = confirm_violation(exploration.system, claim, exploration.reconstruct_run(exploration.violation))
        return build_result(Verdict.VIOLATED, f"{claim.name} is violated after {_format_steps(exploration, run)}", run)
    if exploration.dead_end is not None:
        run = exploration.reconstruct_dead_end_run(exploration.dead_end)
        return build_result(
            Verdict.VACUOUS, f"a dead end: no step is possible after {_format_steps(exploration, run)}", run
        )
    if not exploration.complete:
        steps = "sub-rounds" if exploration.subrounds else "rounds"
        return build_result(Verdict.BOUNDED, f"{claim.name} holds within {len(exploration.level_sizes) - 1} {steps}")
    return build_result(Verdict.PROVED, f"{claim.name} holds in all {exploration.states} reachable states")


def _format_steps(exploration: Exploration, run: Run) -> str:
    words = format_rounds(len(run.rounds))
    if run.phases_of_last is None or run.phases_of_last == len(exploration.system.phases):
        return words
    return f"{words}, the last one up to {exploration.system.phases[run.phases_of_last - 1].name}"
