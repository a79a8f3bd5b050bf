"""What grows for ever, stored only up to a cap, and the two things that must hold for that to be exact.

Behaviour: capping before a phase or only after it makes no difference, whatever the state and the choices.  The
property: it has the same truth value before and after capping, in every state that could have been met.  Both are asked
of Z3.
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
"""By variable, how far its value is told apart in a state."""

Box: TypeAlias = Mapping[str, tuple[int, int]]
"""By variable, the least and the greatest value that was met."""


def capped(state: State, caps: Caps) -> State:
    return state.changed({name: Min(state[name], cap(state)) for name, cap in caps.items()})


def declared_caps(system: System, claim: Property, depth: int | None) -> Caps:
    """The caps that the model declares, if the claim does not see past them."""
    declared = {v.name: v.cap for v in system.variables if v.cap is not None}
    if not declared or not sees_past(system, claim, declared, {}):
        return declared
    if depth is None:
        raise UsageError(
            f"{claim.name} tells values of {', '.join(declared)} apart that are not stored", "bound it: --depth N"
        )
    return {}


def check_behaviour(system: System, caps: Caps) -> None:
    """Refuse caps that a phase can see."""
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
    """Whether the property can tell a state of the box from the same state with larger values above the caps."""
    unrolling = Unrolling(system, anywhere=True)
    state = unrolling.states[0]
    met = And(*(And(low <= state[name], state[name] <= high) for name, (low, high) in box.items() if name not in caps))
    return not _always(unrolling, Not(And(met, Not(Iff(claim.holds(state), claim.holds(capped(state, caps)))))))


def _always(unrolling: Unrolling, formula: Truth) -> bool:
    if not isinstance(formula, Symbolic):
        return bool(formula)
    solver = FreshSolver()
    solver.add(unrolling.new_facts())
    return solver.ask(truth(Not(formula))).status == "unsat"


def integers(system: System) -> list[str]:
    """The variables that a box speaks of."""
    return [v.name for v in system.variables if isinstance(v.sort, Integers)]
