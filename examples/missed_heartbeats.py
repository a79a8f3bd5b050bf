"""A user-defined detector with N processes: it suspects a peer after several missing heartbeats in a row.

fdverify cutoff examples/missed_heartbeats.py
fdverify cutoff examples/missed_heartbeats.py --processes 2 --delta 1 --phi 2
"""

from typing import NamedTuple

from fdverify.cutoff import Claim, Kind, Location, Template

MISSING = 3
"""The number of receptions in a row without a heartbeat after which a peer is suspected."""


class Peer(NamedTuple):
    """What a process knows about a peer."""

    missed: int
    suspected: bool


def next_location(location: Location) -> Location:
    return {"beat": "listen", "listen": "judge", "judge": "beat"}[location]


def generate_message(location: Location) -> str | None:
    return "beat" if location == "beat" else None


def next_value(location: Location, messages: frozenset[str], peer: Peer) -> Peer:
    if location == "listen":
        return Peer(0, False) if messages else peer._replace(missed=min(peer.missed + 1, MISSING))
    if location == "judge":
        return peer._replace(suspected=peer.missed >= MISSING)
    return peer


MISSED_HEARTBEATS = Template(
    name="missed-heartbeats",
    summary="suspects a peer of which three heartbeats in a row are missing",
    locations={"beat": Kind.SEND, "listen": Kind.RECEIVE, "judge": Kind.COMPUTE},
    start="beat",
    start_value=Peer(0, False),
    next_location=next_location,
    generate_message=generate_message,
    next_value=next_value,
    predicates={"suspected": lambda peer: peer.suspected},
    claims=(
        Claim(
            "accuracy",
            "G (correct(p) & correct(q) -> !suspected(p, q))",
            "no correct process is suspected by a correct one",
        ),
        Claim(
            "completeness",
            "F G (correct(p) & !correct(q) -> suspected(p, q))",
            "from some time on, every crashed process is suspected by every correct one",
        ),
    ),
)
