"""One message in a channel: it is delivered in time, and once, unless the channel makes copies."""

from dataclasses import replace

from fdverify import (
    And,
    If,
    Implies,
    Integers,
    Model,
    Option,
    Or,
    Parameter,
    Phase,
    Proof,
    Property,
    State,
    System,
    Truth,
    Variable,
    update,
)
from fdverify.parts import LossyChannel, PausingProcess

PARAMETERS = (
    Parameter("delta", least=0, value=None, meaning="longest delay of the message"),
    Parameter("soonest", least=0, value=None, meaning="shortest delay of the message"),
    Parameter("stall", least=0, value=None, meaning="longest pause of the receiver"),
)
RECEIVER = PausingProcess("receiver", longest_pause=lambda s: s.stall)
EXACT = LossyChannel("letters", "delta", least_delay=lambda s: s.soonest)
COPYING = LossyChannel("letters", "delta", least_delay=lambda s: s.soonest, duplicates=True)

IN_TIME = Property(
    "in-time",
    lambda s: Implies(s.age > s.delta + s.stall, s.heard > 0),
    "the message is delivered after the longest delay and one pause at the latest",
)
ONCE = Property("once", lambda s: s.heard <= 1, "the message is delivered once")
NOT_SOONER = Property("not-sooner", lambda s: Implies(s.heard > 0, s.age > s.soonest), "not before the shortest delay")
DELAYS = Property("delays", lambda s: s.soonest <= s.delta, "the shortest delay is not above the longest")


def build(copies: bool, **values: int | None) -> System:
    channel = COPYING if copies else EXACT
    return System(
        name="one-message",
        options={"copies": str(copies).lower()},
        parameters=tuple(replace(parameter, value=values[parameter.name]) for parameter in PARAMETERS),
        variables=(
            *RECEIVER.variables(),
            *channel.variables(),
            Variable("age", Integers(), lambda s: 0, range=lambda s: s.age >= 0, cap=lambda s: s.delta + s.stall + 1),
            Variable("heard", Integers(), lambda s: 0, range=lambda s: s.heard >= 0),
        ),
        phases=(
            *RECEIVER.phases(),
            channel.carry(sends=lambda s: s.age == 0),
            channel.hand_over(RECEIVER.runs, lambda s, heard: {"heard": If(heard, s.heard + 1, s.heard)}),
            Phase("tick", lambda s, c: update(age=s.age + 1)),
        ),
        properties=(IN_TIME, ONCE, NOT_SOONER),
        assumptions=(DELAYS,),
    )


COPIES = Option("copies", "whether the channel may deliver a message twice", False)
ONE_MESSAGE = Model("one-message", "one message in a channel", PARAMETERS, (COPIES,), "once", build)

proof = Proof(ONE_MESSAGE, goal="once")


@proof.invariant
def either_here_or_there(s: State) -> Truth:
    """The message is under way, or was delivered once, or was not sent yet."""
    under_way = And(s.age > 0, s.heard == 0, s.letters.single())
    return Or(And(s.letters.empty(), s.heard <= 1, Implies(s.age == 0, s.heard == 0)), under_way)
