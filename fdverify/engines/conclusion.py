"""The result of an exploration: the verdict on its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fdverify.traces.run import Run, confirmed, rounds
from fdverify.verdict import Obligation, Result, Verdict

if TYPE_CHECKING:
    from fdverify.engines.explore import Exploration


def conclude(exploration: Exploration, seconds: float) -> Result:
    """Return the verdict on the claim; a run in it has been replayed."""
    claim = exploration.claim
    statistics = {"states": exploration.states, "depth": exploration.depth}

    def result(verdict: Verdict, detail: str, run: Run | None = None) -> Result:
        return Result(verdict, detail, statistics, (Obligation(claim.name, "exploration", verdict, seconds),), run)

    if exploration.violation is not None:
        run = confirmed(exploration.system, claim, exploration.trace_to(exploration.violation))
        return result(Verdict.VIOLATED, f"{claim.name} is violated after {_steps(exploration, run)}", run)
    if exploration.dead_end is not None:
        run = exploration.run_to_dead_end(exploration.dead_end)
        return result(Verdict.VACUOUS, f"a dead end: no step is possible after {_steps(exploration, run)}", run)
    if not exploration.complete:
        steps = "sub-rounds" if exploration.subrounds else "rounds"
        return result(Verdict.BOUNDED, f"{claim.name} holds within {len(exploration.levels) - 1} {steps}")
    return result(Verdict.PROVED, f"{claim.name} holds in all {exploration.states} reachable states")


def _steps(exploration: Exploration, run: Run) -> str:
    words = rounds(len(run.rounds))
    if run.phases_of_last is None or run.phases_of_last == len(exploration.system.phases):
        return words
    return f"{words}, the last one up to {exploration.system.phases[run.phases_of_last - 1].name}"
