"""Inductive invariants: what has to be shown, as questions in SMT-LIB text.

An invariant is the conjunction of the author's conjuncts and the ranges of the variables.  It is inductive if every
conjunct holds initially (initiation) and after every round from a state in which all of them hold (consecution); it is
a proof if it implies the goal.  With ``k`` above 1, conjuncts hold in the first k states of every run, and after every
k states in a row in which all of them hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fdverify.logic import Not
from fdverify.models.system import Property, System
from fdverify.smt.products import product_lemmas
from fdverify.smt.script import Assertion, Script, printed
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run


class Kind(StrEnum):
    INITIATION = "initiation"
    CONSECUTION = "consecution"
    GOAL = "goal"
    VACUITY = "vacuity"


@dataclass(frozen=True)
class Invariant:
    """A goal and the conjuncts that are to prove it of a system."""

    system: System
    goal: Property
    authored: tuple[Property, ...]
    k: int = 1

    @property
    def conjuncts(self) -> tuple[Property, ...]:
        return (*self.system.ranges(), *self.authored)


@dataclass(frozen=True)
class Question:
    """One obligation: of which kind, about which conjunct (or the goal), after how many rounds, and its text."""

    name: str
    kind: Kind
    about: str
    rounds: int
    script: Script


@dataclass(frozen=True)
class Reached:
    """A run to a state in which the claim is false; or none: in no run at all (``complete``), or within ``rounds``."""

    run: Run | None
    complete: bool
    rounds: int


@dataclass(frozen=True)
class Broken:
    """A replayed step out of the invariant (or a run from the start), and what was found out about reaching it."""

    about: str
    step: Run
    reached: Reached | None
    breaks_goal: bool


@dataclass(frozen=True)
class Unbroken:
    """There is no such step after all: with more ages spelled out the obligation is proved."""


@dataclass(frozen=True)
class Undecided:
    reason: str


def questions(invariant: Invariant) -> list[Question]:
    """All obligations but those against vacuity, in the order of the conjuncts."""
    initiation = [found for depth in range(invariant.k) for found in _initiation(invariant, depth)]
    return [*initiation, *_consecution(invariant), _goal(invariant)]


@dataclass(frozen=True)
class _Part:
    """What one conclusion needs on its own: its negation, and what is to be known of ages because of it."""

    about: Property
    negated: Any
    ages: list[Any]


def _part(unrolling: Unrolling, about: Property) -> _Part:
    negated = truth(Not(about.holds(unrolling.states[-1])))
    return _Part(about, negated, unrolling.age_facts(unrolling.closure.copy()))


def assumed(invariant: Invariant, rounds: int) -> tuple[Unrolling, list[Any]]:
    """Rounds from any state whatever, and that all conjuncts hold in each state but the last of them."""
    unrolling = Unrolling(invariant.system, anywhere=True)
    hypotheses: list[Any] = []
    for _ in range(rounds):
        hypotheses += [truth(conjunct.holds(unrolling.states[-1])) for conjunct in invariant.conjuncts]
        unrolling.extend()
    return unrolling, hypotheses


def from_start(invariant: Invariant, rounds: int) -> Unrolling:
    unrolling = Unrolling(invariant.system)
    for _ in range(rounds):
        unrolling.extend()
    return unrolling


def _initiation(invariant: Invariant, depth: int) -> list[Question]:
    unrolling = from_start(invariant, depth)
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    parts = [_part(unrolling, conjunct) for conjunct in invariant.conjuncts]
    suffix = "init" if depth == 0 else f"init-{depth}"
    return _questions(Kind.INITIATION, suffix, depth, step, ages, parts)


def _consecution(invariant: Invariant) -> list[Question]:
    unrolling, hypotheses = assumed(invariant, invariant.k)
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    parts = [_part(unrolling, conjunct) for conjunct in invariant.conjuncts]
    return _questions(Kind.CONSECUTION, "step", invariant.k, step, hypotheses + ages, parts)


def _goal(invariant: Invariant) -> Question:
    unrolling = Unrolling(invariant.system, anywhere=True)
    hypotheses = [truth(conjunct.holds(unrolling.states[0])) for conjunct in invariant.conjuncts]
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    part = _part(unrolling, invariant.goal)
    (question,) = _questions(Kind.GOAL, "", 0, step, hypotheses + ages, [part])
    return question


def _questions(
    kind: Kind, suffix: str, rounds: int, step: list[Any], hypotheses: list[Any], parts: list[_Part]
) -> list[Question]:
    # Conclusions differ in little, so what they share is printed once.
    texts = iter(printed([*step, *hypotheses, *(term for part in parts for term in (*part.ages, part.negated))]))

    def take(number: int) -> tuple[Assertion, ...]:
        return tuple(next(texts) for _ in range(number))

    step_texts, shared = take(len(step)), take(len(hypotheses))
    with_products = [assertion for assertion in (*step_texts, *shared) if "(*" in assertion.formula]
    found = []
    for part in parts:
        ages, (negated,) = take(len(part.ages)), take(1)
        name = f"{part.about.name}-{suffix}" if suffix else kind.value
        lemmas = product_lemmas([*with_products, *ages, negated])
        script = Script(f"{name} ({kind})", step_texts, (*shared, *ages, *lemmas), negated)
        found.append(Question(name, kind, part.about.name, rounds, script))
    return found
