"""Simulation: one random run, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from fdverify.models.system import Amount, Choice, Flag, Phase, Property, State, System
from fdverify.runs.concrete_interpreter import (
    ChoiceValues,
    build_initial_state,
    enumerate_outcomes,
    run_phase,
)
from fdverify.runs.run import Run
from fdverify.verdict import Progress, Report, Result, Verdict, ignore_progress

_DRAWS = 20


def simulate(system: System, claim: Property, rounds: int, seed: int, report: Report = ignore_progress) -> Result:
    """Run until ``claim`` is violated, there is no next round, or ``rounds`` have passed."""
    source = random.Random(seed)
    values = system.compute_fixed_parameters()
    state = build_initial_state(system)
    run: list[ChoiceValues] = []

    def build_result(verdict: Verdict, detail: str) -> Result:
        return Result(verdict, detail, {"depth": len(run), "seed": seed}, (), Run(values, tuple(run)))

    while claim.holds(state) and len(run) < rounds:
        step = _draw_round(system, state, 0, source)
        if step is None:
            return build_result(Verdict.VACUOUS, f"a dead end: no round is possible after round {len(run)}")
        choices, state = step
        run.append(choices)
        report(Progress(depth=len(run)))
    if not claim.holds(state):
        return build_result(Verdict.VIOLATED, f"{claim.name} is violated in this run, after round {len(run)}")
    return build_result(
        Verdict.BOUNDED, f"{claim.name} holds in this one run of {len(run)} rounds; others were not tried"
    )


def _draw_round(system: System, state: State, index: int, source: random.Random) -> tuple[dict[str, Any], State] | None:
    """Draw the choices of a round from the phase with this index on; backtrack where no step is possible."""
    if index == len(system.phases):
        return {}, state
    for choices, after in _generate_outcomes(system, system.phases[index], state, source):
        rest = _draw_round(system, after, index + 1, source)
        if rest is not None:
            return {**choices, **rest[0]}, rest[1]
    return None


def _generate_outcomes(
    system: System, phase: Phase, state: State, source: random.Random
) -> Iterator[tuple[dict[str, Any], State]]:
    """Generate outcomes of a phase: first some with random choices, then, if none of these leads on, all of them."""
    for _ in range(_DRAWS):
        drawn = {choice.name: _draw_choice(choice, state, source) for choice in phase.choices}
        after = run_phase(system, phase, state, drawn)
        if after is not None:
            yield drawn, after
    yield from enumerate_outcomes(system, phase, state)


def _draw_choice(choice: Choice, state: State, source: random.Random) -> Any:
    if isinstance(choice, Amount):
        low, high = choice.low(state), choice.high(state)
        return source.randint(low, max(low, high))
    if not choice.when(state):
        return False if isinstance(choice, Flag) else frozenset()
    if isinstance(choice, Flag):
        return source.random() < 0.5
    return frozenset(age for age in sorted(state[choice.of].ages()) if source.random() < 0.5)
