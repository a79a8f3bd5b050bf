"""Sampled runs at small parameters: which phases change something, and which premises and events are reached.

The runs are walked breadth first.  The premises are those of the implications that are recorded while a claim is
evaluated in reached states.  If one is not met there, a solver searches short runs at arbitrary parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from fdverify.engines.batch import BatchInterpreter, Expansion, build_truth_column, find_predecessor
from fdverify.engines.instances import find_larger_instances, find_smallest_instance, list_small_instances
from fdverify.engines.packing import Rows
from fdverify.engines.state_table import StateTable
from fdverify.errors import InternalError, format_location
from fdverify.liveness.argument import Argument
from fdverify.logic import Or, Place, Truth, watch_premises
from fdverify.models.system import Ages, Property, State, System
from fdverify.obligations.inductive import Invariant
from fdverify.obligations.reachability import find_run_to
from fdverify.runs.concrete_interpreter import build_initial_state
from fdverify.runs.layout import Layout
from fdverify.runs.run import Run, replay_run

_WIDEST_LEVEL = 256
_MOST_MESSAGES = 5
_MOST_ROUNDS = 3000
_MOST_ROUNDS_FOR_NOTES = 300
_ROUNDS_WITHOUT_NEWS = (10, 60)  # on the first visit and, if something is still missing, on the second
_ROUNDS_WITHOUT_NEWS_FOR_NOTES = 5  # on the first visit: what was not seen by then is seen elsewhere
_LARGE = 1 << 15
_MOST_NUMBERS = 64


@dataclass(frozen=True)
class ImplicationPremise:
    """The premise of an implication in a claim: the claim, and the place of the implication in its source."""

    claim: str
    place: Place
    of_goal: bool


def choose_instances(system: System) -> list[System]:
    """Return small instances, or the smallest that is found if the assumptions exclude all of these."""
    instances = list_small_instances(system)
    if not instances:
        smallest = find_smallest_instance(system)
        return [] if smallest is None else [smallest]
    return instances


def sample_runs(invariant: Invariant) -> SampledRuns | None:
    """Walk runs of some instances until everything is seen; return ``None`` if no instance is found."""
    instances = choose_instances(invariant.system)
    if not instances:
        return None
    search = SampledRuns(invariant)
    visits = (_MOST_ROUNDS,) if len(instances) == 1 else _ROUNDS_WITHOUT_NEWS
    for patience, instance in product(visits, instances):
        if patience == visits[0] and search.is_pointless(instance):
            continue
        search.walk(instance, patience)
        if search.is_finished():
            return search
    if search.list_idle_phases() or search.describe_missing():
        # Larger parameters may be needed: if Δ = 0, messages never grow older.
        for instance in find_larger_instances(invariant.system, instances):
            search.walk(instance, _ROUNDS_WITHOUT_NEWS[-1])
            if search.has_seen_all():
                break
    search.search_missing()
    return search


@dataclass
class SampledRuns:
    """What has been seen in the runs that were walked so far."""

    invariant: Invariant
    fired: set[str] = field(default_factory=set)
    met: dict[ImplicationPremise, bool] = field(default_factory=dict)
    witnesses: dict[str, Run] = field(default_factory=dict)
    """Runs, by what holds at their end."""
    instances: dict[tuple[tuple[str, int], ...], None] = field(default_factory=dict)
    rounds: int = 0
    false: set[str] = field(default_factory=set)

    @property
    def goals(self) -> tuple[Property, ...]:
        """The claims about states that the invariant has to imply."""
        return tuple(claim for claim in self.invariant.conclusions if isinstance(claim, Property))

    def list_missing_witnesses(self) -> list[Property]:
        """Return the witnesses of a liveness argument that have not been seen yet."""
        goal = self.invariant.goal
        return self._select_unseen(goal.witnesses if isinstance(goal, Argument) else ())

    def list_missing_sightings(self) -> list[Property]:
        """Return the sightings of a liveness argument that have not been seen yet; they yield only notes."""
        goal = self.invariant.goal
        return self._select_unseen(goal.sightings if isinstance(goal, Argument) else ())

    def _select_unseen(self, events: tuple[Property, ...]) -> list[Property]:
        return [event for event in events if event.meaning not in self.witnesses]

    def describe_missing(self) -> str:
        """Describe the events or premises of the goal that were not reached; return an empty text if all were."""
        if isinstance(self.invariant.goal, Argument):
            events = [f"{event.name} ({event.meaning})" for event in self.list_missing_witnesses()]
            return f"there was no {', no '.join(events)}," if events else ""
        places = [
            format_location(premise.place.file, premise.place.line)
            for premise in self.list_unmet_premises()
            if premise.of_goal
        ]
        return f"the goal's premise ({', '.join(places)}) was not reached" if places else ""

    def list_unmet_premises(self) -> list[ImplicationPremise]:
        return [premise for premise, met in self.met.items() if not met]

    @property
    def has_fixed_parameter(self) -> bool:
        """Whether some parameter is fixed; a phase may then have nothing to do, as the ageing of messages at Δ = 0."""
        return any(isinstance(parameter.value, int) for parameter in self.invariant.system.parameters)

    def list_idle_phases(self) -> list[str]:
        """Return the phases that have changed nothing so far."""
        return [phase.name for phase in self.invariant.system.phases if phase.name not in self.fired]

    def has_seen_all(self) -> bool:
        return not (
            self.list_unmet_premises()
            or self.list_idle_phases()
            or self.list_missing_sightings()
            or self.describe_missing()
        )

    def is_pointless(self, system: System) -> bool:
        """Tell whether only phases are missing, and messages cannot grow older here: ageing is often the last phase."""
        if not self.fired or self.list_unmet_premises() or self.list_missing_sightings() or self.describe_missing():
            return False
        values, bounds = system.compute_fixed_parameters(), system.list_age_bounds()
        return bool(bounds) and all(values[bound] == 0 for bound in bounds)

    def is_finished(self) -> bool:
        """Tell whether everything has been seen or enough rounds were walked; fewer are if only notes are missing."""
        if self.describe_missing() or not self.fired:
            return self.rounds >= _MOST_ROUNDS
        return self.has_seen_all() or self.rounds >= _MOST_ROUNDS_FOR_NOTES

    def search_missing(self) -> None:
        """Let a solver search for missing events and premises of the goal, which may need larger parameters."""
        for event in self.list_missing_witnesses():
            run = find_run_to(self.invariant, event.holds)
            if run is not None:
                self.witnesses[event.meaning] = run
        for premise in [premise for premise in self.list_unmet_premises() if premise.of_goal]:
            claim = next(goal for goal in self.goals if goal.name == premise.claim)
            run = find_run_to(self.invariant, _build_premise_condition(claim, premise.place))
            if run is not None:
                self.witnesses = {f"the premise of {claim.name} holds": run}
                self.met[premise] = True

    def add_fair_run(self, run: Run) -> None:
        """Use a fair lasso as the witness of every missing sighting: it shows more than a finite run does."""
        for event in self.list_missing_sightings():
            self.witnesses.setdefault(event.meaning, run)

    def _count_seen(self) -> int:
        return len(self.fired) + sum(self.met.values()) + len(self.witnesses)

    def describe_instances(self) -> str:
        if len(self.instances) == 1:
            (values,) = self.instances
            return f"at {', '.join(f'{name} = {value}' for name, value in values) or 'the only instance'}"
        return f"at {len(self.instances)} choices of small parameters"

    def walk(self, system: System, patience: int) -> None:
        """Walk breadth first, thin out wide levels, and stop after ``patience`` rounds in which nothing new is seen."""
        self.instances[tuple(system.compute_parameters().items())] = None
        values = system.compute_fixed_parameters()
        batches = BatchInterpreter(
            Layout(system, values, system.variables),
            object if max(values.values(), default=0) > _LARGE else np.int64,
            _MOST_NUMBERS,
        )
        table = StateTable()
        rows = batches.build_rows(build_initial_state(system))
        levels = [rows]
        table.add(rows)
        last_news, known = 0, -1
        while len(levels[-1][0]) > 0:
            if batches.find_largest_integer(levels[-1]) > _LARGE and batches.integer is not object:
                break  # values computed from such numbers may overflow
            self._look_at_level(system, batches, levels)
            if self._count_seen() > known:
                last_news, known = len(levels), self._count_seen()
            if self.is_finished() or len(levels) >= last_news + self._limit_patience(patience):
                break
            expansions = self._expand_level(batches, levels[-1])
            new = table.add(expansions[-1].rows)
            levels.append(_thin_out(batches, new.unpack(batches.kinds)))
            self.rounds += 1

    def _limit_patience(self, patience: int) -> int:
        """Return after how many rounds without news a walk ends: fewer if only notes are missing."""
        only_notes = self.fired and not (self.describe_missing() or self.list_missing_sightings())
        is_first = patience == _ROUNDS_WITHOUT_NEWS[0]
        return _ROUNDS_WITHOUT_NEWS_FOR_NOTES if only_notes and is_first else patience

    def _expand_level(self, batches: BatchInterpreter, rows: Rows) -> list[Expansion]:
        expansions: list[Expansion] = []
        for phase in batches.layout.system.phases:
            before = expansions[-1].rows if expansions else rows
            expansions.append(batches.expand(phase, before))
            if phase.name not in self.fired:
                pairs = zip(before, expansions[-1].rows, strict=True)
                if any(bool((old[expansions[-1].origin] != new).any()) for old, new in pairs):
                    self.fired.add(phase.name)
        return expansions

    def _look_at_level(self, system: System, batches: BatchInterpreter, levels: list[Rows]) -> None:
        """Evaluate the goal, and every claim with unmet premises, in the states of the last level."""
        size = len(levels[-1][0])
        state = batches.restore_state(levels[-1])
        for event in (*self.list_missing_witnesses(), *self.list_missing_sightings()):
            positions = np.flatnonzero(build_truth_column(event.holds(state), size))
            if len(positions) > 0:
                run = self._reconstruct_run(system, batches, levels, int(positions[0]))
                if not event.holds(replay_run(system, run).last):
                    raise InternalError(f"the run that was found does not show {event.name} when it is replayed")
                self.witnesses[event.meaning] = run
        waiting = {premise.claim for premise in self.list_unmet_premises()} if self.met else None
        for claim in (*self.goals, *self.invariant.authored):
            if not (waiting is None or claim in self.goals or claim.name in waiting):
                continue
            holds, premises = _evaluate_claim(claim, state, size)
            if not holds.all() and claim.name not in self.false:  # one run is enough: each costs as much as the walk
                run = self._reconstruct_run(system, batches, levels, int(np.flatnonzero(~holds)[0]))
                if not claim.holds(replay_run(system, run).last):
                    self.false.add(claim.name)
            if claim in self.goals and isinstance(self.invariant.goal, Argument):
                continue  # its witnesses tell whether it is vacuous
            for place, true in premises.items():
                premise = ImplicationPremise(claim.name, place, claim in self.goals)
                positions = np.flatnonzero(true)
                if premise.of_goal and len(positions) > 0 and not self.met.get(premise, False):
                    run = self._reconstruct_run(system, batches, levels, int(positions[0]))
                    self.witnesses = {f"the premise of {claim.name} holds": run}
                self.met[premise] = self.met.get(premise, False) or len(positions) > 0

    def _reconstruct_run(self, system: System, batches: BatchInterpreter, levels: list[Rows], position: int) -> Run:
        """Reconstruct a run to a state of the last level, level by level from the end."""
        target = [column[position] for column in levels[-1]]
        rounds: list[dict[str, Any]] = []
        for rows in reversed(levels[:-1]):
            expansions = self._expand_level(batches, rows)
            choices, origin = find_predecessor(expansions, expansions[-1].rows, target)
            rounds.append(choices)
            target = [column[origin] for column in rows]
        return Run(system.compute_fixed_parameters(), tuple(reversed(rounds)))


def _thin_out(batches: BatchInterpreter, rows: Rows) -> Rows:
    """Keep some states of a level: evenly spaced ones, and those with the least or the greatest value of a variable.

    States with many messages in transit are left out: their successors are as many as the sets of messages.
    """
    state, size = batches.restore_state(rows), len(rows[0])
    for variable in batches.layout.variables:
        if isinstance(variable.sort, Ages):
            buffer = state[variable.name]
            messages = sum(build_truth_column(buffer.has(age), size).astype(int) for age in range(buffer.delta + 1))
            rows = [column[messages <= _MOST_MESSAGES] for column in rows]
            state, size = batches.restore_state(rows), len(rows[0])
    if size > _WIDEST_LEVEL:
        rows = _keep_latest_clocks(batches, rows)
        size = len(rows[0])
    if size <= _WIDEST_LEVEL:
        return rows
    extremes = [place for column in rows for place in (int(column.argmin()), int(column.argmax()))]
    kept = np.unique([*range(0, size, -(-size // _WIDEST_LEVEL)), *extremes])
    return [column[kept] for column in rows]


def _keep_latest_clocks(batches: BatchInterpreter, rows: Rows) -> Rows:
    """Keep the state with the latest clocks among those that differ in clocks alone, on which no phase depends."""
    owners = batches.layout.list_column_owners()
    clocks = [-column for column, owner in zip(rows, owners, strict=True) if owner.clock]
    others = [column for column, owner in zip(rows, owners, strict=True) if not owner.clock]
    if not clocks:
        return rows
    order = np.lexsort([*clocks, *others])
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in others])
    kept = np.sort(order[first])
    return [column[kept] for column in rows]


def _evaluate_claim(claim: Property, state: State, size: int) -> tuple[Any, dict[Place, Any]]:
    """Return in which states of a batch a claim holds, and in which the premise of each implication in it does."""
    premises: dict[Place, Any] = {}

    def record_premise(place: Place, premise: Truth) -> None:
        premises[place] = premises.get(place, False) | build_truth_column(premise, size)

    with watch_premises(record_premise):
        return build_truth_column(claim.holds(state), size), premises


def _build_premise_condition(claim: Property, place: Place) -> Callable[[State], Truth]:
    """Build the condition that the premise of the implication at this place in a claim holds."""

    def is_premise_met(state: State) -> Truth:
        premises: list[Truth] = []

        def record_premise(seen: Place, premise: Truth) -> None:
            if seen == place:
                premises.append(premise)

        with watch_premises(record_premise):
            claim.holds(state)
        return Or(*premises)

    return is_premise_met
