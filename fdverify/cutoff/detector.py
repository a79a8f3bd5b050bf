"""What is shown of the Chandra-Toueg detector beyond the lemmas: that one sender and one receiver tell of a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import z3

from fdverify.cutoff.chandra_toueg import Watch, capped, next_watch
from fdverify.cutoff.check import Carried, Checked, decided
from fdverify.cutoff.rounds import Rounds
from fdverify.cutoff.simulation import ACTIVE, IDLE, LAST_STEP, STEPS, STEPS_SINCE_SENT, Case, cases, simulated
from fdverify.cutoff.template import Location
from fdverify.engines.inductive import Invariant, Kind, questions
from fdverify.errors import UsageError, nearby
from fdverify.liveness.argument import Argument
from fdverify.liveness.detector_premises import has_crash_clock
from fdverify.logic import And, Iff, Not, Truth
from fdverify.models.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.chandra_toueg.phases import PARTIAL_SYNCHRONY, VARIANTS, SenderPc
from fdverify.models.user_files import neighbours_importable
from fdverify.proofs.files import load_proof, proof_files
from fdverify.proofs.proof import Proof
from fdverify.proofs.shipped import FOLDER
from fdverify.smt.decide import decide
from fdverify.smt.script import Script, printed
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import Bool, Int, truth
from fdverify.verdict import Verdict

_PAPER = "section 7.1"


def check_detector(variant: str, rounds: Rounds, second: str | None, report: Callable[[Checked], None]) -> None:
    """That every round of a pair is one of the model, step by step of the receiver."""
    report(_cap(variant, second))
    for same, location, does in product((False, True), STEPS, (IDLE, ACTIVE)):
        report(check_simulation(variant, location, does, same, rounds, second))


def check_simulation(
    variant: str, location: Location, does: str, same: bool, rounds: Rounds, second: str | None
) -> Checked:
    """That every round in which the receiver, there, does this is one of the model."""
    begun = perf_counter()
    who = "itself" if same else "another process"
    found = Checked(
        f"simulation-{'self' if same else 'other'}.{location}.{does}",
        _PAPER,
        f"a round of a receiver, {does} at {location}, that watches {who} is one of the {variant} model",
        Verdict.PROVED,
        0.0,
    )
    for case in cases(location, does, same):
        found = _with_case(found, case, variant, rounds, second)
    return replace(found, seconds=perf_counter() - begun)


def _with_case(found: Checked, case: Case, variant: str, rounds: Rounds, second: str | None) -> Checked:
    """What is known once one more case is decided; the first that fails is told."""
    if found.verdict is not Verdict.PROVED:
        return found
    spelled = simulated(case, variant, rounds)
    hypotheses = [truth(each) for each in (*spelled.facts, *spelled.hypotheses)]
    negated = truth(Not(And(*spelled.conclusions.values())))
    this = decided(found, hypotheses, negated, z3.BoolVal(True), second)
    if this.verdict is Verdict.VIOLATED:
        return replace(this, detail=_told(case, hypotheses, spelled.conclusions))
    return this


def _told(case: Case, hypotheses: list[Any], conclusions: Mapping[str, Truth]) -> str:
    """What fails in a case, and for which numbers."""
    # In a context of its own, the model does not depend on what else was computed before.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.add(*(hypothesis.translate(context) for hypothesis in hypotheses))
    for name, holds in conclusions.items():
        if solver.check(truth(Not(holds)).translate(context)) == z3.sat:
            model = solver.model()
            numbers = [each for each in model.decls() if each.arity() == 0 and "!" not in each.name()]
            values = sorted(f"{each.name()} = {model[each]}" for each in numbers)
            return f"{case.name}: {name} differs, where {', '.join(values)}"
    return f"{case.name}: differs"


def _cap(variant: str, second: str | None) -> Checked:
    """That the explorer may forget how far a waiting time is past the timeout."""
    begun = perf_counter()
    watch = Watch(Int(z3.Int("timeout")), Bool(z3.Bool("suspected")), Int(z3.Int("waiting_time")))
    heard = Bool(z3.Bool("heard"))
    rules = VARIANTS[variant]
    same = []
    for location in STEPS:
        one = capped(next_watch(rules, location, heard, watch))
        other = capped(next_watch(rules, location, heard, capped(watch)))
        same += [one.timeout == other.timeout, Iff(one.suspected, other.suspected)]
        same.append(one.waiting_time == other.waiting_time)
    found = Checked(
        "waiting-time-cap",
        _PAPER,
        "a process behaves the same whether or not its waiting time stops at the timeout",
        Verdict.PROVED,
        0.0,
    )
    hypotheses = [truth(watch.timeout >= 1), truth(watch.waiting_time >= 0)]
    found = decided(found, hypotheses, truth(Not(And(*same))), z3.BoolVal(True), second)
    return replace(found, seconds=perf_counter() - begun)


def starts(variant: str, start: Location) -> dict[str, int]:
    """Where the model is when two processes start: not where its own runs start, but for one variant and one start."""
    rests = VARIANTS[variant].least_idle_before_send > 0
    return {"sender_timer": STEPS_SINCE_SENT[start] if rests else 0, "receiver_pc": LAST_STEP[start]}


def check_carried(variant: str, start: Location, paths: Sequence[Path], report: Callable[[Carried], None]) -> None:
    """Which of these proofs, by default of the shipped ones, are proofs of two processes as well.

    A round of a pair is a round of the model, so an invariant that no round leaves is left by none of a pair.  What
    is left to show is that it holds where the pair starts.
    """
    for path in proof_files(paths or [FOLDER]):
        proof = load_proof(path)
        reason = _not_about(proof, path, variant)
        if reason is not None and paths:
            raise UsageError(f"{nearby(path)} is {reason}", "the simulation says nothing of it")
        if reason is not None:
            continue
        invariant = proof.at({}, {"variant": variant})
        with neighbours_importable(path):
            asked = questions(_started(invariant, starts(variant, start)))
        answers = [
            (question.about, decide(question.script, core=False).status)
            for question in asked
            if question.kind is Kind.INITIATION
        ]
        false = tuple(about for about, status in answers if status == "sat")
        undecided = tuple(about for about, status in answers if status not in ("sat", "unsat"))
        report(Carried(path.stem, invariant.goal.name, false, undecided, _until_crash(invariant)))


def _until_crash(invariant: Invariant) -> bool:
    """Whether a proof says nothing of the rounds after the sender's crash: its model has none, and its goal needs them.

    A goal that is true of every state in which the sender has crashed needs none.
    """
    if has_crash_clock(invariant.system):
        return False
    goal = invariant.goal.claims[-1] if isinstance(invariant.goal, Argument) else invariant.goal
    state = Unrolling(invariant.system, anywhere=True).states[0].changed({"sender_pc": SenderPc.Crashed})
    (negated,) = printed([truth(Not(goal.holds(state)))])
    return decide(Script(f"{goal.name} after a crash", (), (), negated), core=False).status != "unsat"


def _not_about(proof: Proof, path: Path, variant: str) -> str | None:
    """Why a proof is not about the model that the simulation is about, if so."""
    if proof.model is not CHANDRA_TOUEG:
        return f"about another model, {proof.model.name}"
    if proof.options.get("computation", PARTIAL_SYNCHRONY) != PARTIAL_SYNCHRONY:
        return f"about {proof.options['computation']}"
    others = [name for name in VARIANTS if name != variant]
    return next((f"about the {name} variant" for name in others if path.stem.endswith(f"_{name}")), None)


def _started(invariant: Invariant, values: Mapping[str, int]) -> Invariant:
    def initial(value: int) -> Callable[[object], int]:
        return lambda s: value

    variables = tuple(
        replace(variable, initial=initial(values[variable.name])) if variable.name in values else variable
        for variable in invariant.system.variables
    )
    return replace(invariant, system=replace(invariant.system, variables=variables))
