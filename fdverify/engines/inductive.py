"""Inductive invariants: their proof obligations as SMT-LIB scripts.

An invariant is the conjunction of the author's conjuncts and the ranges of the variables.  It is inductive if every
conjunct holds initially (initiation) and after every round from a state in which all of them hold (consecution).  It
proves the goal if it implies the goal.  For a liveness goal it must imply every premise of the argument instead: some
premises are about the states of the invariant, some about the rounds from there.  With ``k`` above 1, conjuncts must
hold in the first k states of every run, and after every k states in a row in which all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument
from fdverify.logic import Not, Truth
from fdverify.models.names import check_unique
from fdverify.models.system import Choices, Property, State, StepProperty, System
from fdverify.smt.products import product_lemmas
from fdverify.smt.script import Assertion, Script, printed
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run


class Kind(StrEnum):
    INITIATION = "initiation"
    CONSECUTION = "consecution"
    GOAL = "goal"
    PREMISE = "premise"
    VACUITY = "vacuity"


VACUITY = (ASSUMPTIONS, PHASES, GOAL_PREMISE, NO_DEAD_END) = ("assumptions", "phases", "goal-premise", "no-dead-end")
"""The obligations of every proof that show that it is not vacuous."""


@dataclass(frozen=True)
class Invariant:
    """A system, a goal, and the conjuncts that are to prove it."""

    system: System
    goal: Property | Argument
    authored: tuple[Property, ...]
    k: int = 1
    without: frozenset[str] = frozenset()
    """Conjuncts and ranges that are left out because they fail."""
    doubted: frozenset[str] = frozenset()
    """Conjuncts that are expected to fail: each is a hypothesis of its own consecution only."""

    def __post_init__(self) -> None:
        # With k = 0, consecution would have no round and every conjunct would pass.
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise UsageError(f"k must be an integer of at least 1, got {self.k!r}")
        check_unique("the proof", "conjuncts", [(conjunct.name, conjunct.holds) for conjunct in self.authored])

    @property
    def conjuncts(self) -> tuple[Property, ...]:
        candidates = (*self.system.ranges(), *self.authored)
        return tuple(conjunct for conjunct in candidates if conjunct.name not in self.without)

    def hypotheses(self, kind: Kind | None = None, about: str = "") -> tuple[Property, ...]:
        """Return what an obligation may assume: all conjuncts but the doubted ones, and the one that it is about.

        Without arguments, return what every obligation may assume.
        """
        own = about if kind is Kind.CONSECUTION else None  # the goal may have the name of a conjunct
        return tuple(
            conjunct for conjunct in self.conjuncts if conjunct.name not in self.doubted or conjunct.name == own
        )

    @property
    def conclusions(self) -> tuple[Property | StepProperty, ...]:
        """What the invariant has to imply: the goal, or the premises of the argument for it."""
        return self.goal.premises if isinstance(self.goal, Argument) else (self.goal,)

    @property
    def conclusion_kind(self) -> Kind:
        return Kind.PREMISE if isinstance(self.goal, Argument) else Kind.GOAL


@dataclass(frozen=True)
class Outlined:
    """An obligation without its script: its name, its kind, and the conjunct (or the goal) it is about."""

    name: str
    kind: Kind
    about: str


@dataclass(frozen=True)
class Question:
    """An obligation to be decided: its kind, the conjunct (or the goal) it is about, its rounds and its script."""

    name: str
    kind: Kind
    about: str
    rounds: int
    script: Script


@dataclass(frozen=True)
class Reached:
    """A run that violates a claim; or none, in all runs (``complete``) or within so many ``rounds``."""

    run: Run | None
    complete: bool
    rounds: int


@dataclass(frozen=True)
class Broken:
    """A replayed counterexample to an obligation, and the outcome of the search for a run that violates its claim."""

    about: str
    step: Run
    reached: Reached | None
    breaks_goal: bool


@dataclass(frozen=True)
class Unbroken:
    """There is no counterexample after all: with more ages instantiated, the obligation is proved."""


@dataclass(frozen=True)
class Undecided:
    """Whether there is a counterexample is not known."""

    reason: str


def outline(invariant: Invariant) -> list[Outlined]:
    """Return all obligations without their scripts, in the order in which they are built and shown."""
    initially = [(Kind.INITIATION, _initially(depth)) for depth in range(invariant.k)]
    inductive = [
        Outlined(_name(conjunct, kind, suffix), kind, conjunct.name)
        for kind, suffix in (*initially, (Kind.CONSECUTION, _STEP))
        for conjunct in invariant.conjuncts
    ]
    kind = invariant.conclusion_kind
    concluded = [Outlined(_name(claim, kind, ""), kind, claim.name) for claim in invariant.conclusions]
    return [*inductive, *concluded, *(Outlined(name, Kind.VACUITY, invariant.goal.name) for name in VACUITY)]


_STEP = "step"


def _initially(depth: int) -> str:
    return "init" if depth == 0 else f"init-{depth}"


def _name(about: Property | StepProperty, kind: Kind, suffix: str) -> str:
    if suffix:
        return f"{about.name}-{suffix}"
    return about.name if kind is Kind.PREMISE else kind.value


def questions(invariant: Invariant) -> list[Question]:
    """Build all obligations but those against vacuity, in the order of the conjuncts."""
    initiation = [question for depth in range(invariant.k) for question in _initiation(invariant, depth)]
    # All share one unrolling: claims about states are built before it has a round, claims about rounds when it has one.
    unrolling = Unrolling(invariant.system, anywhere=True)
    hypotheses, own = _sorted_out(invariant, _unchanging(invariant, unrolling.states[0]))
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    kind = invariant.conclusion_kind
    of_states = [_concluded(unrolling, claim) for claim in invariant.conclusions if isinstance(claim, Property)]
    concluded = _questions(kind, "", 0, step, hypotheses + ages, of_states)
    for number in range(invariant.k):
        if number > 0:
            more, its_own = _sorted_out(invariant, _all_hold(invariant.conjuncts, unrolling.states[-1]))
            hypotheses += more
            own = {name: formulas + its_own[name] for name, formulas in own.items()}
        unrolling.extend()
        step, ages = step + unrolling.round_facts(), ages + unrolling.age_facts(unrolling.closure)
        if number == 0:
            # A claim about rounds must hold of every round, also of the first ones, which no others precede.
            of_rounds = [
                _concluded(unrolling, claim) for claim in invariant.conclusions if isinstance(claim, StepProperty)
            ]
            concluded += _questions(kind, "", 1, step, hypotheses + ages, of_rounds)
    parts = [_part(unrolling, conjunct, own.get(conjunct.name, [])) for conjunct in invariant.conjuncts]
    consecution = _questions(Kind.CONSECUTION, _STEP, invariant.k, step, hypotheses + ages, parts)
    by_name = {question.about: question for question in concluded}
    return [*initiation, *consecution, *(by_name[claim.name] for claim in invariant.conclusions)]


def _unchanging(invariant: Invariant, state: State) -> list[Any]:
    """Evaluate all conjuncts twice; refuse one whose two formulas differ."""
    first, again = _all_hold(invariant.conjuncts, state), _all_hold(invariant.conjuncts, state)
    for conjunct, once, twice in zip(invariant.conjuncts, first, again, strict=True):
        if not once.eq(twice):
            raise _changing(conjunct)
    return first


def _sorted_out(invariant: Invariant, formulas: list[Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """Separate the conjuncts' formulas: those that every obligation may assume, and those of the doubted conjuncts."""
    by_name = [(conjunct.name, formula) for conjunct, formula in zip(invariant.conjuncts, formulas, strict=True)]
    doubted = invariant.doubted
    return [formula for name, formula in by_name if name not in doubted], {
        name: [formula] for name, formula in by_name if name in doubted
    }


