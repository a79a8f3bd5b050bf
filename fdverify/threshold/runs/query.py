"""Is there a run of a problem?  One formula for all runs, refined until it has none, or one that can be replayed.

At first no threshold is tracked.  No run then means that there is none at all.  A run with the fewest processes is put
into an order and replayed; if that fails, the thresholds that were reached at the wrong time are tracked from then on.
With all of them tracked only sets of locations that must stay inhabited can fail, and stretches are cut into phases.
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
    found = query_tracking(problem, watch, len(problem.thresholds))
    assert found is not None, "no more thresholds than there are can be tracked"
    return found


def query_tracking(problem: Problem, watch: Watch, most: int) -> Outcome | None:
    """The outcome, unless more than so many thresholds must be tracked for it."""
    tracked: list[Threshold] = []
    phases = fewest = 0
    while len(tracked) <= most:
        watch.report(_progress(problem, tracked, phases))
        runs = Runs(problem, tracked, phases)
        solver = ArithmeticSolver()
        solver.add(runs.facts)
        # A run with as few processes as the last one is found soon if there is one, and need not be made smaller.
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
        found = realised(runs, answer)
        if isinstance(found, TooLong):
            return Outcome("unknown", str(found))
        if isinstance(found, Found):
            doubt = watch.confirm(runs.facts, "sat")
            return Outcome("found", found=found) if doubt is None else _unknown(doubt, runs)
        if phases:
            raise InternalError("a run of the solver, with all its phases, has no order")
        more = _to_track(runs, found)
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


def _to_track(runs: Runs, failed: NoOrder) -> list[Threshold]:
    """The thresholds that a stretch reaches too early or too late: if guards tell which, only those."""
    reached = [
        threshold
        for threshold in runs.problem.thresholds
        if threshold not in runs.tracked and threshold.is_reached(failed.before) != threshold.is_reached(failed.after)
    ]
    values = failed.stuck.values
    waiting = [rule.guard for rule in failed.stuck.rules if values[rule.source] > 0 and not holds(rule.guard, values)]
    blamed = thresholds(runs.problem.automaton, waiting)
    return [threshold for threshold in reached if threshold in blamed] or reached
