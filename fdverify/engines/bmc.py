"""Bounded model checking: search for a run of bounded length that ends in a violation."""

from __future__ import annotations

from time import perf_counter

from fdverify.engines import exact
from fdverify.engines.parameters import check_parameters, smallest
from fdverify.logic import Not, Truth
from fdverify.models.system import Property, State, System
from fdverify.smt.solver import Answer, FreshSolver, Solver, WordSolver
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import literal, truth
from fdverify.symbolic.witness import read_run
from fdverify.traces.run import Run, confirmed, rounds
from fdverify.verdict import Obligation, Progress, Report, Result, Verdict, silent


class Search:
    """A search through runs from the initial state, one round longer each time."""

    def __init__(self, system: System) -> None:
        self.unrolling = Unrolling(system)
        self._solver: Solver = FreshSolver() if system.arbitrary() else WordSolver()

    @property
    def state(self) -> State:
        return self.unrolling.states[-1]

    def extend(self) -> None:
        self.unrolling.extend()

    def ask(self, bad: Truth) -> Answer:
        """Ask whether there is a run of exactly this length whose last state is bad."""
        return exact.ask(self.unrolling, self._solver, truth(bad))

    def exclude(self, bad: Truth) -> None:
        """Consider from now on only runs whose state at this length is not bad."""
        self._solver.add([truth(Not(bad))])

    def run(self, bad: Truth, answer: Answer) -> Run:
        """Return the run that an answer describes, at the smallest parameters with a run of this length."""

        def again(condition: Truth) -> Answer:
            return exact.ask(self.unrolling, self._solver, truth(bad), truth(condition))

        answer = smallest(self.unrolling, answer, again)
        return read_run(self.unrolling, answer.value)


def bmc(system: System, claim: Property, depth: int, report: Report = silent) -> Result:
    """Search for a violation of ``claim`` in runs of 0, 1, … ``depth`` rounds."""
    start = perf_counter()
    check_parameters(system)
    search = Search(system)
    for length in range(depth + 1):
        if length > 0:
            search.extend()
        bad = Not(claim.holds(search.state))
        answer = search.ask(bad)
        if answer.status == "unknown":
            detail = f"the solver gave up at depth {length}: {answer.reason}"
            return _result(Verdict.UNKNOWN, detail, claim, length - 1, start)
        if answer.status == "sat":
            run = confirmed(system, claim, search.run(bad, answer))
            detail = f"{claim.name} is violated after {rounds(length)}"
            return _result(Verdict.VIOLATED, detail, claim, length, start, run)
        search.exclude(bad)
        report(Progress(depth=length))
    # If there is no run of this length, the last searches were vacuous.
    witness = search.ask(literal(True))
    if witness.status == "unsat":
        detail = f"no run is {rounds(depth)} long: the model comes to a dead end, or has no run at all"
        return _result(Verdict.VACUOUS, detail, claim, depth, start)
    if witness.status == "unknown":
        detail = f"the solver gave up on whether a run of {rounds(depth)} exists: {witness.reason}"
        return _result(Verdict.UNKNOWN, detail, claim, depth, start)
    return _result(Verdict.BOUNDED, f"{claim.name} holds in every run of up to {rounds(depth)}", claim, depth, start)


def _result(verdict: Verdict, detail: str, claim: Property, depth: int, start: float, run: Run | None = None) -> Result:
    obligation = Obligation(claim.name, "search", verdict, perf_counter() - start)
    return Result(verdict, detail, {"depth": depth}, (obligation,), run)