def _changing(claim: Property | StepProperty) -> UsageError:
    return UsageError(f"{claim.name} says something else each time it is evaluated", "let it depend on the state alone")


@dataclass(frozen=True)
class _Part:
    """The formulas of one conclusion: its negation, its own hypotheses, and the facts about ages that it needs."""

    about: Property | StepProperty
    negated: Any
    facts: list[Any]


def _part(unrolling: Unrolling, about: Property | StepProperty, own: Sequence[Any] = ()) -> _Part:
    holds = holds_at_end(unrolling, about)
    negated = truth(Not(holds))
    return _Part(about, negated, [*own, *unrolling.age_facts(unrolling.closure.copy())])


def _concluded(unrolling: Unrolling, about: Property | StepProperty) -> _Part:
    """Build the formulas of what the invariant has to imply; refuse it if a second evaluation differs."""
    part = _part(unrolling, about)
    again = truth(Not(holds_at_end(unrolling, about)))
    unrolling.book.take_mentions()  # the first evaluation has already recorded them
    if not part.negated.eq(again):
        raise _changing(about)
    return part


def holds_at_end(unrolling: Unrolling, claim: Property | StepProperty) -> Truth:
    """Evaluate a claim in the last state, or in the last round."""
    if isinstance(claim, Property):
        return claim.holds(unrolling.states[-1])
    before, after = unrolling.states[-2:]
    return claim.holds(before, Choices(unrolling.choices[-1]), after)


def assumed(invariant: Invariant, kind: Kind, about: str, state: State) -> list[Any]:
    """Evaluate the hypotheses of an obligation in a state."""
    return _all_hold(invariant.hypotheses(kind, about), state)


def _all_hold(conjuncts: Sequence[Property], state: State) -> list[Any]:
    return [truth(conjunct.holds(state)) for conjunct in conjuncts]


def from_start(invariant: Invariant, rounds: int) -> Unrolling:
    unrolling = Unrolling(invariant.system)
    for _ in range(rounds):
        unrolling.extend()
    return unrolling


def _initiation(invariant: Invariant, depth: int) -> list[Question]:
    unrolling = from_start(invariant, depth)
    step, ages = unrolling.round_facts(), unrolling.age_facts(unrolling.closure)
    parts = [_part(unrolling, conjunct) for conjunct in invariant.conjuncts]
    return _questions(Kind.INITIATION, _initially(depth), depth, step, ages, parts)


def _questions(
    kind: Kind, suffix: str, rounds: int, step: list[Any], hypotheses: list[Any], parts: list[_Part]
) -> list[Question]:
    # Obligations differ in little, so what they share is printed once.
    texts = iter(printed([*step, *hypotheses, *(term for part in parts for term in (*part.facts, part.negated))]))

    def take(number: int) -> tuple[Assertion, ...]:
        return tuple(next(texts) for _ in range(number))

    step_texts, shared = take(len(step)), take(len(hypotheses))
    with_products = [assertion for assertion in (*step_texts, *shared) if "(*" in assertion.formula]
    built = []
    for part in parts:
        facts, (negated,) = take(len(part.facts)), take(1)
        name = _name(part.about, kind, suffix)
        lemmas = product_lemmas([*with_products, *facts, negated])
        script = Script(f"{name} ({kind})", step_texts, (*shared, *facts, *lemmas), negated)
        built.append(Question(name, kind, part.about.name, rounds, script))
    return built
