"""That a proof says something: its assumptions can hold, time goes on, phases do something, premises are reached.

Premises are found by watching the implications that a claim makes while it is evaluated in reached states.  Of a
liveness goal, what its argument is about must happen instead: a wrong suspicion, a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from fdverify.engines.batch import Batches, Expansion, step_back, truths
from fdverify.engines.dead_ends import dead_end
from fdverify.engines.inductive import ASSUMPTIONS, GOAL_PREMISE, NO_DEAD_END, PHASES, Invariant, Kind
from fdverify.engines.parameters import small_instances, smallest_instance, unsatisfiable
from fdverify.engines.state_table import Rows, StateTable
from fdverify.errors import InternalError, located
from fdverify.liveness.argument import Argument
from fdverify.logic import And, Place, Truth, watching_premises
from fdverify.models.interpret import initial_state
from fdverify.models.layout import Layout
from fdverify.models.system import Ages, Property, State, System
from fdverify.traces.run import Run, replay
from fdverify.verdict import Obligation, Verdict

_WIDEST_LEVEL = 256
_MOST_MESSAGES = 5
_MOST_ROUNDS = 3000
_MOST_ROUNDS_FOR_HELPERS = 300
_ROUNDS_WITHOUT_NEWS = (10, 60)  # at first and, if something is still missing, on a second visit
_DEAD_END_DEPTH = 20
_LARGE = 1 << 15


@dataclass(frozen=True)
class Premise:
    """An implication in a claim: of which claim, and where its source is."""

    claim: str
    place: Place
    of_goal: bool


@dataclass(frozen=True)
class Witness:
    """A run, and what holds at its end."""

    shows: str
    run: Run


@dataclass(frozen=True)
class Vacuity:
    """What was found: obligations, in words what is wrong, premises of helpers never met, runs to the goal's."""

    obligations: tuple[Obligation, ...]
    detail: str
    unmet: tuple[Premise, ...]
    idle: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    dead_end: Run | None
    unseen: tuple[str, ...] = ()
    """What would be worth seeing, and was not."""
    false: tuple[str, ...] = ()
    """Claims that are false in a state that was reached."""


def vacuity(invariant: Invariant) -> Vacuity:
    start = perf_counter()
    searched = _searched(invariant)
    obligations = []
    details: list[str] = []

    def conclude(name: str, verdict: Verdict, detail: str) -> None:
        nonlocal start
        now = perf_counter()
        obligations.append(Obligation(name, Kind.VACUITY, verdict, now - start, detail))
        start = now
        if verdict is not Verdict.PROVED:
            details.append(detail)

    if searched is None:
        gave_up = (Verdict.UNKNOWN, "no parameters were found that satisfy the assumptions")
        conclude(ASSUMPTIONS, *(unsatisfiable(invariant.system) or gave_up))
        return Vacuity(tuple(obligations), details[0], (), (), (), None)
    conclude(ASSUMPTIONS, Verdict.PROVED, "")
    idle = [phase.name for phase in invariant.system.phases if phase.name not in searched.fired]
    phases = f"{', '.join(idle)} changed nothing in the runs looked at, {searched.where()}"
    conclude(PHASES, *((Verdict.VACUOUS, phases) if idle and not searched.narrowed else (Verdict.PROVED, "")))
    missing = searched.missing()
    premise = f"{missing} in the runs looked at, {searched.where()}"
    conclude(GOAL_PREMISE, *((Verdict.VACUOUS, premise) if missing else (Verdict.PROVED, "")))
    verdict, detail, run = dead_end(invariant.system, _all_hold(invariant), _DEAD_END_DEPTH)
    conclude(NO_DEAD_END, verdict, detail)
    unmet = tuple(premise for premise in searched.unmet() if not premise.of_goal)
    return Vacuity(
        tuple(obligations),
        "; ".join(details),
        unmet,
        tuple(idle),
        tuple(Witness(shows, found) for shows, found in searched.witnesses.items()),
        run,
        tuple(event.name for event in searched.looked_for()),
        tuple(sorted(searched.false)),
    )


def _all_hold(invariant: Invariant) -> Callable[[State], Truth]:
    def holds(state: State) -> Truth:
        return And(*(conjunct.holds(state) for conjunct in invariant.conjuncts))

    return holds


