"""A monitor that pauses: how long nobody looks, for every bound on a pause, with a watch that is as long as it says."""

from dataclasses import replace

from fdverify import (
    If,
    Integers,
    Model,
    Option,
    Parameter,
    Phase,
    Proof,
    Property,
    State,
    System,
    Truth,
    Variable,
    parse_expression,
    update,
)
from fdverify.parts import PausingProcess

STALL = Parameter("stall", least=0, value=None, meaning="longest pause of the monitor")
MONITOR = PausingProcess("monitor", longest_pause=lambda s: s.stall)
UNWATCHED = Variable("unwatched", Integers(), initial=lambda s: 0, range=lambda s: s.unwatched >= 0)
SHORT = Property("short", lambda s: s.unwatched <= s.limit, "nobody looks for at most as many rounds as the limit")


def build(stall: int | None, limit: str) -> System:
    return System(
        name="pausing",
        options={"limit": limit},
        parameters=(
            replace(STALL, value=stall),
            Parameter("limit", least=-1, value=parse_expression(limit, {"stall"}), meaning="what is claimed"),
        ),
        variables=(*MONITOR.variables(), UNWATCHED),
        phases=(
            *MONITOR.phases(),
            Phase("look", lambda s, c: update(unwatched=If(MONITOR.runs(s), 0, s.unwatched + 1))),
        ),
        properties=(SHORT,),
    )


LIMIT = Option("limit", "how long nobody looks, it is claimed", "stall", metavar="EXPR")
PAUSING = Model("pausing", "a monitor that pauses", (STALL,), (LIMIT,), "short", build)

proof = Proof(PAUSING, goal="short")


@proof.invariant
def one_pause(s: State) -> Truth:
    """Nobody looks for as long as the monitor has been paused."""
    same: Truth = s.unwatched == MONITOR.pause(s)
    return same
