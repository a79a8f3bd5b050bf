"""The Chandra-Toueg failure detector as a template: every process repeats send, receive, compute."""

from __future__ import annotations

from typing import Any, NamedTuple

from fdverify.cutoff.rounds import Kind
from fdverify.cutoff.template import Claim, Location, Template
from fdverify.detectors.chandra_toueg.round_phases import VARIANTS, Variant
from fdverify.logic import And, If, Min, Not, Number, Or, Truth

SEND, RECEIVE, COMPUTE = "send", "receive", "compute"
LOCATIONS = {SEND: Kind.SEND, RECEIVE: Kind.RECEIVE, COMPUTE: Kind.COMPUTE}
ALIVE = "alive"


class PeerWatch(NamedTuple):
    """A process's local state about one peer."""

    timeout: Number
    suspected: Truth
    waiting_time: Number


CLAIMS = (
    Claim(
        "strong-accuracy",
        "G (correct(p) & correct(q) -> !suspected(p, q))",
        "no correct process is suspected by a correct one",
    ),
    Claim(
        "eventually-strong-accuracy",
        "F G (correct(p) & correct(q) -> !suspected(p, q))",
        "from some time on, no correct process is suspected by a correct one",
    ),
    Claim(
        "strong-completeness",
        "F G (correct(p) & !correct(q) -> suspected(p, q))",
        "from some time on, every crashed process is suspected by every correct one",
    ),
)


def next_location(location: Location) -> Location:
    return {SEND: RECEIVE, RECEIVE: COMPUTE, COMPUTE: SEND}[location]


def generate_message(location: Location) -> str | None:
    return ALIVE if location == SEND else None


def update_watch(variant: Variant, location: Location, heard: Truth, watch: PeerWatch) -> PeerWatch:
    """Compute the watch on a peer after a step in which a message from the peer was delivered (``heard``) or not."""
    increments = Or(not variant.waiting_time_saturates, watch.waiting_time < watch.timeout)
    waited = If(increments, watch.waiting_time + 1, watch.waiting_time)
    if location == SEND:
        return watch._replace(waiting_time=waited)
    if location == RECEIVE:
        return PeerWatch(
            timeout=If(And(heard, watch.suspected), watch.timeout + 1, watch.timeout),
            suspected=And(watch.suspected, Not(heard)),
            waiting_time=If(heard, 0, waited),
        )
    reached = (waited if variant.suspects_after_increment else watch.waiting_time) >= watch.timeout
    return watch._replace(suspected=Or(watch.suspected, reached), waiting_time=waited)


def cap_waiting_time(watch: PeerWatch) -> PeerWatch:
    """Cap the waiting time at the timeout.

    The cap loses nothing: the waiting time is only ever compared with the timeout.
    """
    return watch._replace(waiting_time=Min(watch.waiting_time, watch.timeout))


def chandra_toueg(variant: str = "tla", timeout: int = 1, start: Location = SEND) -> Template:
    """Build the detector's template for a published variant, an initial timeout and a first location."""
    rules = VARIANTS[variant]

    def next_value(location: Location, messages: frozenset[str], watch: PeerWatch) -> PeerWatch:
        return cap_waiting_time(update_watch(rules, location, bool(messages), watch))

    return Template(
        name="chandra-toueg",
        summary="the Chandra-Toueg failure detector with N processes",
        locations=LOCATIONS,
        start=start,
        start_value=PeerWatch(timeout, False, 0),
        next_location=next_location,
        generate_message=generate_message,
        next_value=next_value,
        predicates={"suspected": _is_suspected},
        claims=CLAIMS,
    )


def _is_suspected(watch: Any) -> Truth:
    return watch.suspected
