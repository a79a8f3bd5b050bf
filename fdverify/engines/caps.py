"""Caps: a variable that may grow for ever is stored only up to a cap.

Two conditions make this exact; Z3 decides both.  Phases: capping before a phase gives the same result as capping only
after it, in every state and for all choices.  The property: it has the same truth value before and after capping, in
every state that could have been reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fdverify.errors import UsageError
from fdverify.logic import And, Iff, Min, Not, Number, Symbolic, Truth
from fdverify.models.layout import parts_of
from fdverify.models.system import Integers, Phase, Property, State, System
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.unroll import Unrolling, fresh_choice
from fdverify.symbolic.values import truth

Caps: TypeAlias = Mapping[str, Callable[[State], Number]]
"""For each variable, its cap as a function of the state: larger values are not distinguished."""

Box: TypeAlias = Mapping[str, tuple[int, int]]
"""For each variable, the smallest and the largest value that was reached."""


def capped(state: State, caps: Caps) -> State:
    return state.changed({name: Min(state[name], cap(state)) for name, cap in caps.items()})


def declared_caps(system: System, claim: Property, depth: int | None) -> Caps:
    """Return the caps that the model declares; none if the claim sees past them and the depth is bounded."""
    declared = {v.name: v.cap for v in system.variables if v.cap is not None}
    if not declared or not sees_past(system, claim, declared, {}):
        return declared
    if depth is None:
        raise UsageError(
            f"{claim.name} distinguishes values of {', '.join(declared)} above the cap", "bound it: --depth N"
        )
    return {}


def build_constant_cap(number: int) -> Callable[[State], Number]:
    """Return the cap that is this number in every state."""
    return lambda state: number


def check_behaviour(system: System, caps: Caps) -> None:
    """Refuse caps on which a phase depends."""
    for phase in system.phases if caps else ():
        if not _commutes(system, phase, caps):
            raise UsageError(
                f"phase {phase.name} depends on how far {' or '.join(caps)} lies above its cap", "declare no cap for it"
            )


def _commutes(system: System, phase: Phase, caps: Caps) -> bool:
    unrolling = Unrolling(system, anywhere=True)
    state = unrolling.states[0]
    choices = {choice.name: fresh_choice(choice, state, 1) for choice in phase.choices}
    after, allowed = system.run_phase(phase, state, choices)
    after_capped, allowed_capped = system.run_phase(phase, capped(state, caps), choices)
    ours, theirs = capped(after, caps), capped(after_capped, caps)
    same = And(
        Iff(allowed, allowed_capped),
        *(_same(ours[v.name], theirs[v.name]) for v in system.variables),
    )
    return _always(unrolling, same)


def _same(left: Any, right: Any) -> Truth:
    pairs = zip(parts_of(left), parts_of(right), strict=True)
    return And(*(True if a is b else a == b for a, b in pairs))


def sees_past(system: System, claim: Property, caps: Caps, box: Box) -> bool:
    """Tell whether the property can distinguish some state of the box from the same state after capping."""
    unrolling = Unrolling(system, anywhere=True)
    state = unrolling.states[0]
    in_box = And(
        *(And(low <= state[name], state[name] <= high) for name, (low, high) in box.items() if name not in caps)
    )
    return not _always(unrolling, Not(And(in_box, Not(Iff(claim.holds(state), claim.holds(capped(state, caps)))))))


def _always(unrolling: Unrolling, formula: Truth) -> bool:
    """Tell whether Z3 proves the formula for every state."""
    if not isinstance(formula, Symbolic):
        return bool(formula)
    solver = FreshSolver()
    solver.add(unrolling.new_facts())
    return solver.ask(truth(Not(formula))).status == "unsat"


def integers(system: System) -> list[str]:
    """Return the names of the integer variables."""
    return [v.name for v in system.variables if isinstance(v.sort, Integers)]
