"""Strong Completeness: when the clock that starts at the crash reaches a bound, the sender is suspected for good.

Why the premises imply the goal.  The clock grows by one each round, and every state has a next round.  The bound
depends on the timeout, which is bounded itself, so the clock reaches it.  Then the sender is suspected and no message
is in transit.  This stays true, since nothing is sent after a crash.
"""

from __future__ import annotations

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument, Bound, Premise, Reduction, Sort, Term, Terms
from fdverify.liveness.detector_premises import (
    GUARD,
    SAFE_TIMEOUT,
    crashes,
    has_crash_clock,
    longest_raised,
    stabilising,
    timeout_bounded,
    with_clock,
)
from fdverify.liveness.goals import LeadsTo, claimed, meant, named
from fdverify.logic import And, Implies, Not, Number, Truth
from fdverify.models.system import Choices, Property, State, StepProperty, System
from fdverify.symbolic.formula import maximum, readable_state, written

DETECTION = "detection"


def _argue(terms: Terms, goal: LeadsTo) -> Argument:
    premise, conclusion = claimed(goal.premise), claimed(goal.reached)
    watched = terms.detector.watched
    return Argument(
        name=named(goal),
        meaning=meant(goal),
        claims=(premise, conclusion),
        reduction=CRASH_CLOCK.name,
        premises=(
            *_about_clock(terms, premise, conclusion),
            *(_about_the_end(terms, premise, conclusion) if goal.lasting else ()),
            *stabilising(terms),
        ),
        witnesses=(
            *crashes(terms),
            Property(
                "detection", lambda s: And(premise.holds(s), _is_due(terms, s)), f"the {watched} was detected in time"
            ),
        ),
        bounds=_bounds(terms),
    )


def _due(terms: Terms, s: State) -> Number:
    return terms.bound(DETECTION, s, terms.detector.timeout)


def _is_due(terms: Terms, s: State) -> Truth:
    return terms.crash_clock(s) >= _due(terms, s)


def _due_at(terms: Terms, s: State, timeout: Number) -> Number:
    return _due(terms, s.changed({terms.detector.timeout: timeout}))


def _about_clock(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    clock, watched = terms.crash_clock, terms.detector.watched

    def bounded(s: State) -> Truth:
        first, raised = terms.first_timeout(s), longest_raised(terms, s)
        return And(
            Implies(first >= raised, _due(terms, s) <= _due_at(terms, s, first)),
            Implies(first < raised, _due(terms, s) <= _due_at(terms, s, raised)),
        )

    def runs(before: State, c: Choices, after: State) -> Truth:
        return And(
            Implies(And(premise.holds(before), clock(before) >= 0), clock(after) == clock(before) + 1),
            Implies(And(clock(before) < 0, clock(after) >= 0), clock(after) == 0),
        )

    return (
        Property(
            "crash-starts-clock",
            lambda s: Implies(And(premise.holds(s), terms.detector.stable(s)), clock(s) >= 0),
            f"the clock runs once the {watched} has crashed",
        ),
        StepProperty(
            "crash-is-final",
            lambda before, c, after: Implies(premise.holds(before), premise.holds(after)),
            f"a crashed {watched} stays crashed",
        ),
        StepProperty("crash-clock-runs", runs, "the clock starts at 0 and grows by one each round"),
        Property(
            "suspects-in-time",
            lambda s: Implies(And(premise.holds(s), _is_due(terms, s)), conclusion.holds(s)),
            f"when the clock reaches the bound, the {watched} is suspected",
        ),
        timeout_bounded(terms),
        Property("detection-bounded", bounded, "the bound on detection is largest for the largest timeout"),
    )


def _about_the_end(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    in_transit, watched = terms.detector.in_transit, terms.detector.watched

    def never_retracts(before: State, c: Choices, after: State) -> Truth:
        ended = And(premise.holds(before), conclusion.holds(before), Not(in_transit(before)))
        return Implies(ended, And(conclusion.holds(after), Not(in_transit(after))))

    return (
        Property(
            "nothing-in-transit",
            lambda s: Implies(And(premise.holds(s), _is_due(terms, s)), Not(in_transit(s))),
            "when the clock reaches the bound, no message is in transit",
        ),
        StepProperty(
            "never-retracts",
            never_retracts,
            f"with nothing in transit, the suspicion of a crashed {watched} stays",
        ),
    )


def _bounds(terms: Terms) -> tuple[Bound, ...]:
    detector = terms.detector
    late = {} if detector.stabilisation is None else {detector.first_timeout: detector.first_timeout}
    state = readable_state(terms.system, **late)
    longest = maximum(terms.first_timeout(state), longest_raised(terms, state))
    worst = state.changed({detector.timeout: longest})
    since = "" if detector.stabilisation is None else ", or after the bounds begin to hold if that is later"
    return (
        Bound("detection", f"at most {written(_due(terms, worst))} rounds after the crash{since}"),
        Bound("the timeout", f"at most {written(longest)}"),
    )


def _with_crash_clock(system: System) -> System:
    clocked = with_clock(system)
    if not has_crash_clock(clocked):
        raise UsageError(f"{CRASH_CLOCK.name} needs a crash clock, and {system.name} has none", "write crash=True")
    return clocked


CRASH_CLOCK = Reduction(
    name="crash-clock",
    goal=LeadsTo,
    terms={
        GUARD: SAFE_TIMEOUT,
        DETECTION: Term(
            Sort.NUMBER, "within how many rounds after the crash a process is suspected, as a function of the timeout"
        ),
    },
    argue=_argue,
    prepare=_with_crash_clock,
)
