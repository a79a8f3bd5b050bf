"""``--json``: one document on stdout, as the shipped schema describes it."""

import json
from typing import Any

import jsonschema
import pytest

from fdverify import __version__
from fdverify.schemas import find_schema
from tests.cli.script import found, odd_lines, run
from tests.sampling import every

SMALL = ("--delta", "1", "--phi", "1")
DESIGNED = {
    "tool",
    "version",
    "command",
    "model",
    "variant",
    "parameters",
    "verdict",
    "seconds",
    "statistics",
    "obligations",
    "trace",
}
RUNS = {
    "explore, proved": ("proved", ("explore", *SMALL)),
    "explore, bounded": ("bounded", ("explore", *SMALL, "--depth", "3", "--variant", "ivy")),
    "explore, violated": ("violated", ("explore", *SMALL, "--timeout", "1", "--subrounds", "--show", "timeout")),
    "bmc, bounded": ("bounded", ("bmc", "--delta", "2", "--depth", "2", "--timeout", "any")),
    "bmc, violated": ("violated", ("bmc", "--timeout", "2", "--crash")),
    "induct, proved": ("proved", ("induct", *SMALL)),
    "induct, unknown": ("unknown", ("induct", *SMALL, "--max-k", "1")),
    "simulate, bounded": ("bounded", ("simulate", *SMALL, "--seed", "-3", "--depth", "9")),
    "simulate, violated": ("violated", ("simulate", *SMALL, "--timeout", "1", "--subrounds")),
}


@pytest.fixture(scope="module")
def validator() -> Any:
    shipped = json.loads(find_schema("check"))
    kind = jsonschema.validators.validator_for(shipped, jsonschema.Draft202012Validator)
    kind.check_schema(shipped)
    return kind(shipped)


@pytest.mark.parametrize("name", every(2, RUNS))
def test_document(validator: Any, name: str) -> None:
    verdict, arguments = RUNS[name]
    _, document = found(*arguments)
    validator.validate(document)
    assert set(document) >= DESIGNED
    assert document["tool"] == "fdverify"
    assert document["version"] == __version__
    assert document["command"] == arguments[0]
    assert document["model"] == "chandra-toueg"
    assert document["variant"] == ("ivy" if "ivy" in arguments else "tla")
    assert document["property"] == "strong-accuracy"
    assert document["verdict"] == verdict
    assert (document["trace"] is None) is not (arguments[0] == "simulate" or verdict == "violated")


def test_schema_tells_wrong_from_right(validator: Any) -> None:
    _, document = found(*RUNS["explore, violated"][1])
    assert validator.is_valid(document)
    step = document["trace"]["steps"][-1]
    for wrong in (
        {**document, "verdict": "perhaps"},
        {**document, "seconds": "0.1"},
        {**document, "parameters": {"delta": None}},
        {**document, "trace": {**document["trace"], "steps": [{**step, "round": "1"}]}},
        {key: value for key, value in document.items() if key != "detail"},
    ):
        assert not validator.is_valid(wrong)


def test_stdout_is_one_document_whatever_else_is_asked_for() -> None:
    outcome = run(
        "bmc", "--delta", "2", "--phi", "4", "--timeout", "3", "--json", "--show", "phi", "--itf", "/dev/null"
    )
    assert outcome.code == 1
    assert odd_lines(outcome.stderr) == []
    document, end = json.JSONDecoder().raw_decode(outcome.stdout)
    assert outcome.stdout[end:] == "\n"
    assert document["verdict"] == "violated"
