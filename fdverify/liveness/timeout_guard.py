"""Eventually Strong Accuracy: at a safe timeout, a correct sender is trusted; each wrong suspicion raises the timeout.

Why the premises imply the goal.  Once the bounds hold, a wrong suspicion lasts while no message is delivered, so the
quiet clock runs.  The clock is bounded and every state has a next round, so the suspicion ends: by a delivery or by a
crash, which is final.  A delivery makes the timeout longer, as the detector declares, and nothing lowers it.  At or
above the guard (the safe timeout) there are no wrong suspicions.  So there are at most as many wrong suspicions as it
takes raises of the first timeout to reach the guard.  There is no bound on when the last one happens.
"""

from __future__ import annotations

from fdverify.liveness.argument import Argument, Bound, Premise, Reduction, Sort, Term, Terms
from fdverify.liveness.detector_premises import (
    GUARD,
    SAFE_TIMEOUT,
    crashes,
    longest_raised,
    stabilising,
    timeout_bounded,
    with_clock,
)
from fdverify.liveness.goals import EventuallyAlways, claimed, meant, named
from fdverify.logic import And, Iff, Implies, Not, Number, Truth
from fdverify.models.detector import ONE_MORE, QUIET, Raise
from fdverify.models.system import Choices, Property, State, StepProperty
from fdverify.symbolic.formula import maximum, readable_state, written

QUIET_AT_MOST = "longest_quiet"


def _argue(terms: Terms, goal: EventuallyAlways) -> Argument:
    claim = claimed(goal.claim)
    return Argument(
        name=named(goal),
        meaning=meant(goal),
        claims=(claim,),
        reduction=TIMEOUT_GUARD.name,
        premises=(*_about_states(terms, claim), *_about_rounds(terms), *stabilising(terms)),
        witnesses=_witnesses(terms, claim),
        sightings=(_guard_reached(terms),),
        bounds=_bounds(terms),
    )


def _about_states(terms: Terms, claim: Property) -> tuple[Premise, ...]:
    detector = terms.detector

    def guarded(s: State) -> Truth:
        return Implies(And(detector.settled(s), terms.timeout(s) >= terms.bound(GUARD, s)), claim.holds(s))

    def delivered(s: State) -> Truth:
        waits = And(Not(claim.holds(s)), detector.stable(s))
        return Implies(waits, s[QUIET] <= terms.bound(QUIET_AT_MOST, s))

    return (
        Property(
            "wrong-suspicion",
            lambda s: Iff(Not(claim.holds(s)), And(detector.suspects(s), detector.correct(s))),
            f"{claim.name} is false exactly while a correct {detector.watched} is suspected",
        ),
        Property("guard-trusts", guarded, f"from the safe timeout on, a correct {detector.watched} is not suspected"),
        timeout_bounded(terms),
        *_raise_is_more(terms),
        Property(
            "timeout-from-the-first",
            lambda s: Implies(detector.settled(s), terms.timeout(s) >= terms.first_timeout(s)),
            "the timeout is never below the first one",
        ),
        Property(
            "suspects-after-timeout",
            lambda s: Implies(And(detector.settled(s), detector.suspects(s)), s[QUIET] >= terms.timeout(s)),
            "during a suspicion, the quiet clock is at least the timeout",
        ),
        Property(
            "delivered-in-time",
            delivered,
            f"while a correct {detector.watched} is suspected, the quiet clock is at most {QUIET_AT_MOST}",
        ),
    )


def _raise_is_more(terms: Terms) -> tuple[Premise, ...]:
    """Build the premise that a raise increases the first timeout, and so every longer one; needed if it multiplies."""
    learns = terms.detector.learns
    if learns.times == 1:
        return ()
    return (
        Property(
            "raise-is-more",
            lambda s: learns.of(terms.first_timeout(s)) > terms.first_timeout(s),
            "a timeout that is raised becomes longer",
        ),
    )


