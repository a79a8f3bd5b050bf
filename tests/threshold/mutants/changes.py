"""How automata are changed at random."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.threshold.mutants.automata import Automaton, Guard, Rule
from tests.threshold.mutants.comparisons import changed_comparison, some_guard
from tests.threshold.mutants.shorthand import sums


def changed_guard(source: random.Random, automaton: Automaton) -> Automaton:
    place = source.randrange(len(automaton.rules))
    parts = list(automaton.rules[place].guard.parts)
    joined = automaton.rules[place].guard.joined
    what = source.randrange(8)
    if not parts or (what == 0 and len(parts) < 2):
        parts.append(some_guard(source, automaton))
        joined = source.choice(("&&", "||"))
    elif what == 1:
        parts.pop(source.randrange(len(parts)))
    else:
        at = source.randrange(len(parts))
        parts[at] = changed_comparison(source, parts[at], automaton.shared)
    return with_rule(automaton, place, replace(automaton.rules[place], guard=Guard(tuple(parts), joined)))


def with_rule(automaton: Automaton, place: int, rule: Rule) -> Automaton:
    return replace(automaton, rules=(*automaton.rules[:place], rule, *automaton.rules[place + 1 :]))


def changed_rules(source: random.Random, automaton: Automaton) -> Automaton:
    """A rule is dropped, doubled with other ends, or redirected."""
    rules = list(automaton.rules)
    place = source.randrange(len(rules))
    other = source.choice(automaton.locations)
    moved = replace(rules[place], target=other) if source.randrange(2) else replace(rules[place], source=other)
    match source.randrange(3):
        case 0:
            del rules[place]
        case 1:
            rules.append(source.choice((rules[place], moved)))
        case _:
            rules[place] = moved
    return replace(automaton, rules=tuple(rules))


def changed_update(source: random.Random, automaton: Automaton) -> Automaton:
    place = source.randrange(len(automaton.rules))
    adds = dict(automaton.rules[place].adds)
    name = source.choice(automaton.shared)
    adds[name] = source.choice([each for each in (0, 1, 1, 2) if each != adds.get(name, 0)])
    growing = tuple((name, growth) for name, growth in adds.items() if growth)
    return with_rule(automaton, place, replace(automaton.rules[place], adds=growing))


def changed_assumption(source: random.Random, automaton: Automaton) -> Automaton:
    assumptions = list(automaton.assumptions)
    place = source.randrange(len(assumptions))
    if source.randrange(3) == 0 and len(assumptions) > 1:
        del assumptions[place]
    else:
        left = tuple(name for name, _ in assumptions[place].left)
        assumptions[place] = changed_comparison(source, assumptions[place], left)
    return replace(automaton, assumptions=tuple(assumptions))


def changed_start(source: random.Random, automaton: Automaton) -> Automaton:
    match source.randrange(4):
        case 0:
            chosen = set(source.sample(automaton.locations, source.randint(1, 3)))
            start = tuple(name for name in automaton.locations if name in chosen)
            return replace(automaton, start=start, more_inits=())
        case 1:
            counts = ("N", "N - T", "N - F", "N - F - 1", "N - T - 1", "T + 1", "2 * T", "2")
            return replace(automaton, processes=sums(source.choice(counts)))
        case 2:
            name = source.choice(automaton.start)
            limits = ("<= T", ">= 1", "== 1", "<= 1", ">= T + 1", "== 0", "!= 1")
            more = source.choice([f"{name} {limit}" for limit in limits] + [f"{name} == 0 || {name} >= 2"])
            return replace(automaton, more_inits=(more,))
        case _:
            return replace(automaton, first_values=((source.choice(automaton.shared), source.randint(1, 2)),))


CHANGES: tuple[Callable[[random.Random, Automaton], Automaton], ...] = (
    changed_guard,
    changed_guard,
    changed_guard,
    changed_rules,
    changed_rules,
    changed_update,
    changed_assumption,
    changed_start,
)


def changed(source: random.Random, automaton: Automaton) -> Automaton:
    """The automaton after some changes, each of which leaves it well made."""
    left = source.randint(1, 5)
    while left:
        other = source.choice(CHANGES)(source, automaton)
        if other.is_well_made():
            automaton, left = other, left - 1
    return automaton
