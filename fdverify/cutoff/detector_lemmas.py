"""Lemmas about the Chandra-Toueg detector: the model with one sender and one receiver simulates a pair of processes.

They also tell which proofs about that model carry over to N processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import z3

from fdverify.cutoff.chandra_toueg_template import PeerWatch, cap_waiting_time, update_watch
from fdverify.cutoff.lemma_check import CarriedProof, LemmaResult, decide_lemma
from fdverify.cutoff.pair_simulation import (
    ACTIVE,
    IDLE,
    LAST_STEP,
    STEPS,
    STEPS_SINCE_SENT,
    SimulationCase,
    build_obligation,
    enumerate_cases,
)
from fdverify.cutoff.rounds import Rounds
from fdverify.cutoff.template import Location
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.detectors.chandra_toueg.round_phases import PARTIAL_SYNCHRONY, VARIANTS, SenderPc
from fdverify.errors import UsageError, shorten_path
from fdverify.liveness.argument import Argument
from fdverify.liveness.detector_premises import has_crash_clock
from fdverify.logic import And, Iff, Not, Truth
from fdverify.models.loading import allow_neighbour_imports
from fdverify.obligations.inductive import Invariant, build_obligations
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import list_proof_files, load_proof
from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER
from fdverify.smt.decide import decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Script
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Bool, Int, lift_truth
from fdverify.verdict import Verdict

_PAPER = "section 7.1"


def check_detector_lemmas(
    variant: str, rounds: Rounds, second: str | None, report: Callable[[LemmaResult], None]
) -> None:
    """Check that the model simulates every round of a pair, for each location and action of the receiver."""
    report(_check_cap(variant, second))
    for same, location, does in product((False, True), STEPS, (IDLE, ACTIVE)):
        report(check_simulation(variant, location, does, same, rounds, second))


def check_simulation(
    variant: str, location: Location, does: str, same: bool, rounds: Rounds, second: str | None
) -> LemmaResult:
    """Check that the model simulates every round in which the receiver is at this location and idle or active."""
    start = perf_counter()
    who = "itself" if same else "another process"
    result = LemmaResult(
        f"simulation-{'self' if same else 'other'}.{location}.{does}",
        _PAPER,
        f"the {variant} model simulates every round of a receiver that is {does} at {location} and watches {who}",
        Verdict.PROVED,
        0.0,
    )
    for case in enumerate_cases(location, does, same):
        result = _decide_case(result, case, variant, rounds, second)
    return replace(result, seconds=perf_counter() - start)


def _decide_case(
    result: LemmaResult, case: SimulationCase, variant: str, rounds: Rounds, second: str | None
) -> LemmaResult:
    """Decide one more case, unless an earlier one failed."""
    if result.verdict is not Verdict.PROVED:
        return result
    simulation = build_obligation(case, variant, rounds)
    hypotheses = [lift_truth(hypothesis) for hypothesis in (*simulation.facts, *simulation.hypotheses)]
    negated = lift_truth(Not(And(*simulation.conclusions.values())))
    result = decide_lemma(result, hypotheses, negated, z3.BoolVal(True), second)
    if result.verdict is Verdict.VIOLATED:
        return replace(result, detail=_describe_failure(case, hypotheses, simulation.conclusions))
    return result


def _describe_failure(case: SimulationCase, hypotheses: list[Any], conclusions: Mapping[str, Truth]) -> str:
    """Describe the conclusion that fails in a case, with the values of a counterexample."""
    # A fresh context makes the model independent of earlier computations.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.add(*(hypothesis.translate(context) for hypothesis in hypotheses))
    for name, holds in conclusions.items():
        if solver.check(lift_truth(Not(holds)).translate(context)) == z3.sat:
            model = solver.model()
            constants = [symbol for symbol in model.decls() if symbol.arity() == 0 and "!" not in symbol.name()]
            values = sorted(f"{symbol.name()} = {model[symbol]}" for symbol in constants)
            return f"{case.name}: {name} differs, where {', '.join(values)}"
    return f"{case.name}: differs"


def _check_cap(variant: str, second: str | None) -> LemmaResult:
    """Check that capping the waiting time at the timeout changes no later step, so that the explorer may cap it."""
    start = perf_counter()
    watch = PeerWatch(Int(z3.Int("timeout")), Bool(z3.Bool("suspected")), Int(z3.Int("waiting_time")))
    heard = Bool(z3.Bool("heard"))
    rules = VARIANTS[variant]
    same = []
    for location in STEPS:
        one = cap_waiting_time(update_watch(rules, location, heard, watch))
        other = cap_waiting_time(update_watch(rules, location, heard, cap_waiting_time(watch)))
        same += [one.timeout == other.timeout, Iff(one.suspected, other.suspected)]
        same.append(one.waiting_time == other.waiting_time)
    result = LemmaResult(
        "waiting-time-cap",
        _PAPER,
        "a process behaves the same whether or not its waiting time stops at the timeout",
        Verdict.PROVED,
        0.0,
    )
    hypotheses = [lift_truth(watch.timeout >= 1), lift_truth(watch.waiting_time >= 0)]
    result = decide_lemma(result, hypotheses, lift_truth(Not(And(*same))), z3.BoolVal(True), second)
    return replace(result, seconds=perf_counter() - start)


def find_start_values(variant: str, start: Location) -> dict[str, int]:
    """Return the values in the model's state that corresponds to the start of a pair.

    The model's own runs start there only for one variant and one start.
    """
    rests = VARIANTS[variant].least_idle_before_send > 0
    return {"sender_timer": STEPS_SINCE_SENT[start] if rests else 0, "receiver_pc": LAST_STEP[start]}


def check_carried_proofs(
    variant: str, start: Location, paths: Sequence[Path], report: Callable[[CarriedProof], None]
) -> None:
    """Report which of these proofs, by default the shipped ones, carry over to a pair of processes.

    The model simulates every round of a pair, so an invariant that is inductive in the model is preserved by the pair.
    It remains to show that the invariant holds where the pair starts.
    """
    for path in list_proof_files(paths or [SHIPPED_FOLDER]):
        proof = load_proof(path)
        reason = _find_mismatch(proof, variant)
        if reason is not None and paths:
            raise UsageError(f"{shorten_path(path)} is {reason}", "the simulation lemmas do not apply to it")
        if reason is not None:
            continue
        invariant = proof.build_invariant({}, {"variant": variant})
        with allow_neighbour_imports(path):
            obligations = build_obligations(_replace_initial_values(invariant, find_start_values(variant, start)))
        answers = [
            (question.about, decide_script(question.script, core=False).status)
            for question in obligations
            if question.kind is ObligationKind.INITIATION
        ]
        false = tuple(about for about, status in answers if status == "sat")
        undecided = tuple(about for about, status in answers if status not in ("sat", "unsat"))
        report(CarriedProof(path.stem, invariant.goal.name, false, undecided, _is_until_crash(invariant)))


def _is_until_crash(invariant: Invariant) -> bool:
    """Return whether a proof says nothing about the rounds after the sender's crash.

    That is so if its model has no crashes and its goal does not hold in every state with a crashed sender.
    """
    if has_crash_clock(invariant.system):
        return False
    goal = invariant.goal.claims[-1] if isinstance(invariant.goal, Argument) else invariant.goal
    state = Unrolling(invariant.system, anywhere=True).states[0].changed({"sender_pc": SenderPc.Crashed})
    (negated,) = print_assertions([lift_truth(Not(goal.holds(state)))])
    return decide_script(Script(f"{goal.name} after a crash", (), (), negated), core=False).status != "unsat"


def _find_mismatch(proof: Proof, variant: str) -> str | None:
    """Return why the simulation lemmas do not apply to a proof, or ``None`` if they do."""
    if proof.model is not CHANDRA_TOUEG:
        return f"about another model, {proof.model.name}"
    if proof.options.get("computation", PARTIAL_SYNCHRONY) != PARTIAL_SYNCHRONY:
        return f"about {proof.options['computation']}"
    if proof.variants and variant not in proof.variants:
        return f"about the {' or '.join(proof.variants)} variant"
    return None


def _replace_initial_values(invariant: Invariant, values: Mapping[str, int]) -> Invariant:
    """Give the invariant's system these initial values."""

    def make_initial(value: int) -> Callable[[object], int]:
        return lambda s: value

    variables = tuple(
        replace(variable, initial=make_initial(values[variable.name])) if variable.name in values else variable
        for variable in invariant.system.variables
    )
    return replace(invariant, system=replace(invariant.system, variables=variables))
