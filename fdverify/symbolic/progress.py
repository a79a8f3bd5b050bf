"""Whether a state has a next round, as a formula without quantifiers.

"Some choices lead on" is shown by naming some that do: a *plan* settles every choice of a round.  A state that every
listed plan fails in is only a candidate for a dead end; the interpreter decides, and a plan that it finds is added to
the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fdverify.logic import And, Not, Truth
from fdverify.models.system import Choice, Flag, State, System
from fdverify.symbolic.selection import Pick, planned_selection

Plan: TypeAlias = Mapping[str, Any]
"""For each choice: yes or no, or which ages, or a condition and which ages then."""


_PICKS: tuple[Pick, ...] = ("oldest", "all", frozenset())


def first_plans(system: System) -> list[Plan]:
    """Few plans to begin with: everything yes or no, and a little, all or nothing delivered."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    return [
        {choice.name: yes if isinstance(choice, Flag) else pick for choice in choices}
        for yes in (True, False)
        for pick in _PICKS
    ]


def alike(system: System, plan: Plan) -> list[Plan]:
    """A plan, and those with the same flags that say which ages to deliver for every state at once."""
    choices = [choice for phase in system.phases for choice in phase.choices]
    others = [{c.name: plan[c.name] if isinstance(c, Flag) else pick for c in choices} for pick in _PICKS]
    return [plan, *others]


def stuck(system: System, state: State, plans: Iterable[Plan]) -> Truth:
    """Whether every plan fails in this state."""
    return And(*(Not(_succeeds(system, state, plan)) for plan in plans))


def _succeeds(system: System, state: State, plan: Plan) -> Truth:
    return planned_round(system, state, plan)[1]


def planned_round(system: System, state: State, plan: Plan) -> tuple[State, Truth]:
    """The state after the round that is planned, and whether it is allowed."""
    conditions = []
    for phase in system.phases:
        made = {choice.name: planned(choice, state, plan[choice.name]) for choice in phase.choices}
        state, allowed = system.run_phase(phase, state, made)
        conditions.append(allowed)
    return state, And(*conditions)


def planned(choice: Choice, state: State, pick: Any) -> Any:
    """What a plan chooses, in the state in which the phase begins."""
    when = choice.when(state)
    if isinstance(pick, tuple):
        condition, pick = pick
        when = And(when, condition)
    return And(when, pick) if isinstance(choice, Flag) else planned_selection(state[choice.of], pick, when)
