"""All configurations that can be reached at fixed parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tests.threshold.oracle.formulas import true_at
from tests.threshold.oracle.reader import Automaton, Rule, read
from tests.threshold.oracle.starts import Configuration, initial_configurations, refuse_too_many


@dataclass
class Graph:
    """All that can be reached.  Each configuration is among its own successors."""

    names: list[str]
    parameters: dict[str, int]
    configurations: list[Configuration]
    successors: list[list[int]]
    initial: int
    """So many of the first ones are initial."""

    def values(self, configuration: int) -> dict[str, int]:
        return self.parameters | dict(zip(self.names, self.configurations[configuration], strict=True))


def explored(automaton: Automaton, parameters: Mapping[str, int]) -> Graph:
    if set(parameters) != set(automaton.parameters) or min(parameters.values(), default=0) < 0:
        raise ValueError(f"{', '.join(automaton.parameters)} are natural numbers, each of which is needed")
    names = automaton.locations + automaton.shared
    graph = Graph(names, dict(parameters), [], [], 0)
    if not all(true_at(formula, parameters) for formula in automaton.assumptions):
        return graph
    graph.configurations += initial_configurations(automaton, parameters)
    graph.initial = len(graph.configurations)
    places = {configuration: place for place, configuration in enumerate(graph.configurations)}
    rules = [(names.index(rule.source), rule, effect(names, rule)) for rule in automaton.rules]
    enabled: dict[Configuration, list[tuple[int, Configuration]]] = {}  # by the values of shared variables
    for place, configuration in enumerate(graph.configurations):  # which grows
        shared = configuration[len(automaton.locations) :]
        if shared not in enabled:
            values = graph.values(place)
            enabled[shared] = [(source, change) for source, rule, change in rules if true_at(rule.guard, values)]
        reached = {place}
        for source, change in enabled[shared]:
            if configuration[source] > 0:
                after = tuple(map(int.__add__, configuration, change))
                if after not in places:
                    places[after] = len(graph.configurations)
                    graph.configurations.append(after)
                    refuse_too_many(len(places))
                reached.add(places[after])
        graph.successors.append(sorted(reached))
    return graph


def effect(names: Sequence[str], rule: Rule) -> Configuration:
    """What the rule adds to each location and shared variable."""
    return tuple(rule.adds.get(name, 0) + (name == rule.target) - (name == rule.source) for name in names)


@lru_cache(maxsize=16)
def graph_of(text: str, parameters: tuple[tuple[str, int], ...]) -> Graph:
    return explored(read(text), dict(parameters))
