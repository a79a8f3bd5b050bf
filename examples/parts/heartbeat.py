"""A heartbeat with period and loss: which silence is normal, for all delays, periods, pauses and losses."""

from dataclasses import replace

from fdverify import Implies, Model, Option, Parameter, Proof, Property, System, parse_expression
from fdverify.parts import FixedDelayTask, LossyChannel, PausingProcess, Silence

PARAMETERS = (
    Parameter("delta", least=0, value=None, meaning="longest delay of a heartbeat"),
    Parameter("period", least=1, value=None, meaning="from one heartbeat to the next"),
    Parameter("pause", least=0, value=None, meaning="longest pause of the sender"),
    Parameter("stall", least=0, value=None, meaning="longest pause of the monitor"),
    Parameter("losses", least=0, value=None, meaning="how many heartbeats in a row may be lost"),
)

SENDER = PausingProcess("sender", longest_pause=lambda s: s.pause)
MONITOR = PausingProcess("monitor", longest_pause=lambda s: s.stall)
BEAT = FixedDelayTask("beat", SENDER, period=lambda s: s.period)
CHANNEL = LossyChannel("heartbeats", "delta", losses=lambda s: s.losses)
SILENCE = Silence("silence", BEAT, CHANNEL, matters=lambda s: s.timeout)

ACCURACY = Property(
    "accuracy",
    lambda s: Implies(MONITOR.runs(s), SILENCE.rounds(s) < s.timeout),
    "no silence that the monitor sees is as long as the timeout",
)


def build(timeout: str, **values: int | None) -> System:
    known = tuple(replace(parameter, value=values[parameter.name]) for parameter in PARAMETERS)
    limit = Parameter("timeout", least=1, value=parse_expression(timeout, values), meaning="the timeout")
    parts = (SENDER, MONITOR, BEAT, CHANNEL, SILENCE)
    return System(
        name="heartbeat",
        options={"timeout": timeout},
        parameters=(*known, limit),
        variables=tuple(variable for part in parts for variable in part.variables()),
        phases=(
            *SENDER.phases(),
            *MONITOR.phases(),
            *BEAT.phases(),
            CHANNEL.carry(sends=BEAT.runs),
            CHANNEL.hand_over(receives=MONITOR.runs, then=SILENCE.after),
        ),
        properties=(ACCURACY,),
    )


TIMEOUT = Option("timeout", "how long a silence is too long", "(losses+1)*(period+pause)+delta", metavar="EXPR")
HEARTBEAT = Model("heartbeat", "a heartbeat with period and loss", PARAMETERS, (TIMEOUT,), "accuracy", build)

proof = Proof(HEARTBEAT, goal="accuracy")
proof.invariants(*BEAT.guarantees(), *CHANNEL.guarantees(MONITOR), *SILENCE.guarantees())
