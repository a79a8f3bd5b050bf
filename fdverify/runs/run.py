"""Runs and traces: a run is a sequence of choices; a trace is the run replayed.

Engines return runs, which are plain data that crosses process boundaries.  Only traces are shown, so whatever is shown
has been replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import InternalError
from fdverify.logic import Truth
from fdverify.models.system import Property, State, StepProperty, System
from fdverify.runs.concrete_interpreter import (
    ChoiceValues,
    PlainValue,
    build_initial_state,
    build_round_choices,
    build_state,
    run_phase,
)


@dataclass(frozen=True)
class Run:
    """The parameters, and the choices of each round; the last round may consist of only ``phases_of_last`` phases.

    A run begins in the initial state, or in ``start``: the values of the variables as plain data.  The rounds after the
    first ``loop`` ones can be repeated forever.
    """

    parameters: Mapping[str, int]
    rounds: tuple[ChoiceValues, ...]
    phases_of_last: int | None = None
    start: Mapping[str, PlainValue] | None = None
    loop: int | None = None


@dataclass(frozen=True)
class TracedRound:
    """One round of a trace: its choices, and the state after each phase that ran."""

    choices: ChoiceValues
    states: Sequence[State]

    @property
    def after(self) -> State:
        return self.states[-1]


@dataclass(frozen=True)
class Trace:
    """A replayed run: its system with fixed parameters, its initial state and its rounds."""

    system: System
    initial: State
    rounds: Sequence[TracedRound]

    @property
    def last(self) -> State:
        return self.rounds[-1].after if self.rounds else self.initial


def replay_run(system: System, run: Run) -> Trace:
    """Replay a run with the concrete interpreter; a choice that is not allowed is an internal error."""
    fixed = system.fix_parameters({name: run.parameters[name] for name in system.list_arbitrary()})
    state = initial = build_initial_state(fixed) if run.start is None else build_state(fixed, run.start)
    rounds: list[TracedRound] = []
    for number, chosen in enumerate(run.rounds, start=1):
        phases = fixed.phases
        if number == len(run.rounds) and run.phases_of_last is not None:
            phases = phases[: run.phases_of_last]
        states: list[State] = []
        for phase in phases:
            after = run_phase(fixed, phase, state, chosen)
            if after is None:
                raise InternalError(f"the replay refuses round {number} in phase {phase.name}")
            state = after
            states.append(state)
        rounds.append(TracedRound({choice.name: chosen[choice.name] for p in phases for choice in p.choices}, states))
    return Trace(fixed, initial, rounds)


def holds_at_end(trace: Trace, claim: Property | StepProperty) -> Truth:
    """Return whether a claim holds in the last state of a trace, or in its last round."""
    if isinstance(claim, Property):
        return claim.holds(trace.last)
    before = trace.rounds[-2].after if len(trace.rounds) > 1 else trace.initial
    return claim.holds(before, build_round_choices(trace.system, before, trace.rounds[-1].choices), trace.last)


def confirm_violation(system: System, claim: Property | StepProperty, run: Run) -> Run:
    """Return the run after its replay has confirmed that it violates the claim."""
    if holds_at_end(replay_run(system, run), claim):
        raise InternalError(f"the run that was found does not violate {claim.name} when it is replayed")
    return run


def format_rounds(number: int) -> str:
    """Format a number of rounds."""
    return "1 round" if number == 1 else f"{number} rounds"
