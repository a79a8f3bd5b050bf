"""k-induction: no violation in the first k states of a run, and none right after k states in a row without one.

The claim is the property together with the ranges of the variables.  The ranges strengthen the induction hypothesis, so
they are proved with the property, never assumed.  That time can go on in every state of the claim is an obligation of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from fdverify.engines.bmc import Search
from fdverify.engines.parameters import check_parameters
from fdverify.errors import InternalError
from fdverify.logic import And, Not, Truth
from fdverify.models.interpret import first_round
from fdverify.models.system import Property, State, System
from fdverify.smt.solver import Answer, FreshSolver
from fdverify.symbolic.progress import Plan, first_plans, stuck
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.symbolic.witness import read_state
from fdverify.traces.run import Run, replay, rounds
from fdverify.verdict import Obligation, Progress, Report, Result, Verdict, silent

_MOST_PLANS = 200


@dataclass(frozen=True)
class Claim:
    """The property and the ranges, proved together."""

    system: System
    goal: Property

    def holds(self, state: State) -> Truth:
        return And(self.goal.holds(state), *self.system.ranges(state).values())

    def false_ranges(self, state: State) -> list[str]:
        """Of one concrete state: the variables that are out of range."""
        return [name for name, holds in self.system.ranges(state).items() if not holds]


class Step:
    """Rounds from any state whatever, all but the last within the claim."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._unrolling = Unrolling(claim.system, anywhere=True)
        self._solver = FreshSolver()

    def leaves_claim(self) -> Answer:
        """Lengthen by one round: can it leave the claim?"""
        within = self._claim.holds(self._unrolling.states[-1])
        after = self._claim.holds(self._unrolling.extend())
        facts = self._unrolling.new_facts()
        self._solver.add([*facts, truth(within)])
        return self._solver.ask(truth(Not(after)))


def k_induction(system: System, goal: Property, max_k: int, report: Report = silent) -> Result:
    """Prove ``goal`` by k-induction with the least k up to ``max_k``, or find a run that violates it."""
    check_parameters(system)
    claim = Claim(system, goal)
    search, step = Search(system), Step(claim)
    seconds = {"base": 0.0, "step": 0.0}
    for k in range(1, max_k + 1):
        start = perf_counter()
        if k > 1:
            search.extend()
        bad = Not(claim.holds(search.state))
        base = search.ask(bad)
        seconds["base"] += perf_counter() - start
        if base.status == "unknown":
            return _gave_up(
                f"the solver gave up on the base case at depth {k - 1}: {base.reason}", k - 1, seconds, Verdict.UNKNOWN
            )
        if base.status == "sat":
            return _broken(claim, search.run(bad, base), k - 1, seconds)
        search.exclude(bad)

        start = perf_counter()
        leaves = step.leaves_claim()
        seconds["step"] += perf_counter() - start
        report(Progress(depth=k))
        if leaves.status == "unsat":
            return _proved_but_for_dead_ends(claim, k, max_k, seconds)
        if leaves.status == "unknown":
            return _gave_up(f"the solver gave up on the step case at k = {k}: {leaves.reason}", k, seconds)
    detail = (
        f"{goal.name} and the ranges are not k-inductive for any k up to {max_k}; no violation in {rounds(max_k - 1)}"
    )
    return _gave_up(detail, max_k, seconds)


def _broken(claim: Claim, run: Run, depth: int, seconds: dict[str, float]) -> Result:
    statistics = {"depth": depth}
    last = replay(claim.system, run).last
    if not claim.goal.holds(last):
        detail = f"{claim.goal.name} is violated after {rounds(depth)}"
        return Result(Verdict.VIOLATED, detail, statistics, _obligations(seconds, Verdict.VIOLATED, None), run)
    out = claim.false_ranges(last)
    if not out:
        raise InternalError("the solver's run does not leave the claim when it is replayed")
    detail = f"the declared range of {', '.join(out)} is false in a reachable state, after {rounds(depth)}"
    return Result(Verdict.NOT_INDUCTIVE, detail, statistics, _obligations(seconds, Verdict.NOT_INDUCTIVE, None), run)


def _gave_up(detail: str, k: int, seconds: dict[str, float], base: Verdict = Verdict.BOUNDED) -> Result:
    return Result(Verdict.UNKNOWN, detail, {"k": k}, _obligations(seconds, base, Verdict.UNKNOWN))


def _obligations(
    seconds: dict[str, float], base: Verdict, step: Verdict | None, dead_end: Verdict | None = None
) -> tuple[Obligation, ...]:
    found = [Obligation("base", "base case", base, seconds["base"])]
    if step is not None:
        found.append(Obligation("step", "induction step", step, seconds["step"]))
    if dead_end is not None:
        found.append(Obligation("no-dead-end", "progress", dead_end, seconds["no-dead-end"]))
    return tuple(found)


def _proved_but_for_dead_ends(claim: Claim, k: int, depth: int, seconds: dict[str, float]) -> Result:
    """The claim holds of every reachable state; what is left is that none of them is a dead end."""
    start = perf_counter()
    verdict, detail, run = _dead_end(claim, depth)
    seconds["no-dead-end"] = perf_counter() - start
    obligations = _obligations(seconds, Verdict.PROVED, Verdict.PROVED, verdict)
    if verdict is Verdict.PROVED:
        detail = f"{claim.goal.name} and the variables' ranges are {k}-inductive"
    return Result(verdict, detail, {"k": k}, obligations, run)


def _dead_end(claim: Claim, depth: int) -> tuple[Verdict, str, Run | None]:
    anywhere = Unrolling(claim.system, anywhere=True)
    state = anywhere.states[0]
    plans: list[Plan] = first_plans(claim.system)
    solver = FreshSolver()
    while len(plans) < _MOST_PLANS:
        question = truth(And(claim.holds(state), stuck(claim.system, state, plans)))
        solver.add(anywhere.new_facts())
        answer = solver.ask(question)
        if answer.status == "unsat":
            return Verdict.PROVED, "", None
        if answer.status == "unknown":
            return Verdict.UNKNOWN, f"the solver gave up on whether time can always go on: {answer.reason}", None
        plan = first_round(*read_state(anywhere, answer.value))
        if plan is None:
            return _reachable_dead_end(claim, plans, depth)
        plans.append(plan)
    return Verdict.UNKNOWN, "cannot show that every state has a next round", None


def _reachable_dead_end(claim: Claim, plans: list[Plan], depth: int) -> tuple[Verdict, str, Run | None]:
    """A state of the claim has no next round.  Is one like it reached?"""
    search = Search(claim.system)
    for length in range(depth + 1):
        if length > 0:
            search.extend()
        bad = stuck(claim.system, search.state, plans)
        answer = search.ask(bad)
        if answer.status == "sat":
            run = search.run(bad, answer)
            trace = replay(claim.system, run)
            if first_round(trace.system, trace.last) is None:
                return Verdict.VACUOUS, f"a dead end: no round is possible after these {rounds(length)}", run
    return Verdict.UNKNOWN, f"a state of the claim has no next round; not reached within {rounds(depth)}", None
