"""`fdverify live`: what it says, shows and writes."""

import json
from pathlib import Path

import itf_py
import jsonschema
import pytest

from fdverify.schemas import find_schema
from tests.cli.script import found, odd_lines, run, table_cells

EXAMPLES = Path(__file__).parents[2] / "examples" / "broken_detectors.py"
STUBBORN = ("live", f"{EXAMPLES}:STUBBORN", "--delta", "1", "--phi", "2", "--timeout", "1")


def test_a_live_detector() -> None:
    outcome = run("live", "--delta", "1", "--phi", "1", "--timeout", "1")
    assert outcome.code == 0
    assert odd_lines(outcome.stderr) == []
    first, second, _ = outcome.stdout.splitlines()
    assert first == "proved: in every fair run, eventually-strong-accuracy holds from some time on"
    assert second.startswith("eventually-strong-accuracy: from some time on,")


def test_a_loop_is_shown_and_written(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    outcome = run(*STUBBORN, "--itf", str(file))
    assert outcome.code == 1
    code, document = found(*STUBBORN)
    assert code == 1
    jsonschema.validate(document, json.loads(find_schema("check")))
    trace, turn = document["trace"], document["statistics"]["loop"]
    assert len(trace["steps"]) == trace["loop"] + turn + 1
    first, last = trace["steps"][trace["loop"]]["state"], trace["steps"][-1]["state"]
    assert first == last, "nothing grows here"
    assert any(step["state"]["suspected"] for step in trace["steps"][trace["loop"] + 1 :])
    rows = table_cells(outcome.stdout)
    assert len(rows) == len(trace["steps"])
    lines = outcome.stdout.splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("├"))
    assert lines[rule - 1].startswith(f"│ {trace['loop']:>5} │")
    rounds = f"rounds {trace['loop'] + 1} to {trace['loop'] + turn}"
    assert f"{rounds} lead back to the state after round {trace['loop']}" in lines
    written = itf_py.trace_from_json(json.loads(file.read_text()))
    assert written.loop == trace["loop"]


@pytest.mark.slow
def test_at_sub_rounds_the_loop_is_the_same() -> None:
    outcome = run(*STUBBORN, "--subrounds")
    _, document = found(*STUBBORN)
    assert f"lead back to the state after round {document['trace']['loop']}" in outcome.stdout
    assert outcome.stdout.count("├") == 1


def test_what_differs_after_a_turn_is_named() -> None:
    arguments = ("--crash", "--delta", "0", "--phi", "1", "--timeout", "2", "--property", "strong-completeness")
    outcome = run("live", f"{EXAMPLES}:TRUSTING", *arguments)
    assert outcome.code == 1
    assert "lead back to the state after round 2, but for hlfsc" in outcome.stdout


@pytest.mark.slow
def test_an_unfair_loop_is_shown_on_demand() -> None:
    arguments = ("--crash", "--delta", "1", "--phi", "2", "--timeout", "2", "--property", "strong-completeness")
    lazy = ("live", f"{EXAMPLES}:LAZY_RECEIVER", *arguments)
    assert found(*lazy)[0] == 0
    code, document = found(*lazy, "--unfair")
    assert (code, document["verdict"]) == (1, "violated")


def test_under_asynchrony_the_timeout_grows_for_ever(tmp_path: Path) -> None:
    arguments = ("live", "--computation", "asynchrony", "--delta", "1", "--phi", "1")
    file = tmp_path / "run.itf.json"
    outcome = run(*arguments, "--itf", str(file))
    assert outcome.code == 1
    assert odd_lines(outcome.stderr) == []
    code, document = found(*arguments)
    assert (code, document["verdict"]) == (1, "violated")
    jsonschema.validate(document, json.loads(find_schema("check")))
    trace, turn = document["trace"], document["statistics"]["turn"]
    first, last = trace["steps"][-turn - 1], trace["steps"][-1]
    assert last["state"] == {**first["state"], "timeout": first["state"]["timeout"] + 1}
    assert trace["loop"] is None, "no state comes back"
    assert len(table_cells(outcome.stdout)) == len(trace["steps"])
    begun = f"a turn of {turn} rounds, begun after {first['round']} rounds, returns to its start with timeout"
    assert f"violated: eventually-strong-accuracy is violated again and again: {begun}" in outcome.stdout
    assert "there is a turn for every timeout >= 1, so it can go on for ever" in outcome.stdout
    assert itf_py.trace_from_json(json.loads(file.read_text())).loop is None


@pytest.mark.slow
def test_under_asynchrony_at_sub_rounds_and_unfair() -> None:
    arguments = ("live", "--computation", "asynchrony", "--delta", "0", "--phi", "2", "--timeout", "1", "--crash")
    for more in (("--subrounds",), ("--unfair",), ("--variant", "ivy"), ("--show", "timeout - waiting_time")):
        outcome = run(*arguments, *more)
        assert outcome.code == 1
        assert "returns to its start with timeout one higher" in outcome.stdout


def test_bad_input() -> None:
    fixed = ("--delta", "1", "--phi", "1")
    for arguments, said in (
        (("live", *fixed, "--property", "strong-accuracy"), "has no liveness property strong-accuracy"),
        (("live", *fixed, "--property", "strong-completeness"), "has no liveness property strong-completeness"),
        (("live", "--delta", "1"), "phi must be fixed"),
        (("live", "--delta", "1", "--computation", "asynchrony"), "phi must be fixed"),
        (("explore", *fixed, "--property", "strong-completeness"), "has no property strong-completeness"),
    ):
        outcome = run(*arguments)
        assert (outcome.code, outcome.stdout) == (2, "")
        (line,) = outcome.stderr.splitlines()
        assert said in line