def _about_rounds(terms: Terms) -> tuple[Premise, ...]:
    detector = terms.detector

    def ends(before: State, after: State) -> Truth:
        return And(detector.suspects(before), Not(detector.suspects(after)))

    def ends_by_delivery(before: State, c: Choices, after: State) -> Truth:
        raised = terms.timeout(after) == detector.learns.of(terms.timeout(before))
        return Implies(ends(before, after), And(detector.hears(c), raised))

    def changes_only_so(before: State, c: Choices, after: State) -> Truth:
        return Implies(terms.timeout(after) != terms.timeout(before), ends(before, after))

    def clock_runs(before: State, c: Choices, after: State) -> Truth:
        waits = And(detector.stable(before), Not(detector.hears(c)))
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
            f"a suspicion ends by a delivery, which {detector.learns.in_words()}",
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


def _witnesses(terms: Terms, claim: Property) -> tuple[Property, ...]:
    detector = terms.detector

    def wrong(s: State) -> Truth:
        return Not(claim.holds(s))

    suspicions: tuple[Property, ...] = (
        Property("wrong suspicion", wrong, f"a correct {detector.watched} is suspected"),
    )
    if detector.stabilisation is not None:
        suspicions = (
            Property(
                "wrong suspicion before",
                lambda s: And(wrong(s), Not(detector.stable(s))),
                f"a correct {detector.watched} is suspected before the bounds hold",
            ),
            Property(
                "wrong suspicion after",
                lambda s: And(wrong(s), detector.settled(s)),
                f"a correct {detector.watched} is suspected after the first delivery since the bounds hold",
            ),
        )
    return (
        *suspicions,
        Property(
            "retraction",
            lambda s: And(detector.settled(s), terms.timeout(s) > terms.first_timeout(s), Not(detector.suspects(s))),
            "a wrong suspicion was taken back",
        ),
        *crashes(terms),
    )


def _guard_reached(terms: Terms) -> Property:
    """Build the sighting of a safe timeout; it is no witness, since a low timeout may stop growing before."""
    return Property(
        "guard reached",
        lambda s: And(terms.detector.settled(s), terms.timeout(s) >= terms.bound(GUARD, s)),
        "the timeout has become safe",
    )


def _bounds(terms: Terms) -> tuple[Bound, ...]:
    detector = terms.detector
    state = readable_state(terms.system, **_names(terms))
    guard, first = terms.bound(GUARD, state), terms.first_timeout(state)
    length = terms.bound(QUIET_AT_MOST, state) + 1 - terms.timeout(state)
    after = "" if detector.stabilisation is None else f", counted once {detector.stabilisation.settled}"
    return (
        Bound("wrong suspicions", f"at most {_raises(detector.learns, first, guard)}{after}"),
        Bound("each lasts", f"at most {written(length)} rounds{after}"),
        Bound("the timeout", f"at most {written(maximum(first, longest_raised(terms, state)))}"),
        Bound("the last one", "no bound", "quiet runs of any length may come before it"),
    )


def _raises(learns: Raise, first: Number, enough: Number) -> str:
    """Write how often a timeout has to be raised until it is long enough."""
    lacking = maximum(0, enough - first)
    if learns == ONE_MORE or (isinstance(lacking, int) and lacking == 0):
        return written(lacking)
    if isinstance(first, int) and isinstance(enough, int) and learns.of(first) > first:
        return str(learns.until(first, enough))
    text = written(first)
    return f"the least n with {learns.repeated(f'({text})' if ' ' in text else text)} >= {written(enough)}"


def _names(terms: Terms) -> dict[str, str]:
    detector = terms.detector
    names = [detector.timeout, *([] if detector.stabilisation is None else [detector.first_timeout])]
    return {name: name for name in names}


TIMEOUT_GUARD = Reduction(
    name="timeout-guard",
    goal=EventuallyAlways,
    terms={
        GUARD: SAFE_TIMEOUT,
        QUIET_AT_MOST: Term(
            Sort.NUMBER, "the largest number of rounds without a delivery while a correct process is suspected"
        ),
    },
    argue=_argue,
    prepare=with_clock,
)
