"""The query driver: counterexample-guided refinement of one formula that over-approximates all runs.

At first no threshold is tracked.  If the formula is unsatisfiable, there is no run.  Otherwise the steps of a solution
with the fewest processes are put into an order and replayed.  If that fails, the thresholds that were reached at the
wrong time are tracked from then on.  With all thresholds tracked, only sets of locations that must stay inhabited can
make it fail; then stretches are divided into phases.
"""

from __future__ import annotations

from collections.abc import Sequence

from fdverify.errors import InternalError
from fdverify.smt.solver import ArithmeticSolver
from fdverify.threshold.claims.thresholds import Threshold, thresholds
from fdverify.threshold.formula import holds
from fdverify.threshold.runs.encode import Runs
from fdverify.threshold.runs.outcome import Outcome, Watch
from fdverify.threshold.runs.phases import TOO_MANY, enough, too_many
from fdverify.threshold.runs.problem import Problem
from fdverify.threshold.runs.realise import Found, NoOrder, TooLong, realised, smallest


def query(problem: Problem, watch: Watch) -> Outcome:
    outcome = query_tracking(problem, watch, len(problem.thresholds))
    assert outcome is not None, "the number of tracked thresholds cannot exceed the number of thresholds"
    return outcome


def query_tracking(problem: Problem, watch: Watch, most: int) -> Outcome | None:
    """Return the outcome, or None if more than ``most`` thresholds have to be tracked."""
    tracked: list[Threshold] = []
    phases = fewest = 0
    while len(tracked) <= most:
        watch.report(_progress(problem, tracked, phases))
        runs = Runs(problem, tracked, phases)
        solver = ArithmeticSolver()
        solver.add(runs.facts)
        # The last run was minimal in a weaker formula, so a run with as few processes is minimal, and quickly found.
        answer = solver.ask(runs.processes <= fewest)
        if answer.status != "sat":
            answer = solver.ask()
        if answer.status == "unknown":
            return _unknown(f"the solver gave up: {answer.reason}", runs)
        if answer.status == "unsat":
            if not phases or enough(problem, phases):
                doubt = watch.confirm(runs.facts, "unsat")
                return Outcome("none") if doubt is None else _unknown(doubt, runs)
            phases *= 2
            if too_many(phases):
                return Outcome("unknown", TOO_MANY)
            continue
        answer = smallest(runs, solver, answer, fewest)
        fewest = int(answer.value(runs.processes))
        run = realised(runs, answer)
        if isinstance(run, TooLong):
            return Outcome("unknown", str(run))
        if isinstance(run, Found):
            doubt = watch.confirm(runs.facts, "sat")
            return Outcome("found", found=run) if doubt is None else _unknown(doubt, runs)
        if phases:
            raise InternalError("the steps of a run in phases cannot be put into an order")
        more = _to_track(runs, run)
        if more:
            tracked = tracked + more
        else:
            tracked, phases = list(problem.thresholds), 1
    return None


def _progress(problem: Problem, tracked: Sequence[Threshold], phases: int) -> str:
    in_phases = f", {phases} phases" if phases else ""
    return f"{len(tracked)} of {len(problem.thresholds)} thresholds tracked{in_phases}"


def _unknown(reason: str, runs: Runs) -> Outcome:
    return Outcome("unknown", reason, facts=tuple(runs.facts))


def _to_track(runs: Runs, failure: NoOrder) -> list[Threshold]:
    """Choose the thresholds that the segment reached: those in guards that blocked it, or else all of them."""
    reached = [
        threshold
        for threshold in runs.problem.thresholds
        if threshold not in runs.tracked and threshold.is_reached(failure.before) != threshold.is_reached(failure.after)
    ]
    values = failure.stuck.values
    blocking = [rule.guard for rule in failure.stuck.rules if values[rule.source] > 0 and not holds(rule.guard, values)]
    blamed = thresholds(runs.problem.automaton, blocking)
    return [threshold for threshold in reached if threshold in blamed] or reached
