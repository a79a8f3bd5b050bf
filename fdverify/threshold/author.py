"""Threshold automata written in Python: names, and expressions as the text format has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.text.read import read


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
    lines = [
        f"skel {name} {{ local location;",
        *(f"{kind} {each};" for kind, names in (("parameters", parameters), ("shared", shared)) for each in names),
        "assumptions {",
        *(f"{claim};" for claim in assumptions),
        "} locations {",
        *(f"{place}: [{at}];" for at, place in enumerate(locations)),
        "} inits {",
        *(f"{claim};" for claim in initial),
        "} rules {",
        *(_rule(number, each) for number, each in enumerate(rules, start=1)),
        "} specifications {",
        *(f"{spec}: {formula};" for spec, formula in specifications.items()),
        "} }",
    ]
    try:
        return read("\n".join(" ".join(line.split("\n")) for line in lines), name)
    except UsageError as error:
        place = re.fullmatch(rf"{re.escape(name)}:(\d+):\d+: (.*)", error.message, flags=re.DOTALL)
        if place is None:
            raise
        raise UsageError(f"{name}: {place[2]}: {lines[int(place[1]) - 1]}", error.hint) from error


def _rule(number: int, rule: Move) -> str:
    adds = " ".join(f"{name}' == {name} + {growth};" for name, growth in rule.adds.items())
    return f"{number}: {rule.source} -> {rule.target} when ({rule.when}) do {{ {adds} }};"
