"""Whether a state has a next round, as a formula without quantifiers.

That suitable choices exist is shown by naming some: a *plan* fixes every choice of a round.  A state in which every
listed plan fails is only a candidate for a dead end; the interpreter decides, and a plan that it finds is added to the
list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fdverify.logic import And, Not, Truth
from fdverify.models.system import Choice, Flag, State, System
from fdverify.symbolic.selection import Pick, build_planned_selection

Plan: TypeAlias = Mapping[str, Any]
"""For each choice: a truth value, or ages, or a pair of a condition and the value where it holds."""


_PICKS: tuple[Pick, ...] = ("oldest", "all", frozenset())


def list_first_plans(system: System) -> list[Plan]:
    """List a few initial plans: all flags yes or no, and the oldest, all or no messages delivered."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    return [
        {choice.name: yes if isinstance(choice, Flag) else pick for choice in choices}
        for yes in (True, False)
        for pick in _PICKS
    ]


def list_similar_plans(system: System, plan: Plan) -> list[Plan]:
    """List a plan, and those with the same flags and a choice of ages that makes sense in every state."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    others = [{c.name: plan[c.name] if isinstance(c, Flag) else pick for c in choices} for pick in _PICKS]
    return [plan, *others]


def is_stuck(system: System, state: State, plans: Iterable[Plan]) -> Truth:
    """Return whether every plan fails in this state."""
    return And(*list_failures(system, state, plans))


def list_failures(system: System, state: State, plans: Iterable[Plan]) -> list[Truth]:
    """Return, for each plan, whether it fails in this state."""
    return [Not(_can_run(system, state, plan)) for plan in plans]


def _can_run(system: System, state: State, plan: Plan) -> Truth:
    return run_planned_round(system, state, plan)[1]


def run_planned_round(system: System, state: State, plan: Plan) -> tuple[State, Truth]:
    """Run a planned round; return the state after it, and whether it is allowed."""
    conditions = []
    for phase in system.phases:
        choices = {choice.name: evaluate_planned_choice(choice, state, plan[choice.name]) for choice in phase.choices}
        state, allowed = system.run_phase(phase, state, choices)
        conditions.append(allowed)
    return state, And(*conditions)


def evaluate_planned_choice(choice: Choice, state: State, pick: Any) -> Any:
    """Evaluate a planned choice in the state in which the phase begins."""
    when = choice.when(state)
    if isinstance(pick, tuple):
        condition, pick = pick
        when = And(when, condition)
    return And(when, pick) if isinstance(choice, Flag) else build_planned_selection(state[choice.of], pick, when)
