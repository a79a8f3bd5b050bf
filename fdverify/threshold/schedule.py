"""From how often each rule is taken in a stretch to an order in which processes take them, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Rule
from fdverify.threshold.interpret import Step, taken

Walk = list[Rule]
"""The rules that one process takes."""


def walks(times: Mapping[Rule, int], counts: Mapping[str, int]) -> list[Walk]:
    """What each process does, given how many are where at the start; who is told from whom does not matter."""
    left = {rule: number for rule, number in times.items() if number > 0 and (rule.source != rule.target or rule.adds)}
    net: Counter[str] = Counter()
    for rule, number in left.items():
        net[rule.source] += number
        net[rule.target] -= number
    found = [_walk(left, place) for place, more in sorted(net.items()) for _ in range(more)]
    # What is left goes round in circles: along a walk that passes by, or from a process that stays where it is.
    while any(left.values()):
        if not any(_went_round(left, walk) for walk in found):
            place = next((rule.source for rule, number in left.items() if number > 0 and counts[rule.source] > 0), None)
            if place is None:
                raise InternalError("a stretch of the solver's run has rules that nobody can take")
            found.append(_walk(left, place))
    return found


def _walk(left: dict[Rule, int], place: str) -> Walk:
    """On from here, as long as there is a rule to take."""
    walk: Walk = []
    while True:
        rule = next((rule for rule, number in left.items() if number > 0 and rule.source == place), None)
        if rule is None:
            return walk
        left[rule] -= 1
        walk.append(rule)
        place = rule.target


def _went_round(left: dict[Rule, int], walk: Walk) -> bool:
    """Put a circle into a walk where it passes by, if there is one."""
    places = [rule.source for rule in walk] + [rule.target for rule in walk[-1:]]
    for at, place in enumerate(places):
        circle = _walk(left, place)
        if circle:
            walk[at:at] = circle
            return True
    return False


def ordered(found: Sequence[Walk], values: Mapping[str, int], kept: Iterable[frozenset[str]]) -> list[Rule]:
    """The walks one after the other, in an order in which each of these sets of locations is never left empty."""
    sets = list(kept)
    for first in range(max(1, len(found))):
        steps = [rule for walk in (*found[first : first + 1], *found[:first], *found[first + 1 :]) for rule in walk]
        if _keeps(steps, values, sets):
            return steps
    raise InternalError("a stretch of the solver's run has no order in which what holds for good does so")


def _keeps(steps: Sequence[Rule], values: Mapping[str, int], sets: Sequence[frozenset[str]]) -> bool:
    now = dict(values)
    for rule in steps:
        now[rule.source] -= 1
        now[rule.target] += 1
        if any(sum(now[location] for location in some) == 0 for some in sets):
            return False
    return True


def replayed(steps: Iterable[Rule], values: Mapping[str, int]) -> list[dict[str, int]]:
    """The configurations that these steps lead through, the first one included."""
    found = [dict(values)]
    for rule in steps:
        after = taken(Step(rule, 1), found[-1])
        if after is None:
            raise InternalError(f"the replay refuses rule {rule.number}")
        found.append(after)
    return found
