"""Strong Completeness: when the clock that starts at the crash reaches a bound, the sender is suspected for good.

Why the premises imply the goal.  The clock grows by one each round, and every state has a next round.  The bound
depends on the timeout, which is bounded itself, so the clock reaches it.  Then the sender is suspected and no message
is in transit.  This stays true, since nothing is sent after a crash.
"""

from __future__ import annotations

from fdverify.errors import UsageError
from fdverify.liveness.argument import Argument, Bound, Premise, Reduction, Term, Terms, TermSort
from fdverify.liveness.detector_premises import (
    GUARD,
    SAFE_TIMEOUT,
    build_crash_witnesses,
    build_stabilisation_premises,
    build_timeout_premise,
    has_crash_clock,
    prepare_detector_system,
    raise_longest_unsafe_timeout,
)
from fdverify.liveness.goals import LeadsTo, describe_goal, format_goal_name, require_property
from fdverify.logic import And, Implies, Not, Number, Truth
from fdverify.models.system import Choices, Property, State, StepProperty, System
from fdverify.symbolic.readable_formula import build_maximum, build_readable_state, format_number

DETECTION = "detection"


def _build_argument(terms: Terms, goal: LeadsTo) -> Argument:
    premise, conclusion = require_property(goal.premise), require_property(goal.reached)
    watched = terms.detector.watched
    return Argument(
        name=format_goal_name(goal),
        meaning=describe_goal(goal),
        claims=(premise, conclusion),
        reduction=CRASH_CLOCK.name,
        premises=(
            *_build_clock_premises(terms, premise, conclusion),
            *(_build_lasting_premises(terms, premise, conclusion) if goal.lasting else ()),
            *build_stabilisation_premises(terms),
        ),
        witnesses=(
            *build_crash_witnesses(terms),
            Property(
                "detection", lambda s: And(premise.holds(s), _is_due(terms, s)), f"the {watched} was detected in time"
            ),
        ),
        bounds=_build_bounds(terms),
    )


def _evaluate_detection_bound(terms: Terms, s: State) -> Number:
    return terms.evaluate_bound(DETECTION, s, terms.detector.timeout)


def _is_due(terms: Terms, s: State) -> Truth:
    return terms.crash_clock(s) >= _evaluate_detection_bound(terms, s)


def _evaluate_detection_bound_at(terms: Terms, s: State, timeout: Number) -> Number:
    return _evaluate_detection_bound(terms, s.changed({terms.detector.timeout: timeout}))


def _build_clock_premises(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
    clock, watched = terms.crash_clock, terms.detector.watched

    def is_bounded(s: State) -> Truth:
        first, raised = terms.first_timeout(s), raise_longest_unsafe_timeout(terms, s)
        return And(
            Implies(
                first >= raised, _evaluate_detection_bound(terms, s) <= _evaluate_detection_bound_at(terms, s, first)
            ),
            Implies(
                first < raised, _evaluate_detection_bound(terms, s) <= _evaluate_detection_bound_at(terms, s, raised)
            ),
        )

    def advances_clock(before: State, c: Choices, after: State) -> Truth:
        return And(
            Implies(And(premise.holds(before), clock(before) >= 0), clock(after) == clock(before) + 1),
            Implies(And(clock(before) < 0, clock(after) >= 0), clock(after) == 0),
        )

    return (
        Property(
            "crash-starts-clock",
            lambda s: Implies(And(premise.holds(s), terms.detector.is_stable(s)), clock(s) >= 0),
            f"the clock runs once the {watched} has crashed",
        ),
        StepProperty(
            "crash-is-final",
            lambda before, c, after: Implies(premise.holds(before), premise.holds(after)),
            f"a crashed {watched} stays crashed",
        ),
        StepProperty("crash-clock-runs", advances_clock, "the clock starts at 0 and grows by one each round"),
        Property(
            "suspects-in-time",
            lambda s: Implies(And(premise.holds(s), _is_due(terms, s)), conclusion.holds(s)),
            f"when the clock reaches the bound, the {watched} is suspected",
        ),
        build_timeout_premise(terms),
        Property("detection-bounded", is_bounded, "the bound on detection is largest for the largest timeout"),
    )


def _build_lasting_premises(terms: Terms, premise: Property, conclusion: Property) -> tuple[Premise, ...]:
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


def _build_bounds(terms: Terms) -> tuple[Bound, ...]:
    detector = terms.detector
    late = {} if detector.stabilisation is None else {detector.first_timeout: detector.first_timeout}
    state = build_readable_state(terms.system, **late)
    longest = build_maximum(terms.first_timeout(state), raise_longest_unsafe_timeout(terms, state))
    worst = state.changed({detector.timeout: longest})
    since = "" if detector.stabilisation is None else ", or after the bounds begin to hold if that is later"
    return (
        Bound(
            "detection",
            f"at most {format_number(_evaluate_detection_bound(terms, worst))} rounds after the crash{since}",
        ),
        Bound("the timeout", f"at most {format_number(longest)}"),
    )


def _prepare_system(system: System) -> System:
    clocked = prepare_detector_system(system)
    if not has_crash_clock(clocked):
        raise UsageError(f"{CRASH_CLOCK.name} needs a crash clock, and {system.name} has none", "write crash=True")
    return clocked


CRASH_CLOCK = Reduction(
    name="crash-clock",
    goal=LeadsTo,
    terms={
        GUARD: SAFE_TIMEOUT,
        DETECTION: Term(
            TermSort.NUMBER,
            "within how many rounds after the crash a process is suspected, as a function of the timeout",
        ),
    },
    argue=_build_argument,
    prepare=_prepare_system,
)
