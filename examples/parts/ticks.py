"""A task that counts its runs: how far it falls behind, at a fixed rate, with a fixed delay, or if it skips ticks."""

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
    update,
)
from fdverify.parts import FixedDelayTask, FixedRateTask, PausingProcess, PeriodicTask

PARAMETERS = (
    Parameter("period", least=1, value=None, meaning="from one run to the next"),
    Parameter("pause", least=0, value=None, meaning="longest pause of the worker"),
)
WORKER = PausingProcess("worker", longest_pause=lambda s: s.pause)
AT_RATE = FixedRateTask("work", WORKER, period=lambda s: s.period)
SKIPPING = FixedRateTask("work", WORKER, period=lambda s: s.period, skips=True)
WITH_DELAY = FixedDelayTask("work", WORKER, period=lambda s: s.period)
KINDS: dict[str, PeriodicTask] = {"fixed-rate": AT_RATE, "fixed-delay": WITH_DELAY, "skipping": SKIPPING}

KEEPS_UP = Property(
    "keeps-up",
    lambda s: s.behind < s.period + s.pause,
    "the runs, one period each, never lag behind by a period and a pause",
)
RUNS_AGAIN = Property("runs-again", lambda s: s.since_run < s.period + s.pause, "a run follows within period and pause")
SHORT_PAUSES = Property("short-pauses", lambda s: s.pause < s.period, "pauses are shorter than the period")


def build(period: int | None, pause: int | None, kind: str) -> System:
    task = KINDS[kind]
    numbers = zip(PARAMETERS, (period, pause), strict=True)
    return System(
        name="ticks",
        options={"kind": kind},
        parameters=tuple(replace(parameter, value=value) for parameter, value in numbers),
        variables=(
            *WORKER.variables(),
            *task.variables(),
            Variable("behind", Integers(), initial=lambda s: 0),
            Variable("since_run", Integers(), initial=lambda s: 0, range=lambda s: s.since_run >= 0),
        ),
        phases=(
            *WORKER.phases(),
            *task.phases(),
            Phase(
                "count",
                lambda s, c: update(
                    behind=s.behind + 1 - If(task.runs(s), s.period, 0),
                    since_run=If(task.runs(s), 0, s.since_run + 1),
                ),
            ),
        ),
        properties=(KEEPS_UP, RUNS_AGAIN),
        assumptions=(SHORT_PAUSES,),
    )


KIND = Option("kind", "what happens to runs that a pause delays", "fixed-rate", choices=tuple(KINDS))
TICKS = Model("ticks", "a task that counts its runs", PARAMETERS, (KIND,), "keeps-up", build)

proof = Proof(TICKS, goal="keeps-up")
proof.invariants(*AT_RATE.guarantees())


@proof.invariant
def counts_since_tick(s: State) -> Truth:
    """How far the runs lag behind is how long ago the tick of the last one was, and a period less."""
    lag: Truth = s.behind == AT_RATE.since(s) + 1 - s.period
    return lag
