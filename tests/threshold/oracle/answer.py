"""Whether a specification holds at fixed parameters."""

from __future__ import annotations

from collections.abc import Mapping

from tests.threshold.oracle.formulas import Both, Claim, Formula, Later, true_at
from tests.threshold.oracle.graph import Graph, graph_of
from tests.threshold.oracle.reader import read
from tests.threshold.oracle.tableau import Places, pushed, some_run


def holds(text: str, spec_name: str, parameters: Mapping[str, int]) -> bool | None:
    """Whether all runs from all initial configurations satisfy the specification; none if there is none of these."""
    graph, broken, true = negation(text, spec_name, parameters)
    if not graph.initial:
        return None
    return not some_run(broken, graph.successors, true, range(graph.initial))


def broken_at_rest(text: str, spec_name: str, parameters: Mapping[str, int]) -> bool:
    """Whether the specification is broken by a run that stays at one configuration from some time on.

    Each configuration has a twin, from which no way leads to another one, and a run must come to a twin.
    """
    graph, broken, true = negation(text, spec_name, parameters)
    size = len(graph.configurations)
    at_rest = -1  # no place in a list
    successors = [[*graph.successors[place], size + place] for place in range(size)]
    twins = [[size + place] for place in range(size)]
    true += [places | {at_rest} for places in true]
    return some_run(Both(broken, Later(Claim(at_rest))), successors + twins, true, range(graph.initial))


def negation(text: str, spec_name: str, parameters: Mapping[str, int]) -> tuple[Graph, Formula, list[Places]]:
    """What can be reached, the specification's negation made of claims, and which of these hold where."""
    graph = graph_of(text, tuple(sorted(parameters.items())))
    claims: list[Formula] = []
    broken = pushed(read(text).specifications[spec_name], False, claims)
    true = []
    for place in range(len(graph.configurations)):
        values = graph.values(place)
        true.append(frozenset(at for at, claim in enumerate(claims) if true_at(claim, values)))
    return graph, broken, true
