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
from typing import Any

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument
from fdverify.logic import Not, Truth
from fdverify.models.system import Choices, Property, State, StepProperty, System
from fdverify.models.unique_names import check_unique
from fdverify.obligations.obligation import VACUITY, InvariantObligation, ObligationKind, ObligationOutline
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.product_lemmas import build_product_lemmas
from fdverify.smt.script import Assertion, Script
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth


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
        candidates = (*self.system.list_ranges(), *self.authored)
        return tuple(conjunct for conjunct in candidates if conjunct.name not in self.without)

    def list_hypotheses(self, kind: ObligationKind | None = None, about: str = "") -> tuple[Property, ...]:
        """Return what an obligation may assume: all conjuncts but the doubted ones, and the one that it is about.

        Without arguments, return what every obligation may assume.
        """
        own = about if kind is ObligationKind.CONSECUTION else None  # the goal may have the name of a conjunct
        return tuple(
            conjunct for conjunct in self.conjuncts if conjunct.name not in self.doubted or conjunct.name == own
        )

    @property
    def conclusions(self) -> tuple[Property | StepProperty, ...]:
        """What the invariant has to imply: the goal, or the premises of the argument for it."""
        return self.goal.premises if isinstance(self.goal, Argument) else (self.goal,)

    @property
    def conclusion_kind(self) -> ObligationKind:
        return ObligationKind.PREMISE if isinstance(self.goal, Argument) else ObligationKind.GOAL


def outline_obligations(invariant: Invariant) -> list[ObligationOutline]:
    """Return all obligations without their scripts, in the order in which they are built and shown."""
    initially = [(ObligationKind.INITIATION, _format_initiation_suffix(depth)) for depth in range(invariant.k)]
    inductive = [
        ObligationOutline(_format_obligation_name(conjunct, kind, suffix), kind, conjunct.name)
        for kind, suffix in (*initially, (ObligationKind.CONSECUTION, _STEP))
        for conjunct in invariant.conjuncts
    ]
    kind = invariant.conclusion_kind
    concluded = [
        ObligationOutline(_format_obligation_name(claim, kind, ""), kind, claim.name) for claim in invariant.conclusions
    ]
    return [
        *inductive,
        *concluded,
        *(ObligationOutline(name, ObligationKind.VACUITY, invariant.goal.name) for name in VACUITY),
    ]


_STEP = "step"


def _format_initiation_suffix(depth: int) -> str:
    return "init" if depth == 0 else f"init-{depth}"


def _format_obligation_name(about: Property | StepProperty, kind: ObligationKind, suffix: str) -> str:
    if suffix:
        return f"{about.name}-{suffix}"
    return about.name if kind is ObligationKind.PREMISE else kind.value


def build_obligations(invariant: Invariant) -> list[InvariantObligation]:
    """Build all obligations but those against vacuity, in the order of the conjuncts."""
    initiation = [
        question for depth in range(invariant.k) for question in _build_initiation_obligations(invariant, depth)
    ]
    # All share one unrolling: claims about states are built before it has a round, claims about rounds when it has one.
    unrolling = Unrolling(invariant.system, anywhere=True)
    hypotheses, own = _separate_doubted(invariant, _evaluate_conjuncts_twice(invariant, unrolling.states[0]))
    step, ages = unrolling.take_round_facts(), unrolling.take_age_facts(unrolling.closure)
    kind = invariant.conclusion_kind
    of_states = [
        _build_checked_conclusion(unrolling, claim) for claim in invariant.conclusions if isinstance(claim, Property)
    ]
    concluded = _print_obligations(kind, "", 0, step, hypotheses + ages, of_states)
    for number in range(invariant.k):
        if number > 0:
            more, its_own = _separate_doubted(invariant, _evaluate_conjuncts(invariant.conjuncts, unrolling.states[-1]))
            hypotheses += more
            own = {name: formulas + its_own[name] for name, formulas in own.items()}
        unrolling.add_round()
        step, ages = step + unrolling.take_round_facts(), ages + unrolling.take_age_facts(unrolling.closure)
        if number == 0:
            # A claim about rounds must hold of every round, also of the first ones, which no others precede.
            of_rounds = [
                _build_checked_conclusion(unrolling, claim)
                for claim in invariant.conclusions
                if isinstance(claim, StepProperty)
            ]
            concluded += _print_obligations(kind, "", 1, step, hypotheses + ages, of_rounds)
    parts = [
        _build_conclusion_terms(unrolling, conjunct, own.get(conjunct.name, [])) for conjunct in invariant.conjuncts
    ]
    consecution = _print_obligations(ObligationKind.CONSECUTION, _STEP, invariant.k, step, hypotheses + ages, parts)
    by_name = {question.about: question for question in concluded}
    return [*initiation, *consecution, *(by_name[claim.name] for claim in invariant.conclusions)]


