"""From how often each rule is taken to an order in which processes take them, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fdverify.threshold.automaton import Rule
from fdverify.threshold.claims.lasting import Lasting
from fdverify.threshold.formula import holds
from fdverify.threshold.interpret import Step, taken


@dataclass(frozen=True)
class Stuck:
    """No order was found: here none of these rules can be taken, though each is to be."""

    values: Mapping[str, int]
    rules: tuple[Rule, ...]


def in_order(
    times: Mapping[Rule, int], values: Mapping[str, int], resting: Mapping[str, int], claims: Sequence[Lasting]
) -> list[Rule] | Stuck:
    """An order from these values on in which guards are true and what is claimed holds throughout."""
    one_by_one = [rule for walk in walks(times, values, resting) for rule in walk]
    return one_by_one if _works(one_by_one, values, claims) else _greedy(times, values, claims)


def _fits(values: Mapping[str, int], claims: Sequence[Lasting]) -> bool:
    return all(claim.holds(values) for claim in claims)


def _works(rules: Sequence[Rule], values: Mapping[str, int], claims: Sequence[Lasting]) -> bool:
    now: Mapping[str, int] | None = values
    for rule in rules:
        now = None if now is None else taken(Step(rule, 1), now)
        if now is None or not _fits(now, claims):
            return False
    return True


def walks(times: Mapping[Rule, int], values: Mapping[str, int], resting: Mapping[str, int]) -> list[list[Rule]]:
    """What each process does that does not rest; who is told from whom does not matter."""
    left = {rule: number for rule, number in times.items() if number > 0}
    net: Counter[str] = Counter()
    for rule, number in left.items():
        net[rule.source] += number
        net[rule.target] -= number
    found = [_walk(left, place) for place, more in sorted(net.items()) for _ in range(more)]
    # What is left goes round in circles: along a walk that passes by, or from a process that stays where it is.
    while any(left.values()):
        if not any(_went_round(left, walk) for walk in found):
            free = [rule.source for rule, number in left.items() if number > 0]
            place = next((each for each in free if values[each] > resting.get(each, 0)), free[0])
            found.append(_walk(left, place))
    return found


def _walk(left: dict[Rule, int], place: str) -> list[Rule]:
    """On from here, as long as there is a rule to take."""
    walk: list[Rule] = []
    while True:
        rule = next((rule for rule, number in left.items() if number > 0 and rule.source == place), None)
        if rule is None:
            return walk
        left[rule] -= 1
        walk.append(rule)
        place = rule.target


def _went_round(left: dict[Rule, int], walk: list[Rule]) -> bool:
    """Put a circle into a walk where it passes by, if there is one."""
    places = [rule.source for rule in walk] + [rule.target for rule in walk[-1:]]
    for at, place in enumerate(places):
        circle = _walk(left, place)
        if circle:
            walk[at:at] = circle
            return True
    return False


def _greedy(times: Mapping[Rule, int], values: Mapping[str, int], claims: Sequence[Lasting]) -> list[Rule] | Stuck:
    """Whatever can be taken, first what leaves the guards of all others true."""
    left = {rule: number for rule, number in times.items() if number > 0}
    now = dict(values)
    found: list[Rule] = []
    while left:
        possible = [
            (rule, after) for rule in left if (after := taken(Step(rule, 1), now)) is not None and _fits(after, claims)
        ]
        if not possible:
            return Stuck(now, tuple(left))
        rule, now = min(possible, key=lambda each: _disabled(left, now, each[1]))
        found.append(rule)
        left[rule] -= 1
        if not left[rule]:
            del left[rule]
    return found


def _disabled(left: Mapping[Rule, int], now: Mapping[str, int], after: Mapping[str, int]) -> int:
    """How many rules that are left can be taken now, as far as their guards go, and no more afterwards."""
    return sum(holds(rule.guard, now) and not holds(rule.guard, after) for rule in left)
