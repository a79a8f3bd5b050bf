"""The Chandra-Toueg failure detector as a template: every process sends, receives and computes, in this order."""

from __future__ import annotations

from typing import Any, NamedTuple

from fdverify.cutoff.rounds import Kind
from fdverify.cutoff.template import Claim, Location, Template
from fdverify.logic import And, If, Min, Not, Number, Or, Truth
from fdverify.models.chandra_toueg.phases import VARIANTS, Variant

SEND, RECEIVE, COMPUTE = "send", "receive", "compute"
LOCATIONS = {SEND: Kind.SEND, RECEIVE: Kind.RECEIVE, COMPUTE: Kind.COMPUTE}
ALIVE = "alive"


class Watch(NamedTuple):
    """What a process knows of a peer."""

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


def next_watch(variant: Variant, location: Location, heard: Truth, watch: Watch) -> Watch:
    """What a process knows of a peer after a step; ``heard`` says whether something came from the peer in it."""
    goes_on = Or(not variant.waiting_time_saturates, watch.waiting_time < watch.timeout)
    waited = If(goes_on, watch.waiting_time + 1, watch.waiting_time)
    if location == SEND:
        return watch._replace(waiting_time=waited)
    if location == RECEIVE:
        return Watch(
            timeout=If(And(heard, watch.suspected), watch.timeout + 1, watch.timeout),
            suspected=And(watch.suspected, Not(heard)),
            waiting_time=If(heard, 0, waited),
        )
    reached = (waited if variant.suspects_after_increment else watch.waiting_time) >= watch.timeout
    return watch._replace(suspected=Or(watch.suspected, reached), waiting_time=waited)


def capped(watch: Watch) -> Watch:
    """Without how far an unbounded waiting time is past the timeout: it is only ever compared with it."""
    return watch._replace(waiting_time=Min(watch.waiting_time, watch.timeout))


def chandra_toueg(variant: str = "tla", timeout: int = 1, start: Location = SEND) -> Template:
    """The detector with the waiting time of a published variant, this initial timeout, and this first step."""
    rules = VARIANTS[variant]

    def next_value(location: Location, messages: frozenset[str], watch: Watch) -> Watch:
        return capped(next_watch(rules, location, bool(messages), watch))

    return Template(
        name="chandra-toueg",
        summary="the Chandra-Toueg failure detector with N processes",
        locations=LOCATIONS,
        start=start,
        start_value=Watch(timeout, False, 0),
        next_location=next_location,
        generate_message=generate_message,
        next_value=next_value,
        predicates={"suspected": _suspected},
        claims=CLAIMS,
    )


def _suspected(watch: Any) -> Truth:
    return watch.suspected