def _evaluate_conjuncts_twice(invariant: Invariant, state: State) -> list[Any]:
    """Evaluate all conjuncts twice; refuse one whose two formulas differ."""
    first, again = _evaluate_conjuncts(invariant.conjuncts, state), _evaluate_conjuncts(invariant.conjuncts, state)
    for conjunct, once, twice in zip(invariant.conjuncts, first, again, strict=True):
        if not once.eq(twice):
            raise _build_changing_claim_error(conjunct)
    return first


def _separate_doubted(invariant: Invariant, formulas: list[Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """Separate the conjuncts' formulas: those that every obligation may assume, and those of the doubted conjuncts."""
    by_name = [(conjunct.name, formula) for conjunct, formula in zip(invariant.conjuncts, formulas, strict=True)]
    doubted = invariant.doubted
    return [formula for name, formula in by_name if name not in doubted], {
        name: [formula] for name, formula in by_name if name in doubted
    }


def _build_changing_claim_error(claim: Property | StepProperty) -> UsageError:
    return UsageError(f"{claim.name} says something else each time it is evaluated", "let it depend on the state alone")


@dataclass(frozen=True)
class _ConclusionTerms:
    """The formulas of one conclusion: its negation, its own hypotheses, and the facts about ages that it needs."""

    about: Property | StepProperty
    negated: Any
    facts: list[Any]


def _build_conclusion_terms(
    unrolling: Unrolling, about: Property | StepProperty, own: Sequence[Any] = ()
) -> _ConclusionTerms:
    holds = evaluate_claim_at_end(unrolling, about)
    negated = lift_truth(Not(holds))
    return _ConclusionTerms(about, negated, [*own, *unrolling.take_age_facts(unrolling.closure.copy())])


def _build_checked_conclusion(unrolling: Unrolling, about: Property | StepProperty) -> _ConclusionTerms:
    """Build the formulas of what the invariant has to imply; refuse it if a second evaluation differs."""
    part = _build_conclusion_terms(unrolling, about)
    again = lift_truth(Not(evaluate_claim_at_end(unrolling, about)))
    unrolling.book.take_mentions()  # the first evaluation has already recorded them
    if not part.negated.eq(again):
        raise _build_changing_claim_error(about)
    return part


def evaluate_claim_at_end(unrolling: Unrolling, claim: Property | StepProperty) -> Truth:
    """Evaluate a claim in the last state, or in the last round."""
    if isinstance(claim, Property):
        return claim.holds(unrolling.states[-1])
    before, after = unrolling.states[-2:]
    return claim.holds(before, Choices(unrolling.choices[-1]), after)


def evaluate_hypotheses(invariant: Invariant, kind: ObligationKind, about: str, state: State) -> list[Any]:
    """Evaluate the hypotheses of an obligation in a state."""
    return _evaluate_conjuncts(invariant.list_hypotheses(kind, about), state)


def _evaluate_conjuncts(conjuncts: Sequence[Property], state: State) -> list[Any]:
    return [lift_truth(conjunct.holds(state)) for conjunct in conjuncts]


def unroll_from_start(invariant: Invariant, rounds: int) -> Unrolling:
    unrolling = Unrolling(invariant.system)
    for _ in range(rounds):
        unrolling.add_round()
    return unrolling


def _build_initiation_obligations(invariant: Invariant, depth: int) -> list[InvariantObligation]:
    unrolling = unroll_from_start(invariant, depth)
    step, ages = unrolling.take_round_facts(), unrolling.take_age_facts(unrolling.closure)
    parts = [_build_conclusion_terms(unrolling, conjunct) for conjunct in invariant.conjuncts]
    return _print_obligations(ObligationKind.INITIATION, _format_initiation_suffix(depth), depth, step, ages, parts)


def _print_obligations(
    kind: ObligationKind,
    suffix: str,
    rounds: int,
    step: list[Any],
    hypotheses: list[Any],
    parts: list[_ConclusionTerms],
) -> list[InvariantObligation]:
    # Obligations differ in little, so what they share is printed once.
    texts = iter(
        print_assertions([*step, *hypotheses, *(term for part in parts for term in (*part.facts, part.negated))])
    )

    def take_texts(number: int) -> tuple[Assertion, ...]:
        return tuple(next(texts) for _ in range(number))

    step_texts, shared = take_texts(len(step)), take_texts(len(hypotheses))
    with_products = [assertion for assertion in (*step_texts, *shared) if "(*" in assertion.formula]
    built = []
    for part in parts:
        facts, (negated,) = take_texts(len(part.facts)), take_texts(1)
        name = _format_obligation_name(part.about, kind, suffix)
        lemmas = build_product_lemmas([*with_products, *facts, negated])
        script = Script(f"{name} ({kind})", step_texts, (*shared, *facts, *lemmas), negated)
        built.append(InvariantObligation(name, kind, part.about.name, rounds, script))
    return built
