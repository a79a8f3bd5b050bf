"""Whether a state has a next round, as a formula without quantifiers.

That suitable choices exist is shown by naming some: a *plan* fixes every choice of a round.  A state in which every
listed plan fails is only a candidate for a dead end; the interpreter decides, and a plan that it finds is added to the
list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, If, Not, Number, Truth, shorten_value
from fdverify.models.system import Amount, Choice, Flag, State, Subset, System
from fdverify.symbolic.selection import Pick, build_planned_selection

Plan: TypeAlias = Mapping[str, Any]
"""For each choice: a truth value, an end of the range or a number, or ages; or a pair of a condition and one of these.

The value is for states in which the condition holds.
"""


_PICKS: tuple[Pick, ...] = ("oldest", "all", frozenset())
_ENDS = ("least", "greatest")


def list_first_plans(system: System) -> list[Plan]:
    """List a few initial plans: all flags yes or no; the oldest, all or no messages delivered; numbers at an end."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    ends = _ENDS if any(isinstance(choice, Amount) for choice in choices) else _ENDS[:1]
    return [
        {choice.name: _select_by_kind(choice, yes, pick, end) for choice in choices}
        for end in ends
        for yes in (True, False)
        for pick in _PICKS
    ]


def _select_by_kind(choice: Choice, flag: Any, ages: Any, number: Any) -> Any:
    match choice:
        case Flag():
            return flag
        case Subset():
            return ages
        case Amount():
            return number


def list_similar_plans(system: System, plan: Plan) -> list[Plan]:
    """List a plan, and those with the same flags and a choice of ages and numbers that makes sense in every state."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    ends = _ENDS if any(isinstance(choice, Amount) for choice in choices) else _ENDS[:1]
    others = [
        {choice.name: _select_by_kind(choice, plan[choice.name], pick, end) for choice in choices}
        for end in ends
        for pick in _PICKS
    ]
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
    condition: Truth = True
    if isinstance(pick, tuple):
        if len(pick) != 2:
            raise UsageError(f"a plan chooses {shorten_value(pick)} for {choice.name}", "a condition and a value")
        condition, pick = pick
    match choice:
        case Amount():
            return If(condition, _evaluate_number(choice, state, pick), choice.low(state))
        case Flag():
            return And(choice.when(state), condition, pick)
        case Subset():
            return build_planned_selection(state[choice.of], pick, And(choice.when(state), condition))


def _evaluate_number(choice: Amount, state: State, pick: str | Number) -> Number:
    if not isinstance(pick, str):
        return pick
    if pick not in _ENDS:
        raise UsageError(f"a plan chooses {pick!r} for {choice.name}", "least, greatest, or a number")
    return choice.low(state) if pick == "least" else choice.high(state)
