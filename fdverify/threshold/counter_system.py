"""The counter system of a threshold automaton, executed on concrete numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.ltl_formula import evaluate_formula


@dataclass(frozen=True)
class AcceleratedStep:
    """An accelerated step: several processes take the same rule, one after the other."""

    rule: Rule
    processes: int


def is_initial(automaton: Automaton, values: Mapping[str, int]) -> bool:
    """Return whether these values of parameters, shared variables and locations are an initial configuration."""
    counts = [location.name for location in automaton.locations] + list(automaton.shared)
    is_natural = all(values[name] >= 0 for name in counts)
    return is_natural and all(evaluate_formula(claim, values) for claim in (*automaton.assumptions, *automaton.initial))


def take_step(step: AcceleratedStep, values: Mapping[str, int]) -> dict[str, int] | None:
    """Return the configuration after a step, or None if for some process the guard is false or the source is empty."""
    after = dict(values)
    for _ in range(step.processes):
        if not evaluate_formula(step.rule.guard, after) or after[step.rule.source] < 1:
            return None
        after[step.rule.source] -= 1
        after[step.rule.target] += 1
        for name, growth in step.rule.adds:
            after[name] += growth
    return after


def replay_rules(rules: Iterable[Rule], values: Mapping[str, int]) -> list[dict[str, int]]:
    """Let one process take each rule in turn, and return all configurations, including the first."""
    configurations = [dict(values)]
    for rule in rules:
        after = take_step(AcceleratedStep(rule, 1), configurations[-1])
        if after is None:
            raise InternalError(f"the replay refuses rule {rule.number}")
        configurations.append(after)
    return configurations