def _searched(invariant: Invariant) -> _Search | None:
    instances = small_instances(invariant.system)
    if not instances:
        smallest = smallest_instance(invariant.system)
        if smallest is None:
            return None
        instances = [smallest]
    search = _Search(invariant)
    visits = (_MOST_ROUNDS,) if len(instances) == 1 else _ROUNDS_WITHOUT_NEWS
    for patience, instance in product(visits, instances):
        search.walk(instance, patience)
        if search.finished():
            break
    return search


@dataclass
class _Search:
    """What has been seen in the runs walked so far."""

    invariant: Invariant
    fired: set[str] = field(default_factory=set)
    met: dict[Premise, bool] = field(default_factory=dict)
    witnesses: dict[str, Run] = field(default_factory=dict)
    """By what each shows."""
    instances: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)
    rounds: int = 0
    false: set[str] = field(default_factory=set)

    @property
    def goals(self) -> tuple[Property, ...]:
        """What is claimed of states, beside the conjuncts."""
        return tuple(claim for claim in self.invariant.conclusions if isinstance(claim, Property))

    def waited_for(self) -> list[Property]:
        """What an argument for liveness is about and has not been seen yet."""
        goal = self.invariant.goal
        return self._unseen(goal.witnesses if isinstance(goal, Argument) else ())

    def looked_for(self) -> list[Property]:
        """What would be worth seeing, too."""
        goal = self.invariant.goal
        return self._unseen(goal.sightings if isinstance(goal, Argument) else ())

    def _unseen(self, events: tuple[Property, ...]) -> list[Property]:
        return [event for event in events if event.meaning not in self.witnesses]

    def missing(self) -> str:
        """What a goal is about and was not seen, in words."""
        if isinstance(self.invariant.goal, Argument):
            events = [f"{event.name} ({event.meaning})" for event in self.waited_for()]
            return f"there was no {', no '.join(events)}," if events else ""
        places = [located(unmet.place.file, unmet.place.line) for unmet in self.unmet() if unmet.of_goal]
        return f"the goal's premise ({', '.join(places)}) was not reached" if places else ""

    def unmet(self) -> list[Premise]:
        return [premise for premise, met in self.met.items() if not met]

    @property
    def narrowed(self) -> bool:
        """Whether a parameter has a certain value, at which a phase may well have nothing to do, as ageing at Δ = 0."""
        return any(isinstance(parameter.value, int) for parameter in self.invariant.system.parameters)

    def finished(self) -> bool:
        """Whether all has been seen, or enough time was spent on it; the premises of helpers are worth less time."""
        unmet = self.unmet()
        idle = len(self.fired) < len(self.invariant.system.phases)
        if (idle and not self.narrowed) or self.missing():
            return self.rounds >= _MOST_ROUNDS
        return not (unmet or idle or self.looked_for()) or self.rounds >= _MOST_ROUNDS_FOR_HELPERS

    def _seen(self) -> int:
        return len(self.fired) + sum(self.met.values()) + len(self.witnesses)

    def where(self) -> str:
        if len(self.instances) == 1:
            (values,) = self.instances
            return f"at {', '.join(f'{name} = {value}' for name, value in values) or 'the only instance'}"
        return f"at {len(self.instances)} choices of small parameters"

    def walk(self, system: System, patience: int) -> None:
        """Breadth first, a level that grows too wide is thinned out; stop after so many rounds without news."""
        self.instances[tuple(system.parameter_values().items())] = None
        values = system.fixed_values()
        batches = Batches(Layout(system, values, system.variables), exact=max(values.values(), default=0) > _LARGE)
        table = StateTable(batches.kinds)
        rows = batches.rows(initial_state(system))
        levels = [rows]
        table.add(rows)
        news, known = 0, -1
        while len(levels[-1][0]) > 0:
            if batches.largest(levels[-1]) > _LARGE and not batches.exact:
                break  # what is computed from such numbers may not fit into the machine's
            self._look(system, batches, levels)
            if self._seen() > known:
                news, known = len(levels), self._seen()
            if self.finished() or len(levels) >= news + patience:
                break
            expansions = self._expand(batches, levels[-1])
            after = expansions[-1].rows
            new = table.add(after)
            levels.append(_thinned(batches, [column[new] for column in after]))
            self.rounds += 1

    def _expand(self, batches: Batches, rows: Rows) -> list[Expansion]:
        expansions: list[Expansion] = []
        for phase in batches.layout.system.phases:
            before = expansions[-1].rows if expansions else rows
            expansions.append(batches.expand(phase, before))
            if phase.name not in self.fired:
                pairs = zip(before, expansions[-1].rows, strict=True)
                if any(bool((old[expansions[-1].origin] != new).any()) for old, new in pairs):
                    self.fired.add(phase.name)
        return expansions

    def _look(self, system: System, batches: Batches, levels: list[Rows]) -> None:
        """Evaluate the goal, and every claim that still has premises to meet, in the states of the last level."""
        size = len(levels[-1][0])
        state = batches.state(levels[-1])
        for event in (*self.waited_for(), *self.looked_for()):
            at = np.flatnonzero(truths(event.holds(state), size))
            if len(at) > 0:
                run = self._run(system, batches, levels, int(at[0]))
                if not event.holds(replay(system, run).last):
                    raise InternalError(f"the run that was found does not show {event.name} when it is replayed")
                self.witnesses[event.meaning] = run
        waiting = {premise.claim for premise in self.unmet()} if self.met else None
        for claim in (*self.goals, *self.invariant.authored):
            if not (waiting is None or claim in self.goals or claim.name in waiting):
                continue
            holds, premises = _evaluated(claim, state, size)
            if not holds.all() and claim.name not in self.false:  # one run to it is enough, and costs as much as the walk
                run = self._run(system, batches, levels, int(np.flatnonzero(~holds)[0]))
                if not claim.holds(replay(system, run).last):
                    self.false.add(claim.name)
            if claim in self.goals and isinstance(self.invariant.goal, Argument):
                continue  # whether it is about something, its witnesses tell
            for place, true in premises.items():
                premise = Premise(claim.name, place, claim in self.goals)
                at = np.flatnonzero(true)
                if premise.of_goal and len(at) > 0 and not self.met.get(premise, False):
                    run = self._run(system, batches, levels, int(at[0]))
                    self.witnesses = {f"the premise of {claim.name} holds": run}
                self.met[premise] = self.met.get(premise, False) or len(at) > 0

    def _run(self, system: System, batches: Batches, levels: list[Rows], at: int) -> Run:
        """The choices that led to a state of the last level, found level by level from the end."""
        target = [column[at] for column in levels[-1]]
        made: list[dict[str, Any]] = []
        for rows in reversed(levels[:-1]):
            expansions = self._expand(batches, rows)
            choices, origin = step_back(expansions, expansions[-1].rows, target)
            made.append(choices)
            target = [column[origin] for column in rows]
        return Run(system.fixed_values(), tuple(reversed(made)))


