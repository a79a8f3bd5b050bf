"""Specifications that are broken by runs that do things again and again, or keep several places inhabited."""

from __future__ import annotations

from collections.abc import Sequence

from tests.threshold.mutants.formulas import Formula, always, both, either, implied, later, negated, refused
from tests.threshold.mutants.words import Words


def denied(words: Words, parts: Sequence[Formula], premises: Sequence[Formula] = ()) -> Formula:
    """That no run does all of it; the premises, and perhaps some of the parts, are written on the left of ``->``."""
    goals = words.source.sample(parts, len(parts))
    moved = words.source.randrange(len(goals)) if words.one_in(3) else 0
    left, right = [*premises, *goals[:moved]], goals[moved:]
    if words.one_in(12):
        return refused(both(*left, *right))
    goal = either(*map(negated, right))
    if len(left) > 1 and words.one_in(4):
        return implied(both(*left[1:]), implied(left[0], goal))
    return implied(both(*left), goal) if left else goal


def in_turn(words: Words) -> list[Formula]:
    """Different claims that may hold in turn for ever; for some of them processes must go on moving."""
    cycles = words.automaton.on_quiet_cycles()
    found: list[Formula] = []
    while len({each.text for each in found}) < 2:
        one, other = words.source.choice(cycles) if cycles else words.source.sample(words.automaton.locations, 2)
        match words.source.randrange(6):
            case 0:
                found = [words.inhabited([one]), words.empty([one])]
            case 1:
                found = [words.empty([one]), words.empty([other])]
            case 2:
                found = [words.inhabited([one]), words.inhabited([other])]
            case 3:
                found = [words.gathered([one, *words.places()]), words.gathered([other, *words.places()])]
            case 4:
                claim = words.claim()
                found = [claim, negated(claim)]
            case _:
                found = [words.claim(), words.claim()]
    return found


def recurring(words: Words) -> list[Formula]:
    """What happens again and again: two things or more."""
    claims = in_turn(words)
    if words.one_in(4):
        claims.append(words.claim())
    return [always(later(claim)) for claim in claims]


def kept(words: Words) -> list[Formula]:
    """Some of each of several sets of locations is inhabited for good, perhaps only from some time on."""
    found: dict[str, Formula] = {}
    several = words.source.choice((2, 2, 3))
    while len(found) < several:
        first = not words.one_in(4)
        claim = words.inhabited(words.places_at_first() if first else words.places(3))
        if words.one_in(3):
            claim = either(words.guard(), claim)
        found[claim.text] = always(claim) if first and not words.one_in(4) else later(always(claim))
    return list(found.values())


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
        parts = [later(both(*parts))]
    return denied(words, parts, some_premise(words))


def some_premise(words: Words) -> list[Formula]:
    match words.source.randrange(5):
        case 0:
            return [words.start()]
        case 1:
            return [later(always(words.fair()))]
        case _:
            return []
