"""Every command takes a detector of the user's own, with two channels, and speaks of its processes by their names."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from fdverify.bounds.detector_instance import find_initial_timeout
from fdverify.detectors.model_catalogue import find_model
from fdverify.invariant_search.clause import Clause, FlagIs, LabelIs
from fdverify.invariant_search.proof_writer import list_required_lines, render_conjunct
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.loading import load_module
from fdverify.schemas import find_schema
from tests.cli.script import found, run
from tests.sampling import every

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "ping_pong"
MODEL = f"{FOLDER / '_ping_pong.py'}:PING_PONG"
SMALL = ("--delta", "1", "--phi", "2")
RUNS = {
    "explore": ("proved", ("explore", MODEL, *SMALL)),
    "explore, crash": ("proved", ("explore", MODEL, *SMALL, "--crash", "--property", "strong-completeness")),
    "explore, sub-rounds": ("violated", ("explore", MODEL, *SMALL, "--timeout", "5", "--subrounds")),
    "bmc": ("violated", ("bmc", MODEL, "--timeout", "2")),
    "bmc, bounded": ("bounded", ("bmc", MODEL, "--delta", "2", "--depth", "6", "--crash")),
    "induct": ("unknown", ("induct", MODEL, *SMALL, "--max-k", "2")),
    "live": ("proved", ("live", MODEL, *SMALL, "--timeout", "2")),
    "simulate": ("bounded", ("simulate", MODEL, *SMALL, "--crash", "--depth", "9")),
}


def validated(document: Any, schema: str) -> None:
    shipped = json.loads(find_schema(schema))
    jsonschema.Draft202012Validator(shipped).validate(document)


@pytest.mark.parametrize("name", every(2, RUNS))
def test_engines(name: str) -> None:
    verdict, arguments = RUNS[name]
    _, document = found(*arguments)
    validated(document, "check")
    assert document["verdict"] == verdict
    assert document["model"] == "ping-pong"


def test_a_run_in_the_informal_trace_format(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    assert run("explore", MODEL, *SMALL, "--timeout", "5", "--itf", str(file)).code == 1
    trace = json.loads(file.read_text())
    assert {"pings", "pongs"} <= set(trace["vars"])
    assert all({"pings", "pongs"} <= set(state) for state in trace["states"])


@pytest.mark.slow
def test_a_map_has_the_frontier_of_the_formula() -> None:
    code, document = found("map", MODEL, "--delta", "0..3", "--phi", "1", "--timeout", "3*phi+2*delta-1")
    validated(document, "map")
    assert code == 0
    verdicts = {cell["parameters"]["delta"]: cell["verdict"] for cell in document["panels"][0]["cells"]}
    assert verdicts == {0: "violated", 1: "proved", 2: "proved", 3: "violated"}


@pytest.mark.slow
def test_what_to_configure() -> None:
    at = ("--delta", "1", "--phi", "1")
    code, document = found("bounds", "--model", MODEL, *at)
    validated(document, "configuration")
    assert code == 0
    text = run("bounds", "--model", MODEL, *at).stdout
    assert "with 2 as initial timeout, a correct target may be suspected, as above" in text
    assert "3 steps of the monitor" in text
    assert "crash noticed in  9 ticks" in text


@pytest.mark.slow
def test_the_least_timeout_is_found_and_is_exact() -> None:
    outcome = run("bounds", "accuracy", MODEL, "--proof", str(FOLDER / "accuracy.py"), "--json")
    document = json.loads(outcome.stdout)
    validated(document, "bounds")
    assert outcome.code == 0
    assert document["status"] == "exact"
    assert document["witness"]["scope"] == "all parameters"


@pytest.mark.parametrize("model", [MODEL, f"{ROOT / 'examples' / 'gst' / '_detector.py'}:DELAYED"])
def test_the_initial_timeout_is_the_parameter_that_is_not_the_models_own(model: str) -> None:
    chosen = find_model(model)
    options = {option.name: option.default for option in chosen.options}
    job = CheckRequest(
        "bounds", model, {parameter.name: None for parameter in chosen.parameters}, options, "strong-accuracy"
    )
    assert find_initial_timeout(job) == "initial_timeout"


@pytest.mark.slow
def test_reports_of_proofs_name_the_target() -> None:
    proofs = [str(FOLDER / f"{name}.py") for name in ("completeness", "eventual_accuracy")]
    done = run(*proofs, name="verify-invariant")
    assert done.code == 0
    outcome = done.stdout
    assert "a crashed target stays crashed" in outcome
    assert "from the safe timeout on, a correct target is not suspected" in outcome
    assert "sender" not in outcome
    assert "receiver" not in outcome


def test_what_is_suggested_brings_its_program_counters() -> None:
    """Wherever the proof is, the lines above a conjunct are all that it needs."""
    target = load_module(FOLDER / "_processes.py").TargetPc
    clause = Clause((LabelIs("target_pc", target.Receive, yes=False),), FlagIs("asked", yes=False))
    lines = [*list_required_lines([clause]), render_conjunct(clause, "not_asked").replace("@proof.invariant\n", "")]
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    answering = SimpleNamespace(target_pc=target.Answer, asked=True)
    assert names["not_asked"](answering) is False
    assert names["not_asked"](SimpleNamespace(target_pc=target.Receive, asked=True)) is True
