"""A timer on a clock that may be fast: to what it is set so that it never rings too early, for every such clock."""

from dataclasses import replace

from fdverify import Implies, Model, Option, Parameter, Proof, Property, System, parse_expression
from fdverify.parts import LocalClock, Stopwatch

PARAMETERS = (
    Parameter("wait", least=1, value=None, meaning="how many rounds the timer is to wait at least"),
    Parameter("steady", least=1, value=None, meaning="the clock gains at most one tick in so many rounds"),
    Parameter("extra", least=0, value=None, meaning="how many ticks the clock may gain while the timer waits"),
)
CLOCK = LocalClock("clock", steady=lambda s: s.steady)
TIMER = Stopwatch("timer", CLOCK, matters=lambda s: s.set)

NOT_EARLY = Property(
    "not-early",
    lambda s: Implies(TIMER.elapsed(s) >= s.set, TIMER.rounds(s) >= s.wait),
    "once the timer has rung, as many rounds have passed as it was to wait",
)
ENOUGH = Property("enough", lambda s: s.extra * s.steady >= s.wait - 1, "the clock gains at most the extra ticks")


def build(ticks: str, **values: int | None) -> System:
    known = tuple(replace(parameter, value=values[parameter.name]) for parameter in PARAMETERS)
    return System(
        name="fast-clock",
        options={"ticks": ticks},
        parameters=(*known, Parameter("set", least=1, value=parse_expression(ticks, values), meaning="when it rings")),
        variables=(*CLOCK.variables(), *TIMER.variables()),
        phases=(*CLOCK.phases(), *TIMER.phases()),
        properties=(NOT_EARLY,),
        assumptions=(ENOUGH,),
    )


TICKS = Option("ticks", "to how many ticks the timer is set", "wait+extra", metavar="EXPR")
FAST_CLOCK = Model("fast-clock", "a timer on a clock that may be fast", PARAMETERS, (TICKS,), "not-early", build)

proof = Proof(FAST_CLOCK, goal="not-early")
proof.invariants(*TIMER.guarantees())
