"""Small detectors, each with something in it by which a tool could be led to a wrong number.

The sender beats in every round until it crashes; a beat takes at most delta rounds.  The receiver suspects the sender
when it has heard nothing for timeout rounds, unless a detector says otherwise.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify.logic import And, If, Implies, Min, Not, Or, Truth
from fdverify.models.detector import Detector
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model, Option
from fdverify.models.system import (
    Ages,
    Choices,
    Flag,
    Flags,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    Subset,
    System,
    Update,
    Variable,
    update,
)

DELTA = Parameter("delta", least=0, value=None, meaning="bound on message delay")


def crash(s: State, c: Choices) -> Update:
    crashed = Or(s.crashed, c.crash)
    return update(crashed=crashed, since_crash=If(crashed, s.since_crash + 1, -1))


def age_messages(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.age())


def beat(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.send(when=Not(s.crashed)))


def hears(c: Choices) -> Truth:
    return Not(c.delivered.empty())


def receive(s: State, c: Choices) -> Update:
    return update(
        assume=Implies(s.buffer.has(s.delta), c.delivered.has(s.delta)),
        buffer=s.buffer.deliver(c.delivered),
        waiting=If(hears(c), 0, If(s.waiting < s.timeout, s.waiting + 1, s.waiting)),
        suspected=And(s.suspected, Not(hears(c))),
        timeout=If(And(hears(c), s.suspected), s.timeout + 1, s.timeout),
    )


def suspect(s: State, c: Choices) -> Update:
    return update(suspected=Or(s.suspected, s.waiting >= s.timeout))


def build(delta: int | None, *, timeout: str) -> System:
    initial = None if timeout == "any" else parse_expression(timeout, {"delta"})
    return System(
        name="beats",
        options={"timeout": timeout},
        parameters=(replace(DELTA, value=delta), Parameter("initial_timeout", 1, initial, "the first timeout")),
        variables=(
            Variable("suspected", Flags(), initial=lambda s: False),
            Variable("waiting", Integers(), initial=lambda s: 0),
            Variable("timeout", Integers(), initial=lambda s: s.initial_timeout),
            Variable("buffer", Ages("predicate" if delta is None else "bitvector", "delta"), initial=lambda s: ()),
            Variable("crashed", Flags(), initial=lambda s: False),
            Variable("since_crash", Integers(), initial=lambda s: -1, ghost=True, clock=True),
        ),
        phases=(
            Phase("crash", crash, (Flag("crash", when=lambda s: Not(s.crashed)),)),
            Phase("age_messages", age_messages),
            Phase("beat", beat),
            Phase("receive", receive, (Subset("delivered", of="buffer"),)),
            Phase("suspect", suspect),
        ),
        properties=(Property("accuracy", lambda s: Not(And(s.suspected, Not(s.crashed))), "no wrong suspicion"),),
        detector=Detector(
            suspects=lambda s: s.suspected,
            correct=lambda s: Not(s.crashed),
            in_transit=lambda s: Not(s.buffer.empty()),
            receive="receive",
            hears=hears,
            timeout="timeout",
            first_timeout="initial_timeout",
            crash_clock="since_crash",
        ),
    )


BEATS = Model(
    name="beats",
    summary="a heartbeat in every round",
    parameters=(DELTA,),
    options=(Option("timeout", "the initial timeout, or any", "delta+1", metavar="EXPR|any"),),
    default_property="accuracy",
    build=build,
)


def twisted(change: Callable[[System], System], **parts: Any) -> Model:
    """The detector with a change to its systems."""

    def build_twisted(**chosen: Any) -> System:
        return change(build(**chosen))

    return replace(BEATS, build=build_twisted, **parts)


def with_variable(system: System, name: str, **parts: Any) -> System:
    variables = [replace(v, **parts) if v.name == name else v for v in system.variables]
    return replace(system, variables=tuple(variables))


def with_detector(system: System, **parts: Any) -> System:
    assert system.detector is not None
    return replace(system, detector=replace(system.detector, **parts))


def _late(system: System, most: int | None) -> System:
    """A heartbeat that comes late raises the timeout, up to a limit if there is one."""

    def run(s: State, c: Choices) -> Update:
        made = receive(s, c)
        late = And(hears(c), s.waiting > 0)
        longer = s.timeout + 1 if most is None else Min(s.timeout + 1, most)
        return replace(made, changes={**made.changes, "timeout": If(late, longer, s.timeout)})

    return system.with_phase("receive", run)


def _take_back(system: System) -> System:
    """A right suspicion is taken back for a round whenever a longer time has passed."""

    def run(s: State, c: Choices) -> Update:
        again = And(s.suspected, s.doubt >= 2)
        return update(
            suspected=And(Or(s.suspected, s.waiting >= s.timeout), Not(again)),
            doubt=If(again, 0, If(s.suspected, s.doubt + 1, 0)),
        )

    doubt = Variable("doubt", Integers(), initial=lambda s: 0)
    return replace(system, variables=(*system.variables, doubt)).with_phase("suspect", run)


def _take_back_once(system: System) -> System:
    """The first suspicion is taken back once, after some rounds."""

    def run(s: State, c: Choices) -> Update:
        again = s.doubt == 4
        return update(
            suspected=And(Or(s.suspected, s.waiting >= s.timeout), Not(again)),
            doubt=If(s.suspected, Min(s.doubt + 1, 5), s.doubt),
        )

    doubt = Variable("doubt", Integers(), initial=lambda s: 0)
    return replace(system, variables=(*system.variables, doubt)).with_phase("suspect", run)


def _uneven(s: State, c: Choices) -> Update:
    """Timeouts of this length never work."""
    return update(suspected=Or(s.suspected, s.waiting >= s.timeout, s.timeout == s.delta + 2))


def _dead_end(s: State, c: Choices) -> Update:
    return replace(suspect(s, c), assume=Not(s.suspected))


def _count_for_ever(system: System) -> System:
    def run(s: State, c: Choices) -> Update:
        return update(buffer=s.buffer.age(), count=s.count + 1)

    count = Variable("count", Integers(), initial=lambda s: 0, ghost=True)
    return replace(system, variables=(*system.variables, count)).with_phase("age_messages", run)


def _only_even(system: System) -> System:
    even = Property("even", lambda s: s.initial_timeout % 2 == 0, "the initial timeout is even")
    return replace(system, assumptions=(even,))


def _large_delta(system: System) -> System:
    return replace(system, assumptions=(Property("large", lambda s: s.delta >= 2, "messages are slow"),))


def _fails(s: State, c: Choices) -> Update:
    raise ValueError("nothing is ever suspected here")


CAPPED_CLOCK = twisted(lambda system: with_variable(system, "since_crash", ghost=False, clock=False, cap=lambda s: 0))
STOPPED_CLOCK = twisted(lambda system: system.with_phase("crash", lambda s, c: update(crashed=Or(s.crashed, c.crash))))
CLOCK_SEEN = twisted(lambda system: with_detector(system, suspects=lambda s: And(s.suspected, s.since_crash >= 19)))
LATE_RAISES = twisted(lambda system: _late(system, 6))
LATE_RAISES_FOR_EVER = twisted(lambda system: _late(system, None))
NO_CRASH = twisted(lambda system: system.with_phase("crash", lambda s, c: update(assume=Not(c.crash))))
TAKES_BACK = twisted(_take_back)
TAKES_BACK_ONCE = twisted(_take_back_once)
ALWAYS_SUSPECTS = twisted(lambda system: with_variable(system, "suspected", initial=lambda s: True))
NEVER_SUSPECTS = twisted(lambda system: system.with_phase("suspect", lambda s, c: update()))
SUSPECTS_EARLY = twisted(lambda system: system.with_phase("suspect", lambda s, c: update(suspected=True)))
UNEVEN = twisted(lambda system: system.with_phase("suspect", _uneven))
DEAD_END = twisted(lambda system: system.with_phase("suspect", _dead_end))
CUT_BY_CAP = twisted(lambda system: with_variable(system, "waiting", cap=lambda s: 1))
COUNTS_FOR_EVER = twisted(_count_for_ever)
ONLY_EVEN = twisted(_only_even)
LARGE_DELTA = twisted(_large_delta)
FAILS = twisted(lambda system: system.with_phase("suspect", _fails))
OTHER_TIMEOUT = replace(BEATS, build=lambda delta, timeout: build(delta, timeout="any" if timeout == "any" else "3"))
NO_DETECTOR = twisted(lambda system: replace(system, detector=None))
NO_TIMEOUT = replace(BEATS, options=(), build=lambda delta: build(delta, timeout="3"))
