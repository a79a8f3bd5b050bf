"""What needs fairness and has no bound: a rank that falls again and again, whenever something fair happens.

Why the premises imply the goal.  Once the premise holds it stays so.  Until what is to be done is done, the rank, a
tuple of natural numbers in lexicographic order, never grows, so from some time on it is the same for ever.  Then a
fairness condition that helps goes on to be one that helps, and does not hold any more: the run is not fair.
"""

from __future__ import annotations

from collections.abc import Sequence

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument, Bound, Premise, Reduction, Sort, Term, Terms
from fdverify.liveness.goals import LeadsTo, claimed, meant, named
from fdverify.logic import And, Implies, Not, Number, Or, Truth
from fdverify.models.system import Choices, Property, State, StepProperty, did_you_mean

DONE, RANK, HELPFUL = "done", "rank", "helpful"


def _argue(terms: Terms, goal: LeadsTo) -> Argument:
    premise, conclusion = claimed(goal.premise), claimed(goal.reached)
    return Argument(
        name=named(goal),
        meaning=meant(goal),
        claims=(premise, conclusion),
        reduction=FAIR_RANKING.name,
        premises=(*_about_states(terms, premise, conclusion), *_about_rounds(terms, premise, goal.lasting)),
        witnesses=(
            Property("premise", premise.holds, premise.meaning),
            Property("end", lambda s: And(premise.holds(s), _done(terms, s)), "what is to be done is done"),
        ),
        bounds=(Bound("when", "no bound", "fairness has none"),),
        fairness=terms.system.fairness,
    )


def _done(terms: Terms, s: State) -> Truth:
    done: Truth = terms.given[DONE](s)
    return done


def _rank(terms: Terms, s: State) -> tuple[Number, ...]:
    return tuple(terms.given[RANK](s))


def _pending(terms: Terms, premise: Property, s: State) -> Truth:
    return And(premise.holds(s), Not(_done(terms, s)))


def _helpful(terms: Terms, s: State) -> list[tuple[Property, Truth]]:
    """Fairness conditions, and when each helps."""
    known = {condition.name: condition for condition in terms.system.fairness}
    cases: dict[str, Truth] = terms.given[HELPFUL](s)
    for name in cases:
        if name not in known:
            raise UsageError(f"{terms.system.name} has no fairness condition {name}", did_you_mean(name, known))
    return [(known[name], helps) for name, helps in cases.items()]


def _about_states(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    return (
        Property(
            "done-is-enough",
            lambda s: Implies(And(premise.holds(s), _done(terms, s)), conclusion.holds(s)),
            f"what is done implies {conclusion.name}",
        ),
        Property(
            "rank-is-natural",
            lambda s: Implies(_pending(terms, premise, s), And(*(part >= 0 for part in _rank(terms, s)))),
            "no part of the rank is negative",
        ),
        Property(
            "something-helps",
            lambda s: Implies(_pending(terms, premise, s), Or(*(helps for _, helps in _helpful(terms, s)))),
            "until it is done, some fairness condition helps",
        ),
    )


def _about_rounds(terms: Terms, premise: Property, lasting: bool) -> tuple[Premise, ...]:
    def goes_on(before: State, after: State) -> Truth:
        return And(_pending(terms, premise, before), _pending(terms, premise, after))

    def never_grows(before: State, c: Choices, after: State) -> Truth:
        earlier, later = _rank(terms, before), _rank(terms, after)
        return Implies(goes_on(before, after), Or(_same(later, earlier), _lower(later, earlier)))

    def falls(before: State, c: Choices, after: State) -> Truth:
        stays = And(goes_on(before, after), _same(_rank(terms, after), _rank(terms, before)))
        pairs = zip(_helpful(terms, before), _helpful(terms, after), strict=True)
        still = (Implies(helped, And(helps, Not(fair.holds(after)))) for (fair, helped), (_, helps) in pairs)
        return Implies(stays, And(*still))

    final = (
        StepProperty(
            "done-for-good",
            lambda before, c, after: Implies(And(premise.holds(before), _done(terms, before)), _done(terms, after)),
            "what is done stays so",
        ),
    )
    return (
        StepProperty(
            "premise-is-final",
            lambda before, c, after: Implies(premise.holds(before), premise.holds(after)),
            f"{premise.name} stays so",
        ),
        StepProperty("rank-never-grows", never_grows, "until it is done, the rank never grows"),
        StepProperty("fairness-lowers-rank", falls, "what helps goes on to help until it happens, and lowers the rank"),
        *(final if lasting else ()),
    )


def _same(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    return And(*(a == b for a, b in zip(left, right, strict=True)))


def _lower(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    """The first part that differs is lower."""
    return Or(*(And(_same(left[:at], right[:at]), left[at] < right[at]) for at in range(len(left))))


FAIR_RANKING = Reduction(
    name="fair-ranking",
    goal=LeadsTo,
    terms={
        DONE: Term(Sort.TRUTH, "what is reached in the end; it implies the conclusion"),
        RANK: Term(Sort.RANK, "what is left to do; a lower first part counts more than all others"),
        HELPFUL: Term(Sort.CASES, "by fairness condition, when it lowers the rank"),
    },
    argue=_argue,
    of_detectors=False,
)
