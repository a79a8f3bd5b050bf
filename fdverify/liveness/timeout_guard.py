"""Eventually Strong Accuracy: at a safe timeout, a correct sender is trusted; each wrong suspicion raises the timeout.

Why the premises imply the goal.  Once the bounds hold, a wrong suspicion lasts while no message is delivered, so the
quiet clock runs.  The clock is bounded and every state has a next round, so the suspicion ends: by a delivery or by a
crash, which is final.  A delivery makes the timeout longer, as the detector declares, and nothing lowers it.  At or
above the guard (the safe timeout) there are no wrong suspicions.  So there are at most as many wrong suspicions as it
takes raises of the first timeout to reach the guard.  There is no bound on when the last one happens.
"""

from __future__ import annotations

from fdverify.liveness.argument import Argument, Bound, Premise, Reduction, Term, Terms, TermSort
from fdverify.liveness.detector_premises import (
    GUARD,
    SAFE_TIMEOUT,
    build_crash_witnesses,
    build_stabilisation_premises,
    build_timeout_premise,
    prepare_detector_system,
    raise_longest_unsafe_timeout,
)
from fdverify.liveness.goals import EventuallyAlways, describe_goal, format_goal_name, require_property
from fdverify.logic import And, Iff, Implies, Not, Number, Truth
from fdverify.models.detector import ONE_MORE, QUIET, Raise
from fdverify.models.system import Choices, Property, State, StepProperty
from fdverify.symbolic.readable_formula import build_maximum, build_readable_state, format_number

QUIET_AT_MOST = "longest_quiet"


def _build_argument(terms: Terms, goal: EventuallyAlways) -> Argument:
    claim = require_property(goal.claim)
    return Argument(
        name=format_goal_name(goal),
        meaning=describe_goal(goal),
        claims=(claim,),
        reduction=TIMEOUT_GUARD.name,
        premises=(
            *_build_state_premises(terms, claim),
            *_build_round_premises(terms),
            *build_stabilisation_premises(terms),
        ),
        witnesses=_build_witnesses(terms, claim),
        sightings=(_build_guard_sighting(terms),),
        bounds=_build_bounds(terms),
    )


def _build_state_premises(terms: Terms, claim: Property) -> tuple[Premise, ...]:
    detector = terms.detector

    def is_guarded(s: State) -> Truth:
        return Implies(And(detector.is_settled(s), terms.timeout(s) >= terms.evaluate_bound(GUARD, s)), claim.holds(s))

    def is_delivered_in_time(s: State) -> Truth:
        waits = And(Not(claim.holds(s)), detector.is_stable(s))
        return Implies(waits, s[QUIET] <= terms.evaluate_bound(QUIET_AT_MOST, s))

    return (
        Property(
            "wrong-suspicion",
            lambda s: Iff(Not(claim.holds(s)), And(detector.suspects(s), detector.correct(s))),
            f"{claim.name} is false exactly while a correct {detector.watched} is suspected",
        ),
        Property(
            "guard-trusts", is_guarded, f"from the safe timeout on, a correct {detector.watched} is not suspected"
        ),
        build_timeout_premise(terms),
        *_build_raise_premise(terms),
        Property(
            "timeout-from-the-first",
            lambda s: Implies(detector.is_settled(s), terms.timeout(s) >= terms.first_timeout(s)),
            "the timeout is never below the first one",
        ),
        Property(
            "suspects-after-timeout",
            lambda s: Implies(And(detector.is_settled(s), detector.suspects(s)), s[QUIET] >= terms.timeout(s)),
            "during a suspicion, the quiet clock is at least the timeout",
        ),
        Property(
            "delivered-in-time",
            is_delivered_in_time,
            f"while a correct {detector.watched} is suspected, the quiet clock is at most {QUIET_AT_MOST}",
        ),
    )


def _build_raise_premise(terms: Terms) -> tuple[Premise, ...]:
    """Build the premise that a raise increases the first timeout, and so every longer one; needed if it multiplies."""
    learns = terms.detector.learns
    if learns.times == 1:
        return ()
    return (
        Property(
            "raise-is-more",
            lambda s: learns.apply(terms.first_timeout(s)) > terms.first_timeout(s),
            "a timeout that is raised becomes longer",
        ),
    )


