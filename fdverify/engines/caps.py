"""Caps: a variable that may grow for ever is stored only up to a cap.

Two conditions make this exact; Z3 decides both.  Phases: capping before a phase gives the same result as capping only
after it, in every state and for all choices.  The property: it has the same truth value before and after capping, in
every state that could have been reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, Iff, Min, Not, Number, Or, Symbolic, Truth
from fdverify.models.system import Integers, Phase, Property, State, System
from fdverify.runs.layout import split_value
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unrolling import Unrolling, build_fresh_choice, limit_choice
from fdverify.symbolic.values import lift_truth

Caps: TypeAlias = Mapping[str, Callable[[State], Number]]
"""For each variable, its cap as a function of the state: larger values are not distinguished."""

Box: TypeAlias = Mapping[str, tuple[int, int]]
"""For each variable, the smallest and the largest value that was reached."""


def apply_caps(state: State, caps: Caps) -> State:
    return state.changed({name: Min(state[name], cap(state)) for name, cap in caps.items()})


def choose_declared_caps(system: System, claim: Property, depth: int | None) -> Caps:
    """Return the caps that the model declares; none if the claim sees past them and the depth is bounded."""
    declared = {v.name: v.cap for v in system.variables if v.cap is not None}
    if not declared or not can_see_past_caps(system, claim, declared, {}):
        return declared
    if depth is None:
        raise UsageError(
            f"{claim.name} distinguishes values of {', '.join(declared)} above the cap", "bound it: --depth N"
        )
    return {}


def build_constant_cap(number: int) -> Callable[[State], Number]:
    """Return the cap that is this number in every state."""
    return lambda state: number


def check_phases_ignore_caps(system: System, caps: Caps) -> None:
    """Refuse caps on which a phase depends."""
    for phase in system.phases if caps else ():
        if not _is_unaffected_by_caps(system, phase, caps):
            raise UsageError(
                f"phase {phase.name} depends on how far {' or '.join(caps)} lies above its cap", "declare no cap for it"
            )


def _is_unaffected_by_caps(system: System, phase: Phase, caps: Caps) -> bool:
    unrolling = Unrolling(system, anywhere=True)
    state = unrolling.states[0]
    choices = {choice.name: build_fresh_choice(choice, state, 1) for choice in phase.choices}
    capped = apply_caps(state, caps)
    after, allowed = system.run_phase(phase, state, choices)
    after_capped, allowed_capped = system.run_phase(phase, capped, choices)
    ours, theirs = apply_caps(after, caps), apply_caps(after_capped, caps)
    same = And(
        Iff(allowed, allowed_capped),
        *(_build_equality(ours[v.name], theirs[v.name]) for v in system.variables),
    )
    # A number that is out of range with and without the cap leads nowhere.
    limits = [
        And(*(limit_choice(choice, each, choices[choice.name]) for choice in phase.choices)) for each in (state, capped)
    ]
    return _is_valid(unrolling, Or(Not(Or(*limits)), same))


def _build_equality(left: Any, right: Any) -> Truth:
    pairs = zip(split_value(left), split_value(right), strict=True)
    return And(*(True if a is b else a == b for a, b in pairs))


def can_see_past_caps(system: System, claim: Property, caps: Caps, box: Box) -> bool:
    """Tell whether the property can distinguish some state of the box from the same state after capping."""
    unrolling = Unrolling(system, anywhere=True)
    state = unrolling.states[0]
    in_box = And(
        *(And(low <= state[name], state[name] <= high) for name, (low, high) in box.items() if name not in caps)
    )
    return not _is_valid(
        unrolling, Not(And(in_box, Not(Iff(claim.holds(state), claim.holds(apply_caps(state, caps))))))
    )


def _is_valid(unrolling: Unrolling, formula: Truth) -> bool:
    """Tell whether Z3 proves the formula for every state."""
    if not isinstance(formula, Symbolic):
        return bool(formula)
    return _is_refuted((*unrolling.take_new_facts(), lift_truth(Not(formula))))


@lru_cache(maxsize=1024)
def _is_refuted(formulas: tuple[Any, ...]) -> bool:
    """Tell whether Z3 refutes the formulas.  Instances of one model ask the same again and again."""
    return FreshSolver().ask(*formulas).status == "unsat"


def list_integer_variables(system: System) -> list[str]:
    """Return the names of the integer variables."""
    return [v.name for v in system.variables if isinstance(v.sort, Integers)]
