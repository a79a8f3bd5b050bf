"""Invariants found with no help: they are proofs, they are small, and what is false is refuted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fdverify.detectors.model_catalogue import find_model
from fdverify.invariant_search import inference
from fdverify.invariant_search.inference import infer_invariant
from fdverify.invariant_search.search_methods import (
    METHODS,
    Finding,
    InferredProof,
    NoInvariant,
    search_templates,
)
from fdverify.model_check.check_request import CheckRequest
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.runs.run import replay_run
from fdverify.verdict import Verdict
from tests.sampling import every

EXAMPLES = Path(__file__).parents[2] / "examples"
LEAST = {"tla": "3*phi+delta", "ivy": "3*phi+delta+1"}
GUARDS = [(variant, guard) for variant in ("ivy", "tla") for guard in (LEAST[variant], "6*phi+delta")]
SEEDS = range(3)


def job(claim: str = "strong-accuracy", model: str = "chandra-toueg", **options: Any) -> CheckRequest:
    defaults = {option.name: option.default for option in find_model(model).options}
    return CheckRequest("infer", model, {"delta": None, "phi": None}, {**defaults, **options}, claim)


def silent(text: str) -> None:
    """Nobody watches."""


def written(finding: Finding, folder: Path) -> Path:
    assert isinstance(finding, InferredProof), finding
    path = folder / "inferred.py"
    path.write_text(finding.text)
    return path


CASES = [(*guard, seed) for guard in GUARDS for seed in SEEDS]


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "guard", "seed"), CASES)
def test_accuracy_is_inferred_for_all_parameters(variant: str, guard: str, seed: int, tmp_path: Path) -> None:
    found = infer_invariant(job(variant=variant, timeout=guard), ("templates", "spacer"), seed, None, silent)
    assert found.result.verdict is Verdict.PROVED
    assert found.text is not None
    path = tmp_path / "inferred.py"
    path.write_text(found.text)
    (result,) = check_proofs([path], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED
    proof = load_proof(path)
    assert (proof.options.get("variant", "tla"), len(proof.predicates()) <= 8) == (variant, True)


@pytest.mark.slow
def test_templates_give_few_and_readable_conjuncts_none_of_which_is_spare(tmp_path: Path) -> None:
    path = written(search_templates(job(variant="ivy", timeout="3*phi+delta+1"), 0), tmp_path)
    invariant = load_proof(path).build_invariant({}, {})
    assert len(invariant.authored) <= 8
    assert max(map(len, path.read_text().splitlines())) <= 120
    for conjunct in invariant.authored:
        fewer = replace(invariant, authored=tuple(each for each in invariant.authored if each is not conjunct))
        assert failing(fewer), conjunct.name


def failing(invariant: Any) -> list[str]:
    from fdverify.obligations.inductive import build_obligations
    from fdverify.smt.decide import decide_script

    return [
        question.name for question in build_obligations(invariant) if decide_script(question.script).status != "unsat"
    ]


@pytest.mark.parametrize("guard", every(3, ["3*phi+delta-1", "2*phi+delta", "3*phi"]))
def test_a_guard_that_is_too_small_is_refuted(guard: str) -> None:
    asked = job(timeout=guard)
    found = infer_invariant(asked, ("templates", "spacer"), 0, None, silent)
    assert (found.result.verdict, found.text) == (Verdict.VIOLATED, None)
    assert found.result.run is not None
    system = asked.build_system()
    assert not system.find_property("strong-accuracy").holds(replay_run(system, found.result.run).last)


def test_a_guard_that_is_too_small_far_out_only_is_refuted() -> None:
    asked = job(timeout="max(3*phi+delta-2, 11)")
    found = infer_invariant(asked, ("templates",), 0, None, silent)
    assert found.result.verdict is Verdict.VIOLATED
    assert found.result.run is not None
    assert found.result.run.parameters["initial_timeout"] >= 11


TOO_WEAK = """
from fdverify.logic import Not
from fdverify.proofs import Proof

proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")


@proof.invariant
def not_suspected(s):
    \"\"\"Always not suspected.\"\"\"
    return Not(s.suspected)
"""


def too_weak(job: CheckRequest, seed: int) -> Finding:
    return InferredProof(TOO_WEAK, 1)


def test_what_is_found_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "spacer", too_weak)
    found = infer_invariant(job(variant="ivy"), ("spacer",), 0, None, silent)
    assert (found.result.verdict, found.text) == (Verdict.UNKNOWN, None)
    assert "does not pass as a proof" in found.result.detail


@pytest.mark.slow
def test_where_one_is_not_believed_the_other_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "spacer", too_weak)
    asked = job(variant="ivy", timeout="3*phi+delta+1")
    found = infer_invariant(asked, ("spacer", "templates"), 0, None, silent)
    assert (found.result.verdict, "found by templates" in found.result.detail) == (Verdict.PROVED, True)


def tired(job: CheckRequest, seed: int) -> Finding:
    return NoInvariant("tired")


def test_nothing_found_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "spacer", tired)
    monkeypatch.setattr(inference, "search_violation", tired)
    found = infer_invariant(job(), ("spacer",), 0, None, silent)
    assert (found.result.verdict, found.text) == (Verdict.UNKNOWN, None)
    assert "spacer: tired" in found.result.detail


@pytest.mark.slow
def test_a_property_of_ones_own_model(tmp_path: Path) -> None:
    asked = job("strong-accuracy", f"{EXAMPLES / 'own_property.py'}:DETECTOR", variant="ivy", timeout="3*phi+delta+1")
    path = written(search_templates(asked, 0), tmp_path)
    (result,) = check_proofs([path], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


@pytest.mark.slow
def test_fixed_parameters_are_assumed_in_the_file(tmp_path: Path) -> None:
    asked = replace(job(variant="ivy", timeout="3*phi+delta+1"), parameters={"delta": 2, "phi": None})
    path = written(search_templates(asked, 0), tmp_path)
    assert "return s.delta == 2" in path.read_text()
    (result,) = check_proofs([path], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED


JUMPING = """
from fdverify import Amount, And, Integers, Max, Min, Model, Parameter, Phase, Property, System, Variable, update

PARAMETERS = (Parameter("wall", least=0, value=None),)


def build(wall):
    return System(
        name="jumping",
        options={},
        parameters=(Parameter("wall", least=0, value=wall),),
        variables=(
            Variable("x", Integers(), lambda s: 0, range=lambda s: RANGE),
            Variable("last", Integers(), lambda s: 0),
        ),
        phases=(
            Phase(
                "jump",
                lambda s, c: update(x=s.x + c.by, last=c.by),
                (Amount("by", lambda s: -s.x, lambda s: s.wall - s.x),),
            ),
        ),
        properties=(Property("inside", lambda s: s.x <= s.wall, "it stays before the wall"),),
    )


JUMPING = Model("jumping", "a random walk", PARAMETERS, (), "inside", build)
"""


@pytest.mark.parametrize("range_of_x", ["And(s.x >= 0, s.x <= s.wall)", "s.x >= 0"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_choice_of_numbers_and_a_variable_that_nothing_reads(method: str, range_of_x: str, tmp_path: Path) -> None:
    """Where the ranges are enough, there is a proof nevertheless."""
    model = tmp_path / "jumping.py"
    model.write_text(JUMPING.replace("RANGE", range_of_x))
    asked = CheckRequest("infer", f"{model}:JUMPING", {"wall": None}, {}, "inside")
    found = infer_invariant(asked, (method,), 0, None, silent)
    assert found.result.verdict is Verdict.PROVED, found.result.detail
    assert found.text is not None
    path = tmp_path / "inferred.py"
    path.write_text(found.text)
    (result,) = check_proofs([path], ProofSettings(cache=False))
    assert result.verdict is Verdict.PROVED
