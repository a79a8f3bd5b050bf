"""Specifications that are broken by runs that do things again and again, or keep several places inhabited."""

from __future__ import annotations

from collections.abc import Sequence

from tests.threshold.mutants.formulas import Formula, always, both, either, implied, later, negated, refused
from tests.threshold.mutants.words import Words


def denied(words: Words, parts: Sequence[Formula], premises: Sequence[Formula] = ()) -> Formula:
    """That no run does all of it.

    Some of it is written as a premise, and so is all that is to be one.
    """
    source = words.source
    goals = list(parts)
    source.shuffle(goals)
    moved = source.randrange(len(goals)) if words.one_in(3) else 0
    goal = either(*(negated(part) for part in goals[moved:]))
    first = [*premises, *goals[:moved]]
    if words.one_in(12):
        return refused(both(*first, *goals[moved:]))
    if len(first) > 1 and words.one_in(4):
        return implied(both(*first[1:]), implied(first[0], goal))
    return implied(both(*first), goal) if first else goal


def in_turn(words: Words) -> list[Formula]:
    """Claims that may hold in turn for ever; for some of them processes must go on moving."""
    ends = [(rule.source, rule.target) for rule in words.automaton.rules]
    one, other = words.source.choice(words.automaton.on_quiet_cycles() or ends)
    match words.source.randrange(6):
        case 0:
            return [words.inhabited([one]), words.empty([one])]
        case 1:
            return [words.empty([one]), words.empty([other])]
        case 2:
            return [words.inhabited([one]), words.inhabited([other])]
        case 3:
            return [words.gathered([one, *words.places()]), words.gathered([other, *words.places()])]
        case 4:
            claim = words.claim()
            return [claim, negated(claim)]
        case _:
            return [words.claim(), words.claim()]


def recurring(words: Words) -> list[Formula]:
    """What happens again and again."""
    claims = in_turn(words)
    if words.one_in(4):
        claims.append(words.claim())
    return [always(later(claim)) for claim in claims]


def kept(words: Words) -> list[Formula]:
    """Some of each of several sets of locations is inhabited for good, perhaps only from some time on."""
    found = []
    for _ in range(words.source.choice((2, 2, 3))):
        first = not words.one_in(4)
        claim = words.inhabited(words.places_at_first() if first else words.places(3))
        if words.one_in(3):
            claim = either(words.guard(), claim)
        found.append(always(claim) if first and not words.one_in(4) else later(always(claim)))
    return found


def recur(words: Words) -> Formula:
    """``[]<>… && []<>… -> …``, where the goal is a ``[]…``, a ``<>…`` or a ``<>[]…``."""
    premises = recurring(words)
    if words.one_in(4):
        premises.insert(0, words.start())
    match words.source.randrange(5):
        case 0 | 1:
            return denied(words, [later(words.claim())], premises)
        case 2 | 3:
            return denied(words, [always(words.lasting())], premises)
        case _:
            return denied(words, premises[-1:], premises[:-1])


def stay(words: Words) -> Formula:
    """``<>(A == 0) || <>(B + C == 0) || …``, perhaps under a premise."""
    parts = kept(words)
    if words.one_in(2):
        parts.append(later(words.claim()))
    if words.one_in(3):
        parts.append(always(words.lasting()))
    return denied(words, parts, some_premise(words))


def recur_stay(words: Words) -> Formula:
    """What is denied both keeps several places inhabited and does several things again and again."""
    parts = [*kept(words), *recurring(words)]
    if words.one_in(3):
        return denied(words, [later(both(*parts))], some_premise(words))
    return denied(words, parts, some_premise(words))


def some_premise(words: Words) -> list[Formula]:
    match words.source.randrange(5):
        case 0:
            return [words.start()]
        case 1:
            return [later(always(words.fair()))]
        case _:
            return []
