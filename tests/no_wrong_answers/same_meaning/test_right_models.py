"""Right models and proofs pass: all that ships, the examples, and what was once refused wrongly."""

from pathlib import Path
from typing import Any

import pytest

from fdverify.author_code.author_check import build_claim_calls, build_plan_calls
from fdverify.author_code.author_functions import AuthorCall
from fdverify.author_code.system_comparison import compare_on_states
from fdverify.detectors.model_catalogue import find_model
from fdverify.models.system import Property, StepProperty, System
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import list_proof_files, load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.verdict import Verdict
from tests.sampling import every

ROOT = Path(__file__).parents[3]
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"variant": "ivy", "crash": True},
    {"crash": True, "timeout": "any"},
    {"computation": "asynchrony", "crash": True},
    {"variant": "ivy", "timeout": "any", "computation": "synchrony"},
)
PARAMETERS: tuple[dict[str, int | None], ...] = (
    {"delta": None, "phi": None},
    {"delta": 0, "phi": 1},
    {"delta": 2, "phi": None},
    {"delta": 3, "phi": 2},
)


def everything(system: System) -> None:
    """Compare all functions, also those that ship."""
    claims = [each for each in (*system.properties, *system.liveness) if isinstance(each, Property)]
    compare_on_states(system, [*build_claim_calls("property", claims), *build_plan_calls(system)], everything=True)


@pytest.mark.parametrize(
    ("options", "parameters"), every(3, [(options, parameters) for options in OPTIONS for parameters in PARAMETERS])
)
@pytest.mark.parametrize("buffer", [None, "counter"])
def test_the_shipped_detector_means_the_same_to_all(
    options: dict[str, Any], parameters: dict[str, int | None], buffer: str | None
) -> None:
    model = find_model("chandra-toueg")
    if buffer is not None and parameters["delta"] is None:
        buffer = "predicate"
    if options.get("computation") == "synchrony":
        parameters = {**parameters, "phi": None}
    defaults = {option.name: option.default for option in model.options}
    everything(model.instantiate(parameters, {**defaults, **options, "buffer": buffer}))


EXAMPLES = [
    *(
        f"examples/broken_detectors.py:{name}"
        for name in ("LOSSY", "SLEEPY_RECEIVER", "LATE_SENDER", "HASTY_RECEIVER", "STUBBORN", "TRUSTING")
    ),
    *(f"examples/broken_detectors.py:{name}" for name in ("LAZY_RECEIVER", "FORGETFUL", "STOPPING", "LATE_AGEING")),
    "examples/own_property.py:DETECTOR",
    "examples/doubling/_doubling.py:DOUBLING",
    "examples/gst/_detector.py:DELAYED",
    "examples/gst/_detector.py:LOSSY",
    "examples/ping_pong/_ping_pong.py:PING_PONG",
    "fdverify/templates/model.py:DETECTOR",
]


@pytest.mark.parametrize("reference", every(3, EXAMPLES))
def test_models_of_examples_mean_the_same_to_all(reference: str) -> None:
    model = find_model(f"{ROOT / reference}")
    options = {option.name: option.default for option in model.options}
    switches: tuple[dict[str, bool], ...] = ({}, {"crash": True})
    for chosen in switches:
        if set(chosen) <= set(options):
            everything(model.instantiate({p.name: None for p in model.parameters}, {**options, **chosen}))


SHIPPED = list_proof_files([ROOT / "invariants"])


@pytest.mark.parametrize("path", every(4, SHIPPED), ids=[path.stem for path in every(4, SHIPPED)])
def test_shipped_proofs_mean_the_same_to_all(path: Path) -> None:
    proof = load_proof(path)
    invariant = proof.build_invariant({}, {})
    steps = [each for each in invariant.conclusions if isinstance(each, StepProperty)]
    premises = [each for each in invariant.conclusions if each not in steps]
    called = [
        *proof.list_author_functions(invariant),
        *(AuthorCall.from_state_function("premise", p.name, p.holds) for p in premises),  # type: ignore[arg-type]
    ]
    compare_on_states(invariant.system, called, everything=True)


CONSTANT = """
from fdverify.logic import If, Not
from fdverify.models.model import Model
from fdverify.models.system import Flag, Flags, Integers, Phase, Property, System, Variable, update
from fdverify.proofs import Proof

OFF = Property("off", lambda s: Not(s.f), "it is off")


def build():
    return System(
        name="off",
        options={},
        parameters=(),
        variables=(Variable("f", Flags(), lambda s: False), Variable("x", Integers(), lambda s: 0)),
        phases=(Phase("step", lambda s, c: update(f=False, x=If(c.go, 1 - s.x, s.x)), (Flag("go"),)),),
        properties=(OFF,),
    )


proof = Proof(Model("off", "off", (), (), "off", build), goal="off")


@proof.invariant
def stays_off(s):
    '''It is off.'''
    return Not(s.f)
"""


def test_a_phase_that_sets_a_constant_is_no_slip(tmp_path: Path) -> None:
    path = tmp_path / "constant.py"
    path.write_text(CONSTANT)
    (result,) = check_proofs([path], ProofSettings(jobs=1, cache=False))
    assert result.error is None
    assert result.verdict is Verdict.PROVED
