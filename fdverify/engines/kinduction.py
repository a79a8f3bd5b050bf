"""k-induction: no violation in the first k states of a run, and none right after k states in a row without one.

The claim is the property together with the ranges of the variables.  The ranges strengthen the induction hypothesis, so
they are proved with the property, never assumed.  A separate obligation is that every state that satisfies the claim
has a next round.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from fdverify.engines.bmc import BoundedSearch
from fdverify.engines.dead_ends import check_no_dead_end
from fdverify.engines.instances import check_parameters, diagnose_assumptions
from fdverify.errors import InternalError
from fdverify.logic import And, Not, Truth
from fdverify.models.system import Property, State, System
from fdverify.runs.run import Run, format_rounds, replay_run
from fdverify.smt.solver import FreshSolver, SolverAnswer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Obligation, Progress, Report, Result, Verdict, ignore_progress


@dataclass(frozen=True)
class InductionClaim:
    """The property, the lemmas and the ranges, which are proved together."""

    system: System
    goal: Property
    lemmas: tuple[Property, ...] = ()

    @property
    def helpers(self) -> tuple[Property, ...]:
        return (*self.lemmas, *self.system.list_ranges())

    def holds(self, state: State) -> Truth:
        return And(*(part.holds(state) for part in (self.goal, *self.helpers)))


class InductionStep:
    """The induction step: rounds from an arbitrary state, with the claim in every state but the last."""

    def __init__(self, claim: InductionClaim) -> None:
        self._claim = claim
        self._unrolling = Unrolling(claim.system, anywhere=True)
        self._solver = FreshSolver()

    def extend_and_ask(self) -> SolverAnswer:
        """Add one round, and ask whether it can violate the claim."""
        before = self._claim.holds(self._unrolling.states[-1])
        after = self._claim.holds(self._unrolling.add_round())
        facts = self._unrolling.take_new_facts()
        self._solver.add([*facts, lift_truth(before)])
        return self._solver.ask(lift_truth(Not(after)))


def k_induction(
    system: System, goal: Property, max_k: int, lemmas: tuple[Property, ...] = (), report: Report = ignore_progress
) -> Result:
    """Prove ``goal`` together with ``lemmas`` by k-induction with the least k up to ``max_k``, or find a violation."""
    check_parameters(system)
    no_parameters = diagnose_assumptions(system)
    if no_parameters is not None:
        return Result(*no_parameters)
    claim = InductionClaim(system, goal, lemmas)
    search, step = BoundedSearch(system), InductionStep(claim)
    seconds = {"base": 0.0, "step": 0.0}
    for k in range(1, max_k + 1):
        start = perf_counter()
        if k > 1:
            search.extend()
        bad = Not(claim.holds(search.state))
        base = search.ask(bad)
        seconds["base"] += perf_counter() - start
        if base.status == "unknown":
            return _build_unknown_result(
                f"the solver gave up on the base case at depth {k - 1}: {base.reason}", k - 1, seconds, Verdict.UNKNOWN
            )
        if base.status == "sat":
            return _build_violation_result(claim, search.find_smallest_run(bad, base), k - 1, seconds)
        search.exclude(bad)

        start = perf_counter()
        leaves = step.extend_and_ask()
        seconds["step"] += perf_counter() - start
        report(Progress(depth=k))
        if leaves.status == "unsat":
            return _conclude_with_dead_ends(claim, k, max_k, seconds)
        if leaves.status == "unknown":
            return _build_unknown_result(f"the solver gave up on the step case at k = {k}: {leaves.reason}", k, seconds)
    what = f"{goal.name}, the lemmas and the ranges" if lemmas else f"{goal.name} and the ranges"
    detail = f"{what} are not k-inductive for any k up to {max_k}; no violation in {format_rounds(max_k - 1)}"
    return _build_unknown_result(detail, max_k, seconds)


def _build_violation_result(claim: InductionClaim, run: Run, depth: int, seconds: dict[str, float]) -> Result:
    statistics = {"depth": depth}
    last = replay_run(claim.system, run).last
    if not claim.goal.holds(last):
        detail = f"{claim.goal.name} is violated after {format_rounds(depth)}"
        return Result(Verdict.VIOLATED, detail, statistics, _build_obligations(seconds, Verdict.VIOLATED, None), run)
    violated = [helper.name for helper in claim.helpers if not helper.holds(last)]
    if not violated:
        raise InternalError("the solver's run does not violate the claim when it is replayed")
    detail = f"{', '.join(violated)} is false in a reachable state, after {format_rounds(depth)}"
    return Result(
        Verdict.NOT_INDUCTIVE, detail, statistics, _build_obligations(seconds, Verdict.NOT_INDUCTIVE, None), run
    )


def _build_unknown_result(detail: str, k: int, seconds: dict[str, float], base: Verdict = Verdict.BOUNDED) -> Result:
    return Result(Verdict.UNKNOWN, detail, {"k": k}, _build_obligations(seconds, base, Verdict.UNKNOWN))


def _build_obligations(
    seconds: dict[str, float], base: Verdict, step: Verdict | None, dead_end: Verdict | None = None
) -> tuple[Obligation, ...]:
    obligations = [Obligation("base", "base case", base, seconds["base"])]
    if step is not None:
        obligations.append(Obligation("step", "induction step", step, seconds["step"]))
    if dead_end is not None:
        obligations.append(Obligation("no-dead-end", "progress", dead_end, seconds["no-dead-end"]))
    return tuple(obligations)


def _conclude_with_dead_ends(claim: InductionClaim, k: int, depth: int, seconds: dict[str, float]) -> Result:
    """Conclude, once the claim holds in every reachable state, by showing that none of them is a dead end."""
    start = perf_counter()
    verdict, detail, run = check_no_dead_end(claim.system, claim.holds, depth)
    seconds["no-dead-end"] = perf_counter() - start
    obligations = _build_obligations(seconds, Verdict.PROVED, Verdict.PROVED, verdict)
    if verdict is Verdict.PROVED:
        lemmas = f", {len(claim.lemmas)} lemmas" if claim.lemmas else ""
        assumed = "".join(f", assuming {assumption.name}" for assumption in claim.system.assumptions)
        detail = f"{claim.goal.name}{lemmas} and the variables' ranges are {k}-inductive{assumed}"
    return Result(verdict, detail, {"k": k}, obligations, run)
