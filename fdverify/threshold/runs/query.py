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
from fdverify.threshold.claims.thresholds import Threshold, collect_thresholds
from fdverify.threshold.ltl_formula import evaluate_formula
from fdverify.threshold.runs.concretise import (
    ConcreteRun,
    OrderingFailure,
    RunTooLong,
    concretise_run,
    minimise_run,
)
from fdverify.threshold.runs.run_encoding import RunEncoding
from fdverify.threshold.runs.run_problem import (
    TOO_MANY_PHASES,
    DriverCallbacks,
    DriverOutcome,
    RunProblem,
    exceeds_phase_limit,
    has_enough_phases,
)


def run_query(problem: RunProblem, watch: DriverCallbacks) -> DriverOutcome:
    outcome = run_bounded_query(problem, watch, len(problem.thresholds))
    assert outcome is not None, "the number of tracked thresholds cannot exceed the number of thresholds"
    return outcome


def run_bounded_query(problem: RunProblem, watch: DriverCallbacks, most: int) -> DriverOutcome | None:
    """Return the outcome, or None if more than ``most`` thresholds have to be tracked."""
    tracked: list[Threshold] = []
    phases = fewest = 0
    while len(tracked) <= most:
        watch.report(_describe_progress(problem, tracked, phases))
        runs = RunEncoding(problem, tracked, phases)
        solver = ArithmeticSolver()
        solver.add(runs.facts)
        # The last run was minimal in a weaker formula, so a run with as few processes is minimal, and quickly found.
        answer = solver.ask(runs.processes <= fewest)
        if answer.status != "sat":
            answer = solver.ask()
        if answer.status == "unknown":
            return _build_unknown(f"the solver gave up: {answer.reason}", runs)
        if answer.status == "unsat":
            if not phases or has_enough_phases(problem, phases):
                doubt = watch.confirm(runs.facts, "unsat")
                return DriverOutcome("none") if doubt is None else _build_unknown(doubt, runs)
            phases *= 2
            if exceeds_phase_limit(phases):
                return DriverOutcome("unknown", TOO_MANY_PHASES)
            continue
        answer = minimise_run(runs, solver, answer, fewest)
        fewest = int(answer.get_value(runs.processes))
        run = concretise_run(runs, answer)
        if isinstance(run, RunTooLong):
            return DriverOutcome("unknown", str(run))
        if isinstance(run, ConcreteRun):
            doubt = watch.confirm(runs.facts, "sat")
            return DriverOutcome("found", run=run) if doubt is None else _build_unknown(doubt, runs)
        if phases:
            raise InternalError("the steps of a run in phases cannot be put into an order")
        more = _choose_thresholds_to_track(runs, run)
        if more:
            tracked = tracked + more
        else:
            tracked, phases = list(problem.thresholds), 1
    return None


def _describe_progress(problem: RunProblem, tracked: Sequence[Threshold], phases: int) -> str:
    in_phases = f", {phases} phases" if phases else ""
    return f"{len(tracked)} of {len(problem.thresholds)} thresholds tracked{in_phases}"


def _build_unknown(reason: str, runs: RunEncoding) -> DriverOutcome:
    return DriverOutcome("unknown", reason, facts=tuple(runs.facts))


def _choose_thresholds_to_track(runs: RunEncoding, failure: OrderingFailure) -> list[Threshold]:
    """Choose the thresholds that the segment reached: those in guards that blocked it, or else all of them."""
    reached = [
        threshold
        for threshold in runs.problem.thresholds
        if threshold not in runs.tracked and threshold.is_reached(failure.before) != threshold.is_reached(failure.after)
    ]
    values = failure.stuck.values
    blocking = [
        rule.guard
        for rule in failure.stuck.rules
        if values[rule.source] > 0 and not evaluate_formula(rule.guard, values)
    ]
    blamed = collect_thresholds(runs.problem.automaton, blocking)
    return [threshold for threshold in reached if threshold in blamed] or reached
