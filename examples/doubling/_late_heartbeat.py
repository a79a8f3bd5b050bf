"""How a correct sender comes to be suspected: it sends as late as it may, and its heartbeat takes as long as it may.

The monitor takes a step in every round.  It suspects at a Judge.  With an even timeout it does so if it hears nothing
from the start; with an odd one, if it hears a heartbeat in the first round and nothing after that.
"""

from typing import Any

from _heartbeats import Step, correct

from fdverify import And, If, Iff, Not, Number, Or, State, Truth, WorstRun


def waited(s: State) -> Number:
    """The number of steps that the monitor has taken since it heard something."""
    return s.timeout - s.left


def to_be_heard(s: State) -> Truth:
    """The run is about to start, and the heartbeat of its first round is to be heard."""
    starts = And(s.step == Step.Judge, waited(s) == 0, s.transit.empty(), s.sender_idle == 0)
    return And(s.timeout % 2 == 1, starts)


def within(s: State) -> Truth:
    beyond = waited(s) - s.phi
    silent = And(s.sender_idle == waited(s), beyond < 0)
    on_its_way = And(beyond >= 0, Not(s.transit.any(beyond + 1, s.delta)))
    return And(
        correct(s),
        Not(s.suspected),
        s.timeout == s.initial_timeout,
        s.monitor_idle == 0,
        s.left > 0,
        waited(s) >= 0,
        s.sender_idle >= 0,
        s.sender_idle < s.phi,
        Or(Iff(s.step == Step.Judge, s.left % 2 == 0), to_be_heard(s)),
        If(s.transit.empty(), silent, on_its_way),
    )


def plan(s: State) -> dict[str, Any]:
    return {
        "crash": False,
        "sender_active": Or(to_be_heard(s), s.sender_idle + 1 >= s.phi),
        "monitor_active": True,
        "heard": (to_be_heard(s), frozenset({0})),
    }


def left(s: State) -> Number:
    return s.left + If(to_be_heard(s), 1, 0)


LATE_HEARTBEAT = WorstRun("strong-accuracy", within, left, plan)
