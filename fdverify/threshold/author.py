"""Threshold automata written in Python: names, and expressions as the text format has them.

An automaton is built of what its expressions are read as, each by itself: no text can end another one's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.formula import Formula
from fdverify.threshold.names import check_name, check_names, check_table, check_texts, shown
from fdverify.threshold.text.read import read_claim, read_specification

_LOCAL = "location"


@dataclass(frozen=True)
class Move:
    """A rule without its number."""

    source: str
    target: str
    when: str
    adds: Mapping[str, int]


def move(source: str, target: str, when: str = "true", **adds: int) -> Move:
    """A process goes from one location to another where a guard holds: ``move("V0", "SE", "x >= T + 1 - F", x=1)``."""
    return Move(source, target, when, adds)


def automaton(
    name: str,
    *,
    parameters: Sequence[str],
    locations: Sequence[str],
    initial: Sequence[str],
    rules: Sequence[Move],
    specifications: Mapping[str, str],
    shared: Sequence[str] = (),
    assumptions: Sequence[str] = (),
) -> Automaton:
    """An automaton; rules are numbered from 1 on."""
    check_name("a threshold automaton", name, "threshold automaton")
    for kind, several in (
        *(("parameters", parameters), ("locations", locations), ("shared", shared)),
        *(("initial", initial), ("assumptions", assumptions)),
    ):
        check_texts(name, kind, several)
    check_table(name, "specifications", specifications)
    for rule in rules:
        if not isinstance(rule, Move):
            raise UsageError(f"{name}: {shown(repr(rule))} is no rule", "move(source, target, guard)")
        check_texts(name, "a rule", [rule.source, rule.target, rule.when])
    check_names(name, (("parameter", parameters), ("shared variable", shared), ("location", locations)))
    for each in specifications:
        check_name(name, each, "specification")
    everything = (*parameters, *shared, *locations)
    return Automaton(
        name=name,
        local=(_free_name(_LOCAL, everything),),
        shared=tuple(shared),
        parameters=tuple(parameters),
        unknowns=(),
        assumptions=tuple(_claim(name, claim, parameters) for claim in assumptions),
        locations=tuple(Location(place, (at,)) for at, place in enumerate(locations)),
        initial=tuple(_claim(name, claim, everything) for claim in initial),
        rules=tuple(_rule(name, number, each, (*shared, *parameters)) for number, each in enumerate(rules, start=1)),
        specifications=tuple(
            Specification(each, read_specification(text, everything, {}, f"{name}: {each}: {shown(text)}"))
            for each, text in specifications.items()
        ),
    )


def _free_name(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _claim(name: str, text: str, known: Sequence[str]) -> Formula:
    return read_claim(text, known, f"{name}: {shown(text)}")


def _rule(name: str, number: int, rule: Move, known: Sequence[str]) -> Rule:
    return Rule(number, rule.source, rule.target, _claim(name, rule.when, known), _adds(name, rule.adds))


def _adds(name: str, adds: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    for variable, growth in adds.items():
        if isinstance(growth, bool) or not isinstance(growth, int) or growth < 0:
            raise UsageError(f"{name}: {shown(variable)} grows by {shown(repr(growth))}, which is no number")
    return tuple((variable, growth) for variable, growth in sorted(adds.items()) if growth > 0)
