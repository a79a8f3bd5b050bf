"""The result of an exploration: the verdict on its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fdverify.runs.run import Run, confirm_violation, format_rounds
from fdverify.verdict import Obligation, Result, Verdict

if TYPE_CHECKING:
    from fdverify.engines.explore import Exploration


def conclude_exploration(exploration: Exploration, seconds: float) -> Result:
    """Return the verdict on the claim; a run in it has been replayed."""
    claim = exploration.claim
    statistics = {"states": exploration.states, "depth": exploration.depth}

    def build_result(verdict: Verdict, detail: str, run: Run | None = None) -> Result:
        return Result(verdict, detail, statistics, (Obligation(claim.name, "exploration", verdict, seconds),), run)

    if exploration.violation is not None:
        run = confirm_violation(exploration.system, claim, exploration.reconstruct_run(exploration.violation))
        return build_result(Verdict.VIOLATED, f"{claim.name} is violated after {_format_steps(exploration, run)}", run)
    if exploration.dead_end is not None:
        run = exploration.reconstruct_dead_end_run(exploration.dead_end)
        return build_result(
            Verdict.VACUOUS, f"a dead end: no step is possible after {_format_steps(exploration, run)}", run
        )
    if not exploration.complete:
        steps = "sub-rounds" if exploration.subrounds else "rounds"
        return build_result(Verdict.BOUNDED, f"{claim.name} holds within {len(exploration.levels) - 1} {steps}")
    return build_result(Verdict.PROVED, f"{claim.name} holds in all {exploration.states} reachable states")


def _format_steps(exploration: Exploration, run: Run) -> str:
    words = format_rounds(len(run.rounds))
    if run.phases_of_last is None or run.phases_of_last == len(exploration.system.phases):
        return words
    return f"{words}, the last one up to {exploration.system.phases[run.phases_of_last - 1].name}"
