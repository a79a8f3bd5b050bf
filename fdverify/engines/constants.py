"""Claims that are the same of all symbols: right if they are the same of all states, else Python compared objects.

``s.receiver_pc is ReceiverPc.Receive`` is never true of a symbol, whatever it stands for, and Python does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from fdverify.engines.parameters import smallest_instance
from fdverify.errors import UsageError
from fdverify.logic import Truth
from fdverify.models.interpret import state_of
from fdverify.models.system import Ages, Flags, Labels, Property, State, System
from fdverify.symbolic.unroll import Unrolling

_NUMBERS = (0, 1, 2, 40)


def check_symbolically(system: System, claim: Property) -> None:
    """Refuse a claim that means something else of symbols than of states."""
    check_constant(system, claim, claim.holds(Unrolling(system, anywhere=True).states[0]))


def check_constant(system: System, claim: Property, value: Truth) -> None:
    """Refuse it if ``value``, which it has of symbols, is a constant, and not the one that it has in every state."""
    if not isinstance(value, bool):
        return
    instance = smallest_instance(system) if system.arbitrary() else system
    if instance is not None and any(bool(claim.holds(state)) is not value for state in _states(instance)):
        raise UsageError(
            f"{claim.name} is {str(value).lower()} of every symbol, but not of every state",
            "compare with == instead of `is`",
        )


def _states(system: System) -> Iterator[State]:
    """States with every combination of flags and labels, reachable or not."""
    delta = system.fixed_values()
    for number, full in product(_NUMBERS, (False, True)):
        domains: list[tuple[Any, ...]] = []
        for variable in system.variables:
            match variable.sort:
                case Flags():
                    domains.append((False, True))
                case Labels(names):
                    domains.append(tuple(names))
                case Ages(bound=bound):
                    domains.append((frozenset(range(delta[bound] + 1)) if full else frozenset(),))
                case _:
                    domains.append((number,))
        for values in product(*domains):
            yield state_of(system, {v.name: value for v, value in zip(system.variables, values, strict=True)})
