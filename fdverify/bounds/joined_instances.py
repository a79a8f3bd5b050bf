"""Instances that differ only in the integers with which they start, joined into one system that is explored at once.

The first round of the joined system chooses an instance; from then on it is that instance.  Exploring one system of
many states takes far less time than exploring many systems of few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fdverify.logic import If, Number, Truth
from fdverify.models.system import Choices, Flag, Integers, Phase, Property, State, System, Update, Variable, update
from fdverify.runs.concrete_interpreter import build_initial_state
from fdverify.runs.layout import split_value
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Bool, Value

START = "hstart"
"""The variable of a joined system that says which instance it is: its number, or -1 before the first round."""


def join_instances(instances: Sequence[System], claims: Sequence[Property]) -> System | None:
    """Join instances that have the same rounds and the same claims, and that start with evenly spaced integers.

    The states that the joined system has after one or more rounds are those that the instances have then.  Return
    ``None`` if the instances cannot be joined.
    """
    first, *others = instances
    described = _describe_round(first, claims)
    if not others or not all(_are_same(described, _describe_round(other, claims)) for other in others):
        return None
    starts = [build_initial_state(instance) for instance in instances]
    steps: dict[str, int] = {}
    for variable in first.variables:
        values = [split_value(start[variable.name]) for start in starts]
        if all(value == values[0] for value in values):
            continue
        if not isinstance(variable.sort, Integers):
            return None
        (lowest,), (second,) = values[:2]
        if values != [(lowest + k * (second - lowest),) for k in range(len(values))]:
            return None
        steps[variable.name] = second - lowest
    return _add_choice_of_start(first, starts[0], steps, len(instances))


def _add_choice_of_start(system: System, start: State, steps: Mapping[str, int], number: int) -> System:
    """Add a phase that chooses an instance in the first round."""
    bits = range((number - 1).bit_length())
    # A cap may depend on what is chosen, so what is capped is set, too.
    capped = [variable.name for variable in system.variables if variable.cap is not None]

    def has_not_started(s: State) -> Truth:
        return s[START] < 0

    def choose_start(s: State, c: Choices) -> Update:
        chosen: Number = sum(If(c[f"hbit{bit}"], 1 << bit, 0) for bit in bits)
        values = {name: start[name] + steps.get(name, 0) * chosen for name in (*capped, *steps)}
        changes = {name: If(has_not_started(s), value, s[name]) for name, value in values.items()}
        return update(chosen < number, **changes, **{START: If(has_not_started(s), chosen, s[START])})

    phase = Phase("choose_start", choose_start, tuple(Flag(f"hbit{bit}", when=has_not_started) for bit in bits))
    which = Variable(START, Integers(), initial=lambda s: -1)
    return replace(system, variables=(*system.variables, which), phases=(phase, *system.phases), growing=(), worst=())


def _describe_round(system: System, claims: Sequence[Property]) -> list[Any]:
    """Describe a round from any state by terms: its facts, the state after it, the caps, and the claims before it."""
    unrolling = Unrolling(system, anywhere=True)
    before, after = unrolling.states[0], unrolling.add_round()
    values = [part for variable in system.variables for part in split_value(after[variable.name])]
    values += [variable.cap(before) for variable in system.variables if variable.cap is not None]
    values += [claim.holds(before) for claim in claims]
    return [*values, *map(Bool, unrolling.take_new_facts())]


def _are_same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Value) and isinstance(other, Value):
        return bool(one.term.eq(other.term))
    return type(one) is type(other) and bool(one == other)
