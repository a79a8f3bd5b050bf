"""A small model with a flag, a number, a label and a buffer, one function of which can be replaced."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from fdverify.author_code.author_check import AuthorCodeReport, build_claim_calls, check_author_code
from fdverify.logic import And, If
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Flags,
    Integers,
    Labels,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    is_always_true,
    update,
)

ROLES = ("phase", "condition", "claim", "range", "cap", "fairness")


class Pc(IntEnum):
    A = 0
    B = 1
    C = 2


def step(s: State, c: Choices) -> Update:
    return update(
        x=If(c.go, (s.x + 1) % 3, s.x),
        f=c.go,
        pc=If(s.pc == Pc.A, Pc.B, Pc.A),
        buffer=s.buffer.deliver(c.delivered).age().send(c.go),
    )


def model(
    run: Callable[[State, Choices], Update] = step,
    when: Callable[[State], Any] = is_always_true,
    holds: Callable[[State], Any] = lambda s: s.x < 3,
    spread: Callable[[State], Any] = lambda s: And(s.x >= 0, s.x < 20),
    cap: Callable[[State], Any] | None = None,
    fair: Callable[[State], Any] = lambda s: s.x == 0,
    start: Callable[[State], Any] = lambda s: 0,
    assumed: Callable[[State], Any] = lambda s: s.delta >= 0,
    delta: int | None = None,
    encoding: str | None = None,
) -> System:
    stored = encoding or ("predicate" if delta is None else "bitvector")
    return System(
        name="small",
        options={},
        parameters=(Parameter("delta", 0, delta),),
        variables=(
            Variable("f", Flags(), initial=lambda s: True),
            Variable("x", Integers(), initial=start, range=spread, cap=cap),
            Variable("pc", Labels(Pc), initial=lambda s: Pc.A),
            Variable("buffer", Ages(stored, "delta"), initial=lambda s: frozenset()),
        ),
        phases=(Phase("step", run, (Flag("go", when), Subset("delivered", of="buffer"))),),
        properties=(Property("claim", holds, "what is claimed"),),
        assumptions=(Property("assumed", assumed, "what is assumed"),),
        fairness=(Property("fair", fair, "what is fair"),),
    )


def with_function(role: str, function: Callable[[State], Any], delta: int | None) -> System:
    """The model with this function in this role; it decides something there."""
    match role:
        case "phase":
            return model(run=lambda s, c: update(x=If(function(s), s.x, 9), f=c.go), delta=delta)
        case "condition":
            return model(when=function, delta=delta)
        case "claim":
            return model(holds=function, delta=delta)
        case "range":
            return model(spread=function, delta=delta)
        case "cap":
            return model(cap=lambda s: If(function(s), 5, 6), delta=delta)
        case _:
            return model(fair=function, delta=delta)


def compared(system: System) -> AuthorCodeReport:
    return check_author_code(system, build_claim_calls("property", system.properties))
