"""NAME: a heartbeat detector, and a first attempt to prove its accuracy.

The sender sends a heartbeat at least every PERIOD rounds until it crashes; a message takes at most DELTA rounds.  The
receiver suspects the sender when it has heard nothing for TIMEOUT rounds.  If it then hears from the sender, it trusts
it again and raises its timeout by one.

verify-invariant NAME.py shows the step that breaks the attempt, and a hint that repairs it.
fdverify explore NAME.py:DETECTOR --delta 1 --period 2 visits every state of a small instance.
"""

from dataclasses import replace

from fdverify import (
    Ages,
    And,
    Choices,
    Detector,
    Flag,
    Flags,
    If,
    Implies,
    Integers,
    Model,
    Not,
    Option,
    Or,
    Parameter,
    Phase,
    Proof,
    Property,
    State,
    Subset,
    System,
    Truth,
    Update,
    Variable,
    hint,
    parse_expression,
    update,
)

DELTA = Parameter("delta", least=0, value=None, meaning="bound on message delay")
PERIOD = Parameter("period", least=1, value=None, meaning="bound on the rounds from one heartbeat to the next")


def correct(s: State) -> Truth:
    """The sender has not crashed."""
    return Not(s.crashed)


def crash(s: State, c: Choices) -> Update:
    """Let the sender crash for good; a clock counts the rounds since."""
    crashed = Or(s.crashed, c.crash)
    return update(crashed=crashed, since_crash=If(crashed, s.since_crash + 1, -1))


def age_messages(s: State, c: Choices) -> Update:
    return update(buffer=s.buffer.age())


def beat(s: State, c: Choices) -> Update:
    """Send a heartbeat, or stay silent for less than PERIOD rounds."""
    sends = And(correct(s), c.beats)
    return update(
        assume=Or(Not(correct(s)), c.beats, s.silent + 1 < s.period),
        buffer=s.buffer.send(when=sends),
        silent=If(Or(sends, Not(correct(s))), 0, s.silent + 1),
    )


def hears(c: Choices) -> Truth:
    return Not(c.delivered.empty())


def receive(s: State, c: Choices) -> Update:
    """Deliver some messages, and every message of age DELTA."""
    return update(
        assume=Implies(s.buffer.has(s.delta), c.delivered.has(s.delta)),
        buffer=s.buffer.deliver(c.delivered),
        waiting=If(hears(c), 0, If(s.waiting < s.timeout, s.waiting + 1, s.waiting)),
        suspected=And(s.suspected, Not(hears(c))),
        timeout=If(And(hears(c), s.suspected), s.timeout + 1, s.timeout),
    )


def suspect(s: State, c: Choices) -> Update:
    return update(suspected=Or(s.suspected, s.waiting >= s.timeout))


def accurate(s: State) -> Truth:
    return Not(And(s.suspected, correct(s)))


def build(delta: int | None, period: int | None, *, timeout: str) -> System:
    """Build the detector with these bounds (None: arbitrary) and this initial timeout (an expression, or any)."""
    initial = None if timeout == "any" else parse_expression(timeout, {"delta", "period"})
    return System(
        name="NAME",
        options={"timeout": timeout},
        parameters=(
            replace(DELTA, value=delta),
            replace(PERIOD, value=period),
            Parameter("initial_timeout", 1, initial, "the first timeout"),
        ),
        variables=(
            Variable("suspected", Flags(), initial=lambda s: False),
            Variable(
                "waiting",
                Integers(),
                initial=lambda s: 0,
                range=lambda s: And(s.waiting >= 0, s.waiting <= s.timeout),
            ),
            Variable(
                "timeout",
                Integers(),
                initial=lambda s: s.initial_timeout,
                range=lambda s: s.timeout >= s.initial_timeout,
            ),
            Variable(
                "silent",
                Integers(),
                initial=lambda s: 0,
                range=lambda s: And(s.silent >= 0, s.silent < s.period),
            ),
            Variable("buffer", Ages("predicate" if delta is None else "bitvector", "delta"), initial=lambda s: ()),
            Variable("crashed", Flags(), initial=lambda s: False),
            Variable(
                "since_crash",
                Integers(),
                initial=lambda s: -1,
                range=lambda s: If(s.crashed, s.since_crash >= 0, s.since_crash == -1),
                ghost=True,
                clock=True,
            ),
        ),
        phases=(
            Phase("crash", crash, (Flag("crash", when=correct),)),
            Phase("age_messages", age_messages),
            Phase("beat", beat, (Flag("beats", when=correct),)),
            Phase("receive", receive, (Subset("delivered", of="buffer"),)),
            Phase("suspect", suspect),
        ),
        properties=(Property("strong-accuracy", accurate, "a sender that has not crashed is not suspected"),),
        detector=Detector(
            suspects=lambda s: s.suspected,
            correct=correct,
            in_transit=lambda s: Not(s.buffer.empty()),
            receive="receive",
            hears=hears,
            timeout="timeout",
            first_timeout="initial_timeout",
            crash_clock="since_crash",
        ),
    )


DETECTOR = Model(
    name="NAME",
    summary="a heartbeat detector with a timeout that grows",
    parameters=(DELTA, PERIOD),
    options=(Option("timeout", "the initial timeout, or any", "period+delta", metavar="EXPR|any"),),
    default_property="strong-accuracy",
    build=build,
)

proof = Proof(DETECTOR, goal="strong-accuracy")


@proof.invariant
def trusted(s: State) -> Truth:
    """The receiver trusts a correct sender."""
    return accurate(s)


@proof.invariant
def delivered_in_time(s: State) -> Truth:
    """No message is left that has taken as long as it may."""
    return Not(s.buffer.has(s.delta))


@hint("uncomment heard_since at the end of NAME.py: what was sent before the sender fell silent has been delivered")
@proof.invariant
def heard_in_time(s: State) -> Truth:
    """If no message is as old as some age, the receiver has not waited much longer than that."""
    return Implies(
        correct(s),
        s.buffer.forall(0, s.delta, lambda age: Or(s.buffer.any(age, s.delta), s.waiting < s.period + age)),
    )


# @proof.invariant
# def heard_since(s: State) -> Truth:
#     """While nothing is in transit, the receiver has not waited for longer than the sender has been silent."""
#     return Implies(And(correct(s), s.buffer.empty()), s.waiting <= s.silent)
