"""Liveness for fixed parameters: in every fair run, is the claim true from some time on and for good?

There are finitely many reachable states.  So if there is a counterexample, there is one that is a lasso: a stem and
then a loop with a violation in it.  The loop must be fair: each fairness condition of the system holds somewhere in it.
If there are infinitely many states, a system may declare a growing loop for the claim, which is verified instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from fdverify.engines.caps import Caps, apply_caps, can_see_past_caps
from fdverify.engines.explore import choose_caps, explore_with_caps
from fdverify.engines.growing_loop_proof import verify_growing_loop
from fdverify.engines.overflow import check_compiles
from fdverify.engines.state_graph import StateGraph
from fdverify.errors import InternalError, UsageError
from fdverify.models.system import Property, System, is_always_true
from fdverify.runs.concrete_interpreter import observe_state
from fdverify.runs.run import Run, format_rounds, replay_run
from fdverify.verdict import Obligation, Report, Result, Verdict, ignore_progress

EVERY_STATE = Property("reached", is_always_true, "every state is visited")


def live(system: System, claim: Property, unfair: bool = False, report: Report = ignore_progress) -> Result:
    """Search for a fair run (if ``unfair``, for any run) in which ``claim`` is false infinitely often."""
    start = perf_counter()
    system.compute_fixed_parameters()
    for growing in system.growing:
        if growing.breaks == claim.name:
            return verify_growing_loop(system, claim, growing)
    fairness = () if unfair else system.fairness
    caps = _choose_caps(system, (claim, *fairness))
    exploration = explore_with_caps(system, EVERY_STATE, caps, subrounds=False, depth=None, report=report)
    statistics = {"states": exploration.states, "depth": exploration.depth}

    def build_result(verdict: Verdict, detail: str, run: Run | None = None) -> Result:
        obligation = Obligation(claim.name, "liveness", verdict, perf_counter() - start)
        return Result(verdict, detail, statistics, (obligation,), run)

    if exploration.dead_end is not None:
        run = exploration.reconstruct_dead_end_run(exploration.dead_end)
        return build_result(
            Verdict.VACUOUS, f"a dead end: no step is possible after {format_rounds(len(run.rounds))}", run
        )
    graph = StateGraph(exploration)
    fair = [graph.find_states(condition, True) for condition in fairness]
    stem, loop = graph.find_lasso(graph.find_states(claim, False), fair)
    if not loop and not graph.find_lasso(graph.find_states(EVERY_STATE, True), fair)[1]:
        return build_result(Verdict.VACUOUS, "no run is fair, so the claim is vacuous")
    if not loop:
        kind = "run" if unfair else "fair run"
        return build_result(Verdict.PROVED, f"in every {kind}, {claim.name} holds from some time on")
    run = confirm_lasso(system, (claim, *fairness), caps, graph.build_run(stem, loop))
    statistics["loop"] = len(loop) - 1
    again = (
        f"a loop of {format_rounds(len(loop) - 1)}, entered after {format_rounds(len(stem) - 1)}, can go on for ever"
    )
    return build_result(Verdict.VIOLATED, f"{claim.name} is violated again and again: {again}", run)


def _choose_caps(system: System, claims: Sequence[Property]) -> Caps:
    """Return the caps for storing states; refuse a claim that sees past them."""
    caps = choose_caps(system, claims[0], horizon=0, depth=None)
    for claim in claims:
        check_compiles(system, claim)
        if caps and can_see_past_caps(system, claim, caps, {}):
            raise UsageError(f"{claim.name} depends on {' or '.join(caps)}, which is stored only up to a cap")
    return caps


def confirm_lasso(system: System, claims: Sequence[Property], caps: Caps, run: Run) -> Run:
    """Replay a lasso twice round its loop, and check that each turn is fair and has a violation; return the run."""
    assert run.loop is not None, "a lasso has a loop"
    loop = run.rounds[run.loop :]
    twice = Run(run.parameters, (*run.rounds, *loop))
    trace = replay_run(system, twice)
    states = [trace.initial, *(traced.after for traced in trace.rounds)]
    entered = [states[run.loop + turn * len(loop)] for turn in range(3)]
    if len({str(observe_state(trace.system, apply_caps(state, caps))) for state in entered}) != 1:
        raise InternalError("the loop that was found does not come back when it is replayed")
    claim, *fairness = claims
    for turn in range(2):
        in_turn = states[run.loop + turn * len(loop) :][: len(loop)]
        if all(claim.holds(state) for state in in_turn):
            raise InternalError(f"the loop that was found does not violate {claim.name} when it is replayed")
        for condition in fairness:
            if not any(condition.holds(state) for state in in_turn):
                raise InternalError(f"the loop that was found is not fair when it is replayed: {condition.name}")
    return run