def _build_round_premises(terms: Terms) -> tuple[Premise, ...]:
    detector = terms.detector

    def ends_suspicion(before: State, after: State) -> Truth:
        return And(detector.suspects(before), Not(detector.suspects(after)))

    def ends_by_delivery(before: State, c: Choices, after: State) -> Truth:
        raised = terms.timeout(after) == detector.learns.apply(terms.timeout(before))
        return Implies(ends_suspicion(before, after), And(detector.hears(c), raised))

    def changes_only_so(before: State, c: Choices, after: State) -> Truth:
        return Implies(terms.timeout(after) != terms.timeout(before), ends_suspicion(before, after))

    def clock_runs(before: State, c: Choices, after: State) -> Truth:
        waits = And(detector.is_stable(before), Not(detector.hears(c)))
        return Implies(waits, after[QUIET] == before[QUIET] + 1)

    return (
        StepProperty(
            "crash-is-final",
            lambda before, c, after: Implies(Not(detector.correct(before)), Not(detector.correct(after))),
            f"a crashed {detector.watched} stays crashed",
        ),
        StepProperty(
            "ends-by-delivery",
            ends_by_delivery,
            f"a suspicion ends by a delivery, which {detector.learns.describe()}",
        ),
        StepProperty(
            "delivery-ends-suspicion",
            lambda before, c, after: Implies(detector.hears(c), Not(detector.suspects(after))),
            f"after a delivery the {detector.watched} is not suspected",
        ),
        StepProperty("timeout-changes-only-so", changes_only_so, "the timeout changes only when a suspicion ends"),
        StepProperty(
            "timeout-never-falls",
            lambda before, c, after: terms.timeout(after) >= terms.timeout(before),
            "the timeout never decreases",
        ),
        StepProperty("quiet-clock-runs", clock_runs, "the quiet clock grows by one in each round without a delivery"),
    )


def _build_witnesses(terms: Terms, claim: Property) -> tuple[Property, ...]:
    detector = terms.detector

    def is_wrongly_suspected(s: State) -> Truth:
        return Not(claim.holds(s))

    suspicions: tuple[Property, ...] = (
        Property("wrong suspicion", is_wrongly_suspected, f"a correct {detector.watched} is suspected"),
    )
    if detector.stabilisation is not None:
        suspicions = (
            Property(
                "wrong suspicion before",
                lambda s: And(is_wrongly_suspected(s), Not(detector.is_stable(s))),
                f"a correct {detector.watched} is suspected before the bounds hold",
            ),
            Property(
                "wrong suspicion after",
                lambda s: And(is_wrongly_suspected(s), detector.is_settled(s)),
                f"a correct {detector.watched} is suspected after the first delivery since the bounds hold",
            ),
        )
    return (
        *suspicions,
        Property(
            "retraction",
            lambda s: And(detector.is_settled(s), terms.timeout(s) > terms.first_timeout(s), Not(detector.suspects(s))),
            "a wrong suspicion was taken back",
        ),
        *build_crash_witnesses(terms),
    )


def _build_guard_sighting(terms: Terms) -> Property:
    """Build the sighting of a safe timeout; it is no witness, since a low timeout may stop growing before."""
    return Property(
        "guard reached",
        lambda s: And(terms.detector.is_settled(s), terms.timeout(s) >= terms.evaluate_bound(GUARD, s)),
        "the timeout has become safe",
    )


def _build_bounds(terms: Terms) -> tuple[Bound, ...]:
    detector = terms.detector
    state = build_readable_state(terms.system, **_name_variables(terms))
    guard, first = terms.evaluate_bound(GUARD, state), terms.first_timeout(state)
    length = terms.evaluate_bound(QUIET_AT_MOST, state) + 1 - terms.timeout(state)
    after = "" if detector.stabilisation is None else f", counted once {detector.stabilisation.settled}"
    return (
        Bound("wrong suspicions", f"at most {_format_raise_count(detector.learns, first, guard)}{after}"),
        Bound("each lasts", f"at most {format_number(length)} rounds{after}"),
        Bound(
            "the timeout", f"at most {format_number(build_maximum(first, raise_longest_unsafe_timeout(terms, state)))}"
        ),
        Bound("the last one", "no bound", "quiet runs of any length may come before it"),
    )


def _format_raise_count(learns: Raise, first: Number, enough: Number) -> str:
    """Write how often a timeout has to be raised until it is long enough."""
    lacking = build_maximum(0, enough - first)
    if learns == ONE_MORE or (isinstance(lacking, int) and lacking == 0):
        return format_number(lacking)
    if isinstance(first, int) and isinstance(enough, int) and learns.apply(first) > first:
        return str(learns.count_until(first, enough))
    text = format_number(first)
    return f"the least n with {learns.format_repeated(f'({text})' if ' ' in text else text)} >= {format_number(enough)}"


def _name_variables(terms: Terms) -> dict[str, str]:
    detector = terms.detector
    names = [detector.timeout, *([] if detector.stabilisation is None else [detector.first_timeout])]
    return {name: name for name in names}


TIMEOUT_GUARD = Reduction(
    name="timeout-guard",
    goal=EventuallyAlways,
    terms={
        GUARD: SAFE_TIMEOUT,
        QUIET_AT_MOST: Term(
            TermSort.NUMBER, "the largest number of rounds without a delivery while a correct process is suspected"
        ),
    },
    argue=_build_argument,
    prepare=prepare_detector_system,
)
