"""How a correct target comes to be suspected: it receives a ping, answers, and is heard as late as possible.

The monitor is active in every round, so its waiting time grows by one in each.  The target is active in every round up
to its Receive one round before the ping is old enough; then it idles for as long as it may.  The ping is delivered at
its next Receive, 2Φ later, and answered Φ later.  A Receive comes in that round only if Δ is odd.  Otherwise the run
begins with a quick exchange, in which messages are delivered at once, to swap the target's Receive and Answer rounds.
"""

from typing import Any

from _processes import MonitorPc, TargetPc, correct

from fdverify import And, If, Implies, Min, Not, Number, Or, State, Truth, WorstRun


def _at(s: State, monitor: MonitorPc, target: TargetPc) -> Truth:
    return And(s.monitor_pc == monitor, s.target_pc == target)


def _quick(s: State) -> Truth:
    """The run is to begin with a quick exchange, which swaps the rounds of Receive and Answer."""
    return s.delta % 2 == 0


def _begins(s: State) -> Truth:
    return And(Not(s.waiting), _at(s, MonitorPc.Compute, TargetPc.Answer))


def _quick_answer(s: State) -> Truth:
    return And(s.asked, s.waiting_time == 0)


def _asks_slowly(s: State) -> Truth:
    """The quick exchange is over, and the next round is the Ask of the slow one, right after the target's Receive."""
    return And(Not(s.waiting), _at(s, MonitorPc.Compute, TargetPc.Receive))


def _since_receive(s: State) -> Number:
    """The rounds since the Receive that comes one round before the ping is old enough; negative before it."""
    return s.waiting_time - (s.delta - 1)


def _target_waits(s: State) -> Truth:
    since_then = If(s.waiting, _since_receive(s) >= 0, And(s.delta == 0, _asks_slowly(s)))
    return And(since_then, Not(_quick_answer(s)))


def _plan(s: State) -> dict[str, Any]:
    return {
        "crash": False,
        "monitor_active": True,
        "target_active": Or(Not(_target_waits(s)), s.target_timer + 1 >= s.phi),
        "delivered_pings": (Or(And(_quick(s), _begins(s)), Not(s.pings.empty())), [0, s.delta]),
        "delivered_pongs": (_quick_answer(s), [0]),
    }


def _before(s: State) -> Truth:
    """The slow exchange is to come: the run is at the start or in the quick one, with nothing in transit."""
    quick = And(
        _quick(s),
        Or(
            And(s.waiting, s.asked, _at(s, MonitorPc.Ask, TargetPc.Receive)),
            And(Not(s.waiting), Not(s.asked), _at(s, MonitorPc.Receive, TargetPc.Answer)),
            And(Not(s.asked), _asks_slowly(s)),
        ),
    )
    silent = And(s.pings.empty(), s.pongs.empty(), s.waiting_time == 0, s.target_timer == 0)
    return And(silent, Or(quick, And(_begins(s), Not(s.asked))))


def _slow(s: State) -> Truth:
    """The slow exchange is under way; the waiting time determines the state of ping, target and pong."""
    since, waited, phi = _since_receive(s), s.waiting_time, s.phi
    age = Min(waited, s.delta)
    pinged = And(
        Not(s.pings.empty()),
        Not(s.pings.any(0, age - 1)),
        Not(s.pings.any(age + 1, s.delta)),
        Not(s.asked),
        s.pongs.empty(),
    )
    asked = And(s.asked, s.pings.empty(), s.pongs.empty())
    answered = And(Not(s.asked), s.pings.empty(), Not(s.pongs.any(since - 3 * phi + 1, s.delta)))
    receives = s.target_pc == TargetPc.Receive
    return And(
        s.waiting,
        waited < s.initial_timeout,
        waited % 3 == If(s.monitor_pc == MonitorPc.Ask, 0, If(s.monitor_pc == MonitorPc.Receive, 1, 2)),
        If(since < 2 * phi, pinged, If(since < 3 * phi, asked, answered)),
        Implies(since < 0, And(s.target_timer == 0, receives == (since % 2 == 0))),
        Implies(And(since >= 0, since < phi), And(receives, s.target_timer == since)),
        Implies(And(since >= phi, since < 2 * phi), And(Not(receives), s.target_timer == since - phi)),
        Implies(And(since >= 2 * phi, since < 3 * phi), And(receives, s.target_timer == since - 2 * phi)),
    )


def _within(s: State) -> Truth:
    return And(
        correct(s),
        Not(s.suspected),
        s.timeout == s.initial_timeout,
        s.monitor_timer == 0,
        s.target_timer >= 0,
        s.target_timer < s.phi,
        s.waiting_time >= 0,
        Or(_before(s), _slow(s)),
    )


def _left(s: State) -> Number:
    until_ask = If(_begins(s), 4, If(s.waiting, 3, If(s.monitor_pc == MonitorPc.Receive, 2, 1)))
    return s.initial_timeout + If(_before(s), until_ask, -s.waiting_time)


SLOW_EXCHANGE = WorstRun("strong-accuracy", _within, _left, _plan)
