"""Construction of threshold automata in Python, with expressions written as in the text format.

Each expression is parsed on its own, so an unclosed comment or parenthesis in one cannot affect another.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton, Location, Rule, Specification
from fdverify.threshold.automaton_names import (
    check_name,
    check_names,
    check_table,
    check_texts,
    format_for_message,
)
from fdverify.threshold.ltl_formula import Formula
from fdverify.threshold.text.read import parse_claim, parse_specification

_LOCAL = "location"


@dataclass(frozen=True)
class Move:
    """A rule that has no number yet."""

    source: str
    target: str
    when: str
    adds: Mapping[str, int]


def move(source: str, target: str, when: str = "true", **adds: int) -> Move:
    """Declare a rule from one location to another under a guard: ``move("V0", "SE", "x >= T + 1 - F", x=1)``."""
    return Move(source, target, when, adds)


def build_automaton(
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
    """Build a threshold automaton; its rules are numbered from 1."""
    check_name("a threshold automaton", name, "threshold automaton")
    for kind, texts in (
        *(("parameters", parameters), ("locations", locations), ("shared", shared)),
        *(("initial", initial), ("assumptions", assumptions)),
    ):
        check_texts(name, kind, texts)
    check_table(name, "specifications", specifications)
    for rule in rules:
        if not isinstance(rule, Move):
            raise UsageError(
                f"{name}: {format_for_message(repr(rule))} is not a rule", "write move(source, target, guard)"
            )
        check_texts(name, "a rule", [rule.source, rule.target, rule.when])
    check_names(name, (("parameter", parameters), ("shared variable", shared), ("location", locations)))
    for specification in specifications:
        check_name(name, specification, "specification")
    everything = (*parameters, *shared, *locations)
    return Automaton(
        name=name,
        local=(_choose_free_name(_LOCAL, everything),),
        shared=tuple(shared),
        parameters=tuple(parameters),
        unknowns=(),
        assumptions=tuple(_read_claim(name, claim, parameters) for claim in assumptions),
        locations=tuple(Location(location, (index,)) for index, location in enumerate(locations)),
        initial=tuple(_read_claim(name, claim, everything) for claim in initial),
        rules=tuple(
            _build_rule(name, number, rule, (*shared, *parameters)) for number, rule in enumerate(rules, start=1)
        ),
        specifications=tuple(
            Specification(
                title, parse_specification(text, everything, {}, f"{name}: {title}: {format_for_message(text)}")
            )
            for title, text in specifications.items()
        ),
    )


def _choose_free_name(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _read_claim(name: str, text: str, known: Sequence[str]) -> Formula:
    return parse_claim(text, known, f"{name}: {format_for_message(text)}")


def _build_rule(name: str, number: int, rule: Move, known: Sequence[str]) -> Rule:
    return Rule(number, rule.source, rule.target, _read_claim(name, rule.when, known), _normalise_adds(name, rule.adds))


def _normalise_adds(name: str, adds: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    for variable, growth in adds.items():
        if isinstance(growth, bool) or not isinstance(growth, int) or growth < 0:
            raise UsageError(
                f"{name}: {format_for_message(variable)} grows by {format_for_message(repr(growth))}, "
                "which is not a natural number"
            )
    return tuple((variable, growth) for variable, growth in sorted(adds.items()) if growth > 0)


def __getattr__(name: str) -> object:
    if name == "automaton":
        warnings.warn("automaton is called build_automaton now", DeprecationWarning, stacklevel=2)
        return build_automaton
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
