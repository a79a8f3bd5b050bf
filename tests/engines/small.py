"""Small systems with one feature each, for what the detector does not do."""

from collections.abc import Callable

from fdverify.logic import If, Truth
from fdverify.models.expression import parse_expression
from fdverify.models.system import (
    Choices,
    Flag,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)


def counter(
    run: Callable[[State, Choices], Update],
    holds: Callable[[State], Truth],
    variable: Variable | None = None,
    limit: int | None = 3,
) -> System:
    """One integer ``x`` that starts at 0, one phase, one yes-or-no choice ``go``, one parameter ``limit``."""
    return System(
        name="counter",
        options={},
        parameters=(Parameter("limit", 0, limit),),
        variables=(variable or Variable("x", Integers(), initial=lambda s: 0),),
        phases=(Phase("count", run, (Flag("go"),)),),
        properties=(Property("claim", holds, "whatever the test says"),),
    )


def up_to_limit(s: State, c: Choices) -> Update:
    return update(x=If(c.go, If(s.x < s.limit, s.x + 1, s.x), s.x))


def until_stuck(s: State, c: Choices) -> Update:
    """Counts up and then allows nothing any more."""
    return update(assume=s.x < s.limit, x=s.x + 1)


def defined(text: str, limit: int | None) -> System:
    """A second parameter, at least 1, defined by an expression over the first."""
    base = counter(up_to_limit, lambda s: s.x <= s.limit, limit=limit)
    second = Parameter("bound", 1, parse_expression(text, {"limit"}))
    return System(base.name, {}, (*base.parameters, second), base.variables, base.phases, base.properties)
