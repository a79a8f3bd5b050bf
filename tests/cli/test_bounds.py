"""``fdverify bounds`` and ``fdverify infer`` as a user calls them."""

import json
from pathlib import Path

import jsonschema
import pytest

from fdverify.schemas import find_schema
from tests.cli.script import Outcome, run
from tests.sampling import every


def document(*arguments: str) -> dict[str, object]:
    outcome = run(*arguments, "--json")
    assert outcome.code == 0, outcome.stderr
    found: dict[str, object] = json.loads(outcome.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["ivy", "tla"])
def test_accuracy_as_json(variant: str) -> None:
    found = document("bounds", "accuracy", "--variant", variant)
    jsonschema.validate(found, json.loads(find_schema("bounds")))
    assert found["status"] == "exact"
    assert found["linear"] == {"tla": "delta+3*phi", "ivy": "delta+3*phi+1"}[variant]
    assert found["formula"]
    assert found["proof"]["scope"] == found["witness"]["scope"] == "all parameters"  # type: ignore[index]
    last = found["witness"]["trace"]["steps"][-1]  # type: ignore[index]
    assert last["state"]["suspected"] is True


@pytest.mark.slow
def test_detection_as_json() -> None:
    found = document("bounds", "detection", "--variant", "ivy")
    jsonschema.validate(found, json.loads(find_schema("bounds")))
    assert found["status"] == "upper bound, attained in 126 instances"
    assert (found["upper_bound"], found["attained"]) == (found["formula"], 126)
    names = [each["name"] for each in found["also"]]  # type: ignore[attr-defined]
    assert names == ["most-wrong-suspicions", "longest-wrong-suspicion"]
    for each in found["also"]:  # type: ignore[attr-defined]
        assert each["status"] == f"upper bound, attained in {each['explored']} instances"


@pytest.mark.slow
def test_what_to_configure_as_json() -> None:
    found = document("bounds", "--delta", "40", "--phi", "3", "--tick", "10ms")
    jsonschema.validate(found, json.loads(find_schema("configuration")))
    assert (found["timeout_steps"], found["detection_ticks"], found["detection_time"]) == (49, 203, 2.03)
    assert (found["usual_timeout_steps"], found["usual_detection_ticks"]) == (58, 230)


def refused(outcome: Outcome) -> str:
    assert (outcome.code, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    assert "Traceback" not in outcome.stderr
    return outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    every(
        4,
        [
            (["bounds", "--delta", "4", "--phi", "1", "--tick", "0ms"], "must be positive"),
            (["bounds", "--delta", "4", "--phi", "1", "--tick", "-3s"], "must be positive"),
            (["bounds", "--delta", "4", "--phi", "1", "--tick", "10"], "must be a time"),
            (["bounds", "--delta", "4", "--phi", "1", "--tick", "soon"], "must be a time"),
            (["bounds", "--delta", "4"], "--phi N is needed"),
            (["bounds", "--delta", "4", "--phi", "symbolic"], "--phi N is needed"),
            (["bounds", "--delta", "4", "--phi", "0"], "at least 1"),
            (["bounds", "--model", "nobody", "--delta", "4", "--phi", "1"], "unknown model nobody"),
            (["bounds", "accuracy", "nobody.py:X"], "nobody.py"),
            (["bounds", "accuracy", "--variant", "third"], "--variant must be one of"),
            (["bounds", "accuracy", "--property", "nothing"], "no property nothing"),
            (["bounds", "accuracy", "--proof", "nowhere.py"], "no such file"),
            (["bounds", "accuracy", "--proof", "invariants"], "invariants is a folder (hint: name a file in it)"),
            (["bounds", "accuracy", "--time-limit", "0"], "--time-limit"),
            (["bounds", "--delta", "4", "--phi", "1", "--time-limit", "-1"], "--time-limit"),
            (["bounds", "--delta", "4", "--phi", "1", "--longest", "0"], "--longest"),
            (["infer", "--by", "magic"], "--by must be"),
            (["infer", "--timeout", "phi-1"], "at least 1"),
            (["infer", "--output", "pyproject.toml"], "exists"),
            (["infer", "--output", "nowhere/x.py"], "cannot write"),
            (["infer", "--property", "nothing"], "no property nothing"),
        ],
    ),
)
def test_bad_input(arguments: list[str], words: str) -> None:
    assert words in refused(run(*arguments, cwd=Path(__file__).parents[2]))


def test_out_of_time_is_unknown_at_given_numbers() -> None:
    outcome = run("bounds", "--delta", "4", "--phi", "2", "--time-limit", "0.1", "--json")
    assert outcome.code == 3
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("configuration")))
    assert (found["verdict"], found["timeout_steps"], found["detail"]) == (
        "unknown",
        None,
        "the time limit was reached",
    )


def test_out_of_time_is_unknown() -> None:
    outcome = run("bounds", "accuracy", "--time-limit", "0.2", "--json")
    assert outcome.code == 3
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("bounds")))
    assert (found["status"], found["formula"], found["detail"]) == ("unknown", None, "the time limit was reached")


@pytest.mark.slow
def test_an_invariant_is_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "found.py"
    guard = ("--variant", "ivy", "--timeout", "3*phi+delta+1")
    outcome = run("infer", *guard, "--by", "spacer", "--output", str(path))
    assert outcome.code == 0
    assert "found by spacer and checked from its file" in outcome.stdout
    assert path.read_text().startswith('"""strong-accuracy of chandra-toueg')


@pytest.mark.slow
def test_a_refuted_property_as_json() -> None:
    outcome = run("infer", "--timeout", "3*phi", "--json")
    found = json.loads(outcome.stdout)
    jsonschema.validate(found, json.loads(find_schema("check")))
    assert (outcome.code, found["verdict"], found["proof"]) == (1, "violated", None)
    assert found["trace"]["steps"][-1]["state"]["suspected"] is True


@pytest.mark.slow
def test_inferring_stops_at_the_time_limit() -> None:
    outcome = run("infer", "--time-limit", "0.5", "--json")
    found = json.loads(outcome.stdout)
    assert (outcome.code, found["verdict"], found["proof"]) == (3, "unknown", None)
