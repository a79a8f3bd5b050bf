"""From N processes to one sender and one receiver: the simulation, and what is wrong without each part of it."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import z3

from fdverify.cutoff import detector_lemmas, pair_simulation
from fdverify.cutoff.answer import CutoffAnswer, CutoffQuestion
from fdverify.cutoff.chandra_toueg_template import LOCATIONS, PeerWatch, update_watch
from fdverify.cutoff.lemma_check import CarriedProof, LemmaResult
from fdverify.cutoff.pair_simulation import (
    ACTIVE,
    IDLE,
    STEPS,
    SimulationCase,
    build_obligation,
    enumerate_cases,
)
from fdverify.cutoff.report import report_cutoff
from fdverify.cutoff.rounds import DELIVERY, SPEED, Choices, Configuration, Interpretation, Rounds, Step
from fdverify.detectors.chandra_toueg.round_phases import VARIANTS, Variant
from fdverify.errors import UsageError
from fdverify.logic import Not, Truth
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.reports.step_table import render_text
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Verdict
from tests.sampling import every

PAPERS = {"eventually_strong_accuracy", "strong_accuracy", "eventual_trust", "lasting_suspicion"} | {
    f"strong_completeness_{timeout}_timeout" for timeout in ("any", "big", "fixed")
}


def checked_detector(variant: str, rounds: Rounds, second: str | None = None) -> dict[str, LemmaResult]:
    found: list[LemmaResult] = []
    detector_lemmas.check_detector_lemmas(variant, rounds, second, found.append)
    return {each.name: each for each in found}


@pytest.mark.slow
@pytest.mark.parametrize("variant", every(2, VARIANTS))
def test_every_round_of_a_pair_is_one_of_the_model(variant: str) -> None:
    found = checked_detector(variant, Rounds(), "cvc5")
    assert {each.verdict for each in found.values()} == {Verdict.PROVED}
    assert {each.second_opinion for each in found.values()} == {"agrees"}
    assert len(found) == 13


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_case_is_vacuous(variant: str) -> None:
    for location, does in product(STEPS, (IDLE, ACTIVE)):
        for case in enumerate_cases(location, does, same=False):
            spelled = build_obligation(case, variant, Rounds())
            solver = z3.Solver()
            solver.add(*(lift_truth(each) for each in (*spelled.facts, *spelled.hypotheses)))
            assert solver.check() == z3.sat, case.name


class Without(Rounds):
    """The rounds without a constraint."""

    def __init__(self, constraint: str) -> None:
        self._constraint = constraint

    def _left_out(self, step: Step) -> Step:
        return replace(step, rules={name: rule for name, rule in step.rules.items() if name != self._constraint})

    def schedule(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        return self._left_out(super().schedule(of, c, chosen))

    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        return self._left_out(super().receive(of, c, chosen))


def fails(case: SimulationCase, variant: str, rounds: Rounds) -> set[str]:
    """What of a round of a pair is not so in the model."""
    spelled = build_obligation(case, variant, rounds)
    solver = z3.Solver()
    solver.add(*(lift_truth(each) for each in (*spelled.facts, *spelled.hypotheses)))
    return {name for name, holds in spelled.conclusions.items() if solver.check(lift_truth(Not(holds))) == z3.sat}


def test_without_a_bound_there_are_rounds_that_the_model_has_not() -> None:
    receives, rests = enumerate_cases("receive", ACTIVE, same=False)[0], enumerate_cases("send", IDLE, same=False)[0]
    for variant in VARIANTS:
        assert "buffer" in fails(receives, variant, Without(DELIVERY))
        assert "the round is allowed" in fails(rests, variant, Without(SPEED))
        assert not fails(receives, variant, Rounds())


def test_a_round_that_is_none_of_the_model_is_told_with_its_numbers() -> None:
    found = detector_lemmas.check_simulation("tla", "send", IDLE, False, Without(SPEED), None)
    assert found.verdict is Verdict.VIOLATED
    assert re.search(r"the round is allowed differs, where .*phi = 1", found.detail)


def test_a_detector_that_waits_otherwise_is_not_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(variant: Variant, location: str, heard: Truth, watch: PeerWatch) -> PeerWatch:
        after = update_watch(variant, location, heard, watch)
        return after._replace(timeout=after.timeout + 1) if location == "compute" else after

    monkeypatch.setattr(pair_simulation, "update_watch", eager)
    assert fails(enumerate_cases("compute", ACTIVE, same=True)[0], "tla", Rounds()) == {"timeout"}
    assert not fails(enumerate_cases("send", ACTIVE, same=True)[0], "tla", Rounds())


STARTS = [("tla", "send"), ("ivy", "send"), ("tla", "receive"), ("ivy", "receive")]


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "start"), STARTS)
def test_the_papers_proofs_are_of_n_processes_and_the_tight_ones_mostly_not(variant: str, start: str) -> None:
    found: list[CarriedProof] = []
    detector_lemmas.check_carried_proofs(variant, start, (), found.append)
    holds = {each.proof for each in found if each.holds_at_start}
    tight = {each.proof for each in found} - PAPERS
    assert len(tight) == 3
    assert holds == (PAPERS | tight if (variant, start) == ("ivy", "receive") else PAPERS)


ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize(("variant", "name"), [("tla", "safe_timeout.py"), ("ivy", "safe_timeout_ivy.py")])
def test_a_proof_that_says_nothing_of_the_phase_carries_over_wherever_processes_start(variant: str, name: str) -> None:
    (proved,) = check_proofs([EXAMPLES / name], ProofSettings(cache=False, jobs=1), lambda stage: None)
    assert proved.verdict is Verdict.PROVED
    for start in LOCATIONS:
        found: list[CarriedProof] = []
        detector_lemmas.check_carried_proofs(variant, start, [EXAMPLES / name], found.append)
        assert [each.holds_at_start for each in found] == [True]


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        (EXAMPLES / "gst" / "accuracy_delayed.py", "is about another model"),
        (ROOT / "invariants" / "asynchronous_completeness.py", "is about asynchrony"),
        (ROOT / "invariants" / "tight_accuracy_ivy.py", "is about the ivy variant"),
    ],
)
def test_a_proof_of_something_else_is_refused(proof: Path, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        detector_lemmas.check_carried_proofs("tla", "send", [proof], lambda carried: None)


NEVER = '''
from fdverify.logic import Not
from fdverify.proofs import Proof

proof = Proof("chandra-toueg", timeout="any"{options})

@proof.goal
def never(s):
    """Nobody is suspected."""
    return Not(s.suspected)

@proof.invariant
def trusted(s):
    """Nobody is suspected."""
    return Not(s.suspected)
'''


@pytest.mark.parametrize(("options", "until_crash"), [("", True), (", crash=True", False)])
def test_of_a_model_without_crashes_nothing_is_known_after_one(tmp_path: Path, options: str, until_crash: bool) -> None:
    path = tmp_path / "never.py"
    path.write_text(NEVER.format(options=options))
    found: list[CarriedProof] = []
    detector_lemmas.check_carried_proofs("tla", "send", [path], found.append)
    assert found == [CarriedProof("never", "never", (), (), until_crash)]


def test_what_a_solver_does_not_know_is_neither_true_nor_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector_lemmas, "decide_script", lambda script, core: SimpleNamespace(status="unknown"))
    found: list[CarriedProof] = []
    detector_lemmas.check_carried_proofs("tla", "send", [EXAMPLES / "safe_timeout.py"], found.append)
    (carried,) = found
    assert not carried.holds_at_start
    assert carried.false_at_start == ()
    question = CutoffQuestion("chandra-toueg", {}, None, None, None, ())
    answer = CutoffAnswer(carried=found)
    assert answer.exit_code == 3
    told = render_text(report_cutoff(question, {}, answer, 0.0).render)
    assert "with these holds of N processes" not in told
    assert "of one sender and one receiver only: safe_timeout; where N processes start, whether " in told
    assert told.index(" holds is not decided") > told.index(carried.undecided_at_start[-1])


def test_of_the_shipped_proofs_one_needs_that_nobody_crashes() -> None:
    found: list[CarriedProof] = []
    detector_lemmas.check_carried_proofs("ivy", "receive", (), found.append)
    assert [each.proof for each in found if each.until_crash] == ["tight_suspicions_ivy"]
