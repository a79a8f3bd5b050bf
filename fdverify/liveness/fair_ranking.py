"""Liveness under fairness, without a bound: a rank that falls whenever a helpful fairness condition holds.

Why the premises imply the goal.  Once the premise holds, it stays true.  As long as ``done`` is false, the rank, a
tuple of natural numbers in lexicographic order, never grows.  So if ``done`` stayed false for ever, the rank would be
constant from some time on.  Then a helpful fairness condition would stay helpful and never hold again, and the run
would not be fair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fdverify.errors import UsageError, suggest_name
from fdverify.liveness.argument import Argument, Bound, FairRuns, Premise, Reduction, Term, Terms, TermSort
from fdverify.liveness.goals import LeadsTo, describe_goal, format_goal_name, require_property
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


def _build_argument(terms: Terms, goal: LeadsTo) -> Argument:
    premise, conclusion = require_property(goal.premise), require_property(goal.reached)
    return Argument(
        name=format_goal_name(goal),
        meaning=describe_goal(goal),
        claims=(premise, conclusion),
        reduction=FAIR_RANKING.name,
        premises=(
            *_build_state_premises(terms, premise, conclusion),
            *_build_round_premises(terms, premise, goal.lasting),
        ),
        witnesses=(
            Property("premise", premise.holds, premise.meaning),
            Property("end", lambda s: And(premise.holds(s), _is_done(terms, s)), "the premise and done hold"),
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
        fair_runs=FairRuns(premise, _remove_fairness_count),
    )


def _is_done(terms: Terms, s: State) -> Truth:
    done: Truth = terms.by_name[DONE](s)
    return done


def _evaluate_rank(terms: Terms, s: State) -> tuple[Number, ...]:
    return tuple(terms.by_name[RANK](s))


def _is_pending(terms: Terms, premise: Property, s: State) -> Truth:
    return And(premise.holds(s), Not(_is_done(terms, s)))


def _evaluate_helpful(terms: Terms, s: State) -> dict[str, tuple[Property, Truth]]:
    """Return fairness conditions by name, each with the condition under which it helps."""
    known = {condition.name: condition for condition in terms.system.fairness}
    cases: dict[str, Truth] = terms.by_name[HELPFUL](s)
    for name in cases:
        if name not in known:
            message = f"{terms.system.name} has no fairness condition {name}"
            raise UsageError(message, suggest_name(name, known), terms.place)
    return {name: (known[name], helps) for name, helps in cases.items()}


def _build_state_premises(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    return (
        Property(
            "done-is-enough",
            lambda s: Implies(And(premise.holds(s), _is_done(terms, s)), conclusion.holds(s)),
            f"done implies {conclusion.name}",
        ),
        Property(
            "rank-is-natural",
            lambda s: Implies(_is_pending(terms, premise, s), And(*(part >= 0 for part in _evaluate_rank(terms, s)))),
            "no part of the rank is negative",
        ),
        Property(
            "something-helps",
            lambda s: Implies(
                _is_pending(terms, premise, s), Or(*(helps for _, helps in _evaluate_helpful(terms, s).values()))
            ),
            "until done, some fairness condition helps",
        ),
    )


def _build_round_premises(terms: Terms, premise: Property, lasting: bool) -> tuple[Premise, ...]:
    def goes_on(before: State, after: State) -> Truth:
        return And(_is_pending(terms, premise, before), _is_pending(terms, premise, after))

    def never_grows(before: State, c: Choices, after: State) -> Truth:
        earlier, later = _evaluate_rank(terms, before), _evaluate_rank(terms, after)
        if len(earlier) != len(later):
            raise UsageError(f"{RANK} has a different length each time it is evaluated", place=terms.place)
        return Implies(goes_on(before, after), Or(_is_same_rank(later, earlier), _is_lower_rank(later, earlier)))

    def lowers_rank(before: State, c: Choices, after: State) -> Truth:
        stays = And(goes_on(before, after), _is_same_rank(_evaluate_rank(terms, after), _evaluate_rank(terms, before)))
        earlier, later = _evaluate_helpful(terms, before), _evaluate_helpful(terms, after)
        if set(earlier) != set(later):
            message = f"{HELPFUL} names different fairness conditions each time it is evaluated"
            raise UsageError(message, place=terms.place)
        still = (
            Implies(helped, And(later[name][1], Not(fair.holds(after)))) for name, (fair, helped) in earlier.items()
        )
        return Implies(stays, And(*still))

    final = (
        StepProperty(
            "done-for-good",
            lambda before, c, after: Implies(
                And(premise.holds(before), _is_done(terms, before)), _is_done(terms, after)
            ),
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
        StepProperty(
            "fairness-lowers-rank", lowers_rank, "what helps stays helpful until the rank falls, and makes it fall"
        ),
        *(final if lasting else ()),
    )


def _is_same_rank(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    return And(*(a == b for a, b in zip(left, right, strict=True)))


def _is_lower_rank(left: Sequence[Number], right: Sequence[Number]) -> Truth:
    """Tell whether the first rank is lower in lexicographic order."""
    return Or(*(And(_is_same_rank(left[:k], right[:k]), left[k] < right[k]) for k in range(len(left))))


def _add_fairness_count(system: System) -> System:
    """Add a count of fairness conditions that have held: a run is fair if and only if this count grows for ever."""
    conditions = system.fairness
    if not conditions:
        raise UsageError(f"{FAIR_RANKING.name} needs fairness conditions, and {system.name} declares none")

    def count_fair_states(s: State, c: Choices) -> Update:
        held = Or(*(And(s[DUE] == index, condition.holds(s)) for index, condition in enumerate(conditions)))
        following = If(s[DUE] == len(conditions) - 1, 0, s[DUE] + 1)
        return update(**{FAIR: If(held, s[FAIR] + 1, s[FAIR]), DUE: If(held, following, s[DUE])})

    ghosts = (
        Variable(FAIR, Integers(), initial=lambda s: 0, range=lambda s: s[FAIR] >= 0, ghost=True),
        Variable(DUE, Integers(), initial=lambda s: 0, range=lambda s: s[DUE] >= 0, ghost=True),
    )
    return replace(
        system, variables=(*system.variables, *ghosts), phases=(*system.phases, Phase(_COUNT, count_fair_states))
    )


def _remove_fairness_count(system: System) -> System:
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
        DONE: Term(TermSort.TRUTH, "the state of affairs that is reached; it implies the conclusion"),
        RANK: Term(TermSort.RANK, "what is left to do, as numbers in lexicographic order"),
        HELPFUL: Term(TermSort.CASES, "for each fairness condition, when it lowers the rank"),
    },
    argue=_build_argument,
    prepare=_add_fairness_count,
)
