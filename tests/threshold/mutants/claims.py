"""Claims about one configuration, at random."""

from __future__ import annotations

import random

from tests.threshold.mutants.automata import Automaton
from tests.threshold.mutants.comparisons import some_guard

START_LIMITS = ("== 0", "== 0", "== 0", "<= T", ">= 1", ">= N - T", "== N - F", "< T + 1", "!= 0")


def some_part(source: random.Random, automaton: Automaton) -> str:
    one, other = source.sample(automaton.locations, 2)
    match source.randrange(7):
        case 0 | 1:
            return f"{one} == 0"
        case 2:
            return f"{one} != 0"
        case 3:
            return f"({one} == 0 && {other} == 0)"
        case 4:
            return f"({one} != 0 || {other} != 0)"
        case 5:
            return some_guard(source, automaton).text()
        case _:
            return f"({some_guard(source, automaton).text()} || {one} == 0)"


def some_claim(source: random.Random, automaton: Automaton) -> str:
    """A claim about one configuration."""
    parts = [some_part(source, automaton) for _ in range(source.choice((1, 1, 2, 2, 3)))]
    return source.choice((" && ", " && ", " || ")).join(parts)


def some_safety(source: random.Random, automaton: Automaton) -> str:
    """Mostly what is so at first, as no process has come to a location that it says is empty."""
    late = [name for name in automaton.locations if name not in automaton.start]
    if not late or source.randrange(3) == 0:
        return some_claim(source, automaton)
    parts = [f"{name} == 0" for name in source.sample(late, source.randint(1, min(2, len(late))))]
    if source.randrange(2):
        parts[0] = f"({some_guard(source, automaton).text()} || {parts[0]})"
    return source.choice((" && ", " || ")).join(parts)


def some_start(source: random.Random, automaton: Automaton) -> str:
    """A claim about initial configurations, such that many satisfy it."""
    names = source.sample(automaton.start, source.randint(1, min(2, len(automaton.start))))
    return " && ".join(f"{name} {source.choice(START_LIMITS)}" for name in names)


def some_fairness(source: random.Random, automaton: Automaton) -> str:
    """Mostly that no process waits for ever that a rule lets move, though perhaps not for every rule."""
    if source.randrange(5) == 0:
        return some_claim(source, automaton)
    parts = []
    for each in automaton.rules:
        if each.source != each.target and source.randrange(8):
            empty = f"{each.source} == 0"
            parts.append(f"(({each.guard.opposite().text()}) || {empty})" if each.guard.parts else empty)
    return " && ".join(dict.fromkeys(parts)) or some_claim(source, automaton)


def some_goal(source: random.Random, automaton: Automaton) -> str:
    """Something that may well be reached: that some location is left, or entered."""
    if source.randrange(3) == 0:
        return some_claim(source, automaton)
    names = source.sample(automaton.locations, source.randint(1, 2))
    if source.randrange(2):
        return " && ".join(f"{name} == 0" for name in names)
    return " || ".join(f"{name} != 0" for name in names)
