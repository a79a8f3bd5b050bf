"""Ordering of steps: from how often each rule is taken to a sequence of single steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fdverify.threshold.automaton import Rule
from fdverify.threshold.claims.lasting_claims import LastingClaim
from fdverify.threshold.counter_system import AcceleratedStep, take_step
from fdverify.threshold.ltl_formula import evaluate_formula


@dataclass(frozen=True)
class StuckConfiguration:
    """A configuration in which the ordering got stuck: none of the remaining rules can be taken."""

    values: Mapping[str, int]
    rules: tuple[Rule, ...]


def order_steps(
    times: Mapping[Rule, int], values: Mapping[str, int], resting: Mapping[str, int], claims: Sequence[LastingClaim]
) -> list[Rule] | StuckConfiguration:
    """Order the steps so that guards hold when rules are taken and claims hold throughout: by walks, else greedily."""
    rules = [rule for walk in decompose_into_walks(times, values, resting) for rule in walk]
    return rules if _can_execute(rules, values, claims) else _order_greedily(times, values, claims)


def _satisfies_claims(values: Mapping[str, int], claims: Sequence[LastingClaim]) -> bool:
    return all(claim.is_satisfied(values) for claim in claims)


def _can_execute(rules: Sequence[Rule], values: Mapping[str, int], claims: Sequence[LastingClaim]) -> bool:
    now: Mapping[str, int] | None = values
    for rule in rules:
        now = None if now is None else take_step(AcceleratedStep(rule, 1), now)
        if now is None or not _satisfies_claims(now, claims):
            return False
    return True


def decompose_into_walks(
    times: Mapping[Rule, int], values: Mapping[str, int], resting: Mapping[str, int]
) -> list[list[Rule]]:
    """Decompose the flow into walks of single processes; resting processes stay where they are."""
    left = {rule: number for rule, number in times.items() if number > 0}
    net: Counter[str] = Counter()
    for rule, number in left.items():
        net[rule.source] += number
        net[rule.target] -= number
    result = [_extract_walk(left, location) for location, surplus in sorted(net.items()) for _ in range(surplus)]
    # The rest consists of cycles.  Each is inserted into a walk that touches it, or is walked by a process of its own.
    while any(left.values()):
        if not any(_insert_cycle(left, walk) for walk in result):
            sources = [rule.source for rule, number in left.items() if number > 0]
            start = next((source for source in sources if values[source] > resting.get(source, 0)), sources[0])
            result.append(_extract_walk(left, start))
    return result


def _extract_walk(left: dict[Rule, int], location: str) -> list[Rule]:
    """Walk from a location until no rule is left to take, and remove the steps from ``left``."""
    walk: list[Rule] = []
    while True:
        rule = next((rule for rule, number in left.items() if number > 0 and rule.source == location), None)
        if rule is None:
            return walk
        left[rule] -= 1
        walk.append(rule)
        location = rule.target


def _insert_cycle(left: dict[Rule, int], walk: list[Rule]) -> bool:
    """Insert a remaining cycle into a walk that touches it; return whether there was one."""
    locations = [rule.source for rule in walk] + [rule.target for rule in walk[-1:]]
    for index, location in enumerate(locations):
        cycle = _extract_walk(left, location)
        if cycle:
            walk[index:index] = cycle
            return True
    return False


def _order_greedily(
    times: Mapping[Rule, int], values: Mapping[str, int], claims: Sequence[LastingClaim]
) -> list[Rule] | StuckConfiguration:
    """Order the steps greedily: prefer a rule that disables the fewest others."""
    left = {rule: number for rule, number in times.items() if number > 0}
    now = dict(values)
    order: list[Rule] = []
    while left:
        possible = [
            (rule, after)
            for rule in left
            if (after := take_step(AcceleratedStep(rule, 1), now)) is not None and _satisfies_claims(after, claims)
        ]
        if not possible:
            return StuckConfiguration(now, tuple(left))
        rule, now = min(possible, key=lambda option: _count_disabled(left, now, option[1]))
        order.append(rule)
        left[rule] -= 1
        if not left[rule]:
            del left[rule]
    return order


def _count_disabled(left: Mapping[Rule, int], now: Mapping[str, int], after: Mapping[str, int]) -> int:
    """Count the remaining rules whose guard holds now but not afterwards."""
    return sum(evaluate_formula(rule.guard, now) and not evaluate_formula(rule.guard, after) for rule in left)
