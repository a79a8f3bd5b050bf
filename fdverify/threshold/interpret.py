"""The counter system of a threshold automaton on numbers: how many processes are where, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.formula import holds


@dataclass(frozen=True)
class Step:
    """So many processes, one after the other, take a rule."""

    rule: Rule
    processes: int


def starts(automaton: Automaton, values: Mapping[str, int]) -> bool:
    """Whether these values of parameters, variables and locations are an initial configuration."""
    counts = [location.name for location in automaton.locations] + list(automaton.shared)
    fits = all(values[name] >= 0 for name in counts)
    return fits and all(holds(claim, values) for claim in (*automaton.assumptions, *automaton.initial))


def taken(step: Step, values: Mapping[str, int]) -> dict[str, int] | None:
    """The values after a step; none if a process finds the guard false, or there are too few."""
    after = dict(values)
    for _ in range(step.processes):
        if not holds(step.rule.guard, after) or after[step.rule.source] < 1:
            return None
        after[step.rule.source] -= 1
        after[step.rule.target] += 1
        for name, growth in step.rule.adds:
            after[name] += growth
    return after


def replayed(rules: Iterable[Rule], values: Mapping[str, int]) -> list[dict[str, int]]:
    """The configurations that these rules, taken by one process each, lead through, the first one included."""
    found = [dict(values)]
    for rule in rules:
        after = taken(Step(rule, 1), found[-1])
        if after is None:
            raise InternalError(f"the replay refuses rule {rule.number}")
        found.append(after)
    return found