def _thinned(batches: Batches, rows: Rows) -> Rows:
    """Some of many states: evenly spaced ones, and those in which a variable is at its least or its most.

    States with many messages in transit are left out: each can go on in as many ways as there are sets of messages.
    """
    state, size = batches.state(rows), len(rows[0])
    for variable in batches.layout.variables:
        if isinstance(variable.sort, Ages):
            buffer = state[variable.name]
            messages = sum(truths(buffer.has(age), size).astype(int) for age in range(buffer.delta + 1))
            rows = [column[messages <= _MOST_MESSAGES] for column in rows]
            state, size = batches.state(rows), len(rows[0])
    if size > _WIDEST_LEVEL:
        rows = _latest(batches, rows)
        size = len(rows[0])
    if size <= _WIDEST_LEVEL:
        return rows
    extremes = [place for column in rows for place in (int(column.argmin()), int(column.argmax()))]
    kept = np.unique([*range(0, size, -(-size // _WIDEST_LEVEL)), *extremes])
    return [column[kept] for column in rows]


def _latest(batches: Batches, rows: Rows) -> Rows:
    """Of states that differ in their clocks only, which nothing depends on, the one whose clocks show most."""
    owners = batches.layout.owners()
    clocks = [-column for column, owner in zip(rows, owners, strict=True) if owner.clock]
    others = [column for column, owner in zip(rows, owners, strict=True) if not owner.clock]
    if not clocks:
        return rows
    order = np.lexsort([*clocks, *others])
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in others])
    kept = np.sort(order[first])
    return [column[kept] for column in rows]


def _evaluated(claim: Property, state: State, size: int) -> tuple[Any, dict[Place, Any]]:
    """In which states of a batch a claim holds, and for each implication in it, in which its premise does."""
    met: dict[Place, Any] = {}

    def watch(place: Place, premise: Truth) -> None:
        met[place] = met.get(place, False) | truths(premise, size)

    with watching_premises(watch):
        return truths(claim.holds(state), size), met
