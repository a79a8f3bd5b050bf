"""Bounded model checking: search for a run of bounded length that ends in a violation."""

from __future__ import annotations

from time import perf_counter

from fdverify.engines import exact_ages
from fdverify.engines.instances import check_parameters, minimise_parameters
from fdverify.logic import Not, Truth
from fdverify.models.system import Property, State, System
from fdverify.runs.run import Run, confirm_violation, format_rounds
from fdverify.smt.solver import BitvectorSolver, OrderSolver, Solver, SolverAnswer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import build_literal, lift_truth
from fdverify.symbolic.witness import read_run
from fdverify.verdict import Obligation, Progress, Report, Result, Verdict, ignore_progress


class BoundedSearch:
    """A search through runs from the initial state, one round longer each time."""

    def __init__(self, system: System) -> None:
        self.unrolling = Unrolling(system, lists_ages=True)
        least = {parameter.name: parameter.least for parameter in system.parameters if parameter.value is None}
        self._solver: Solver = OrderSolver(least) if least else BitvectorSolver()

    @property
    def state(self) -> State:
        return self.unrolling.states[-1]

    def extend(self) -> None:
        self.unrolling.add_round()

    def ask(self, bad: Truth) -> SolverAnswer:
        """Ask whether there is a run of exactly this length whose last state is bad."""
        return exact_ages.ask_exactly(self.unrolling, self._solver, lift_truth(bad))

    def exclude(self, bad: Truth) -> None:
        """Consider from now on only runs whose state at this length is not bad."""
        self._solver.add([lift_truth(Not(bad))])

    def find_smallest_run(self, bad: Truth, answer: SolverAnswer) -> Run:
        """Return the run that an answer describes, at the smallest parameters with a run of this length."""

        def ask_again(condition: Truth) -> SolverAnswer:
            return exact_ages.ask_exactly(self.unrolling, self._solver, lift_truth(bad), lift_truth(condition))

        answer = minimise_parameters(self.unrolling, answer, ask_again)
        return read_run(self.unrolling, answer.get_value)


def bmc(system: System, claim: Property, depth: int, report: Report = ignore_progress) -> Result:
    """Search for a violation of ``claim`` in runs of 0, 1, … ``depth`` rounds."""
    start = perf_counter()
    check_parameters(system)
    search = BoundedSearch(system)
    for length in range(depth + 1):
        if length > 0:
            search.extend()
        bad = Not(claim.holds(search.state))
        answer = search.ask(bad)
        if answer.status == "unknown":
            detail = f"the solver gave up at depth {length}: {answer.reason}"
            return _build_result(Verdict.UNKNOWN, detail, claim, length - 1, start)
        if answer.status == "sat":
            run = confirm_violation(system, claim, search.find_smallest_run(bad, answer))
            detail = f"{claim.name} is violated after {format_rounds(length)}"
            return _build_result(Verdict.VIOLATED, detail, claim, length, start, run)
        search.exclude(bad)
        report(Progress(depth=length))
    # If there is no run of this length, the last searches were vacuous.
    witness = search.ask(build_literal(True))
    if witness.status == "unsat":
        detail = f"no run is {format_rounds(depth)} long: the model comes to a dead end, or has no run at all"
        return _build_result(Verdict.VACUOUS, detail, claim, depth, start)
    if witness.status == "unknown":
        detail = f"the solver gave up on whether a run of {format_rounds(depth)} exists: {witness.reason}"
        return _build_result(Verdict.UNKNOWN, detail, claim, depth, start)
    return _build_result(
        Verdict.BOUNDED, f"{claim.name} holds in every run of up to {format_rounds(depth)}", claim, depth, start
    )


def _build_result(
    verdict: Verdict, detail: str, claim: Property, depth: int, start: float, run: Run | None = None
) -> Result:
    obligation = Obligation(claim.name, "search", verdict, perf_counter() - start)
    return Result(verdict, detail, {"depth": depth}, (obligation,), run)
