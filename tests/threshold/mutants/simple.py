"""Specifications that people write: safety, and what comes, perhaps if the run is fair."""

from tests.threshold.mutants.formulas import Formula, always, implied, later
from tests.threshold.mutants.words import Words


def from_start(words: Words) -> Formula:
    return implied(words.start(), always(words.safe()))


def safe(words: Words) -> Formula:
    return always(words.safe())


def fair_reach(words: Words) -> Formula:
    return implied(later(always(words.fair())), implied(words.start(), later(words.goal())))


def fair_response(words: Words) -> Formula:
    return implied(later(always(words.fair())), response(words))


def response(words: Words) -> Formula:
    return always(implied(words.claim(), later(words.goal())))


def reach(words: Words) -> Formula:
    return later(words.goal())


def settle(words: Words) -> Formula:
    """A run that breaks it does one thing again and again."""
    return later(always(words.safe()))
