"""Premises shared by arguments about detectors: the timeout is bounded, and the bounds of synchrony begin to hold."""

from __future__ import annotations

from fdverify.errors import UsageError
from fdverify.liveness.argument import Premise, Term, Terms, TermSort
from fdverify.logic import And, If, Implies, Max, Not, Number, Truth
from fdverify.models.detector import ONE_MORE, add_quiet_clock
from fdverify.models.system import Choices, Property, State, StepProperty, System

GUARD = "safe_timeout"
SAFE_TIMEOUT = Term(TermSort.NUMBER, "the timeout at or above which a correct process is not suspected")


def prepare_detector_system(system: System) -> System:
    """Add the quiet clock, which the arguments read; refuse a system that is not a detector."""
    if system.detector is None:
        raise UsageError(
            f"this reduction is about detectors, and {system.name} declares none", "give it a detector=Detector(...)"
        )
    return add_quiet_clock(system, system.detector)


def raise_longest_unsafe_timeout(terms: Terms, s: State) -> Number:
    """Return what the longest unsafe timeout is raised to."""
    return terms.detector.learns.apply(terms.evaluate_bound(GUARD, s) - 1)


def build_timeout_premise(terms: Terms) -> Property:
    longest = (
        "the safe timeout" if terms.detector.learns == ONE_MORE else "what the longest unsafe timeout is raised to"
    )
    return Property(
        "timeout-bounded",
        lambda s: terms.timeout(s) <= Max(terms.first_timeout(s), raise_longest_unsafe_timeout(terms, s)),
        f"the timeout never exceeds the larger of the first timeout and {longest}",
    )


def build_stabilisation_premises(terms: Terms) -> tuple[Premise, ...]:
    """Build the premises that the bounds begin to hold, and that the next delivery settles which timeout counts."""
    detector = terms.detector
    if detector.stabilisation is None:
        return ()
    since = detector.stabilisation.since

    def approaches_stabilisation(before: State, c: Choices, after: State) -> Truth:
        earlier, later = before[since], after[since]
        return If(earlier < 0, later == earlier + 1, later >= 0)

    def settles_on_delivery(before: State, c: Choices, after: State) -> Truth:
        return Implies(And(detector.is_stable(after), detector.hears(c)), detector.is_settled(after))

    def stays_settled(before: State, c: Choices, after: State) -> Truth:
        same = terms.first_timeout(after) == terms.first_timeout(before)
        return And(
            Implies(detector.is_settled(before), And(detector.is_settled(after), same)),
            Implies(And(detector.is_stable(before), Not(same)), detector.is_settled(after)),
        )

    return (
        StepProperty(
            "bounds-come", approaches_stabilisation, "the bounds begin to hold at some time, and then hold for good"
        ),
        StepProperty(
            "settled-by-delivery", settles_on_delivery, "the first delivery from then on settles which timeout counts"
        ),
        StepProperty(
            "stays-settled",
            stays_settled,
            "once this is settled, it stays settled, and the first timeout does not change",
        ),
    )


def build_crash_witnesses(terms: Terms) -> tuple[Property, ...]:
    """Build the witness that a process crashes, if it may crash in this system."""
    if not has_crash_clock(terms.system):
        return ()
    return (Property("crash", lambda s: Not(terms.detector.correct(s)), f"the {terms.detector.watched} crashes"),)


def has_crash_clock(system: System) -> bool:
    return system.detector is not None and any(v.name == system.detector.crash_clock for v in system.variables)
