"""Specifications with <> and [] inside each other."""

from __future__ import annotations

from tests.threshold.mutants.formulas import Formula, always, both, either, implied, later, negated
from tests.threshold.mutants.shapes import in_turn
from tests.threshold.mutants.words import Words

MOST_SIGNS = 6
"""How many <> and [] there may be, as many take long to check."""


def nested(words: Words) -> Formula:
    claim, goal, lasting = words.claim, words.goal, words.lasting
    match words.source.randrange(11):
        case 0:
            return always(implied(claim(), later(always(claim()))))
        case 1:
            return always(implied(claim(), either(later(goal()), later(goal()))))
        case 2:
            return implied(later(always(lasting())), always(later(goal())))
        case 3:
            return implied(always(later(claim())), always(later(goal())))
        case 4:
            return always(implied(claim(), always(implied(claim(), later(goal())))))
        case 5:
            answer = either(later(always(claim())), later(goal()))
            return implied(later(always(lasting())), always(implied(claim(), answer)))
        case 6:
            return always(implied(claim(), either(*(later(always(negated(each))) for each in in_turn(words)))))
        case _:
            formula = deep(words, 2)
            while formula.text.count("<>") + formula.text.count("[]") > MOST_SIGNS:
                formula = deep(words, 2)
            return negated(formula)


def deep(words: Words, depth: int) -> Formula:
    """What a run does; all that holds at all times is a lasting claim or a <>…, or several of these."""
    parts = [later(some_time(words, depth)) if words.one_in(2) else always(all_times(words, depth)) for _ in range(2)]
    if words.one_in(3):
        parts.append(words.start())
    return words.source.choice((both, both, either))(*parts)


def some_time(words: Words, depth: int) -> Formula:
    """What may stand in a <>…"""
    parts = [] if depth and words.one_in(4) else [words.claim()]
    for _ in range(words.source.randint(0 if parts else 1, 2) if depth else 0):
        inside = later(some_time(words, depth - 1)) if words.one_in(3) else always(all_times(words, depth - 1))
        parts.append(inside)
    return words.source.choice((both, both, either))(*parts)


def all_times(words: Words, depth: int) -> Formula:
    """What may stand in a []…"""
    parts = [] if depth and words.one_in(2) else [words.lasting()]
    if words.one_in(4):
        return both(*parts, *map(later, in_turn(words)))
    for _ in range(words.source.randint(0 if parts else 1, 2) if depth else 0):
        parts.append(later(some_time(words, depth - 1)))
    return both(*parts)
