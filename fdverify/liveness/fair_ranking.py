"""Liveness under fairness, without a bound: a rank that falls whenever a helpful fairness condition holds.

Why the premises imply the goal.  Once the premise holds, it stays true.  As long as ``done`` is false, the rank, a
tuple of natural numbers in lexicographic order, never grows.  So if ``done`` stayed false for ever, the rank would be
constant from some time on.  Then a helpful fairness condition would stay helpful and never hold again, and the run
would not be fair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fdverify.errors import UsageError, did_you_mean
from fdverify.liveness.argument import Argument, Bound, FairRuns, Premise, Reduction, Sort, Term, Terms
from fdverify.liveness.goals import LeadsTo, claimed, meant, named
from fdverify.logic import And, If, Implies, Not, Number, Or, Truth
from fdverify.models.system import (
    Choices,
    Integers,
    Phase,
    Property,
    State,
    StepProperty,
    System,
    Update,
    Variable,
    update,
)

DONE, RANK, HELPFUL = "done", "rank", "helpful"
FAIR, DUE = "hfair", "hdue"
"""The ghosts that count how often fairness conditions have held, each in turn, and whose turn it is."""
_COUNT, _TURNS = "count_fair", 3


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
            Property("end", lambda s: And(premise.holds(s), _done(terms, s)), "the premise and done hold"),
        ),
        sightings=(
            Property(
                "fair run",
                lambda s: And(premise.holds(s), s[FAIR] >= _TURNS * len(terms.system.fairness)),
                f"all fairness conditions have held in turn, {_TURNS} times",
            ),
        ),
        bounds=(Bound("when", "no bound", "fairness gives none"),),
        fairness=terms.system.fairness,
        fair_runs=FairRuns(premise, _without_fair_clock),
    )


def _done(terms: Terms, s: State) -> Truth:
    done: Truth = terms.given[DONE](s)
    return done


def _rank(terms: Terms, s: State) -> tuple[Number, ...]:
    return tuple(terms.given[RANK](s))


def _pending(terms: Terms, premise: Property, s: State) -> Truth:
    return And(premise.holds(s), Not(_done(terms, s)))


def _helpful(terms: Terms, s: State) -> dict[str, tuple[Property, Truth]]:
    """Return fairness conditions by name, each with the condition under which it helps."""
    known = {condition.name: condition for condition in terms.system.fairness}
    cases: dict[str, Truth] = terms.given[HELPFUL](s)
    for name in cases:
        if name not in known:
            raise UsageError(
                f"{terms.place}: {terms.system.name} has no fairness condition {name}", did_you_mean(name, known)
            )
    return {name: (known[name], helps) for name, helps in cases.items()}


def _about_states(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    return (
        Property(
            "done-is-enough",
            lambda s: Implies(And(premise.holds(s), _done(terms, s)), conclusion.holds(s)),
            f"done implies {conclusion.name}",
        ),
        Property(
            "rank-is-natural",
            lambda s: Implies(_pending(terms, premise, s), And(*(part >= 0 for part in _rank(terms, s)))),
            "no part of the rank is negative",
        ),
        Property(
            "something-helps",
            lambda s: Implies(_pending(terms, premise, s), Or(*(helps for _, helps in _helpful(terms, s).values()))),
            "until done, some fairness condition helps",
        ),
    )


def _about_rounds(terms: Terms, premise: Property, lasting: bool) -> tuple[Premise, ...]:
    def goes_on(before: State, after: State) -> Truth:
        return And(_pending(terms, premise, before), _pending(terms, premise, after))

    def never_grows(before: State, c: Choices, after: State) -> Truth:
        earlier, later = _rank(terms, before), _rank(terms, after)
        if len(earlier) != len(later):
            raise UsageError(f"{terms.place}: {RANK} has a different length each time it is evaluated")
        return Implies(goes_on(before, after), Or(_same(later, earlier), _lower(later, earlier)))

    def falls(before: State, c: Choices, after: State) -> Truth:
        stays = And(goes_on(before, after), _same(_rank(terms, after), _rank(terms, before)))
        earlier, later = _helpful(terms, before), _helpful(terms, after)
        if set(earlier) != set(later):
            raise UsageError(f"{terms.place}: {HELPFUL} names different fairness conditions each time it is evaluated")
        still = (
            Implies(helped, And(later[name][1], Not(fair.holds(after)))) for name, (fair, helped) in earlier.items()
        )
        return Implies(stays, And(*still))

    final = (
        StepProperty(
            "done-for-good",
            lambda before, c, after: Implies(And(premise.holds(before), _done(terms, before)), _done(terms, after)),
            "done stays true",
        ),
    )
    return (
        StepProperty(
            "premise-is-final",
            lambda before, c, after: Implies(premise.holds(before), premise.holds(after)),
            f"{premise.name} stays true",
        ),
        StepProperty("rank-never-grows", never_grows, "until done, the rank never grows"),
        StepProperty("fairness-lowers-rank", falls, "what helps stays helpful until the rank falls, and makes it fall"),
        *(final if lasting else ()),
    )


def _same(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    return And(*(a == b for a, b in zip(left, right, strict=True)))


def _lower(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    """Tell whether the first rank is lower in lexicographic order."""
    return Or(*(And(_same(left[:k], right[:k]), left[k] < right[k]) for k in range(len(left))))


def _with_fair_clock(system: System) -> System:
    """Add a count of fairness conditions that have held: a run is fair if and only if this count grows for ever."""
    conditions = system.fairness
    if not conditions:
        raise UsageError(f"{FAIR_RANKING.name} needs fairness conditions, and {system.name} declares none")

    def count(s: State, c: Choices) -> Update:
        held = Or(*(And(s[DUE] == index, condition.holds(s)) for index, condition in enumerate(conditions)))
        following = If(s[DUE] == len(conditions) - 1, 0, s[DUE] + 1)
        return update(**{FAIR: If(held, s[FAIR] + 1, s[FAIR]), DUE: If(held, following, s[DUE])})

    ghosts = (
        Variable(FAIR, Integers(), initial=lambda s: 0, range=lambda s: s[FAIR] >= 0, ghost=True),
        Variable(DUE, Integers(), initial=lambda s: 0, range=lambda s: s[DUE] >= 0, ghost=True),
    )
    return replace(system, variables=(*system.variables, *ghosts), phases=(*system.phases, Phase(_COUNT, count)))


def _without_fair_clock(system: System) -> System:
    """Remove the count again: while it grows for ever, no state recurs."""
    return replace(
        system,
        variables=tuple(variable for variable in system.variables if variable.name not in (FAIR, DUE)),
        phases=tuple(phase for phase in system.phases if phase.name != _COUNT),
    )


FAIR_RANKING = Reduction(
    name="fair-ranking",
    goal=LeadsTo,
    terms={
        DONE: Term(Sort.TRUTH, "the state of affairs that is reached; it implies the conclusion"),
        RANK: Term(Sort.RANK, "what is left to do, as numbers in lexicographic order"),
        HELPFUL: Term(Sort.CASES, "for each fairness condition, when it lowers the rank"),
    },
    argue=_argue,
    prepare=_with_fair_clock,
)
