"""``fdverify cutoff``: output for people and machines, exit codes, bad input."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fdverify.schemas import find_schema
from tests.cli.script import run
from tests.sampling import every

EXAMPLE = Path(__file__).parents[2] / "examples" / "missed_heartbeats.py"
UPWARDS = """
from dataclasses import replace
from fdverify.cutoff.rounds import Rounds
from fdverify.logic import Implies

class Upwards(Rounds):
    def receive(self, of, c, chosen):
        step = super().receive(of, c, chosen)
        def upwards(p, q):
            return Implies(p < q, chosen.delivered(q, p) == of.no_transit)
        return replace(step, rules={**step.rules, "upwards": upwards})

MISSED_HEARTBEATS = replace(MISSED_HEARTBEATS, rounds=Upwards())
"""


@pytest.fixture(scope="module")
def validator() -> Any:
    shipped = json.loads(find_schema("cutoff"))
    kind = jsonschema.validators.validator_for(shipped, jsonschema.Draft202012Validator)
    kind.check_schema(shipped)
    return kind(shipped)


def changed(folder: Path, *changes: tuple[str, str], more: str = "") -> str:
    """The example with changes, as a file of its own."""
    text = EXAMPLE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "changed.py"
    path.write_text(text + more)
    return str(path)


@pytest.mark.slow
def test_the_detector_has_a_cutoff(validator: Any) -> None:
    outcome = run("cutoff", "chandra-toueg", "--property", "strong-accuracy", "--json")
    assert outcome.code == 0
    document = json.loads(outcome.stdout)
    validator.validate(document)
    assert document["verdict"] == "proved"
    assert {lemma["verdict"] for lemma in document["lemmas"]} == {"proved"}
    assert [entry["suffices"] for entry in document["properties"]] == [[1, 2]]
    proofs = {entry["proof"]: entry["carries_over"] for entry in document["proofs"]}
    assert proofs["strong_accuracy"]
    assert not proofs["tight_accuracy_tla"]


@pytest.mark.slow
def test_a_template_of_ones_own_has_one_too(validator: Any) -> None:
    reference = f"{EXAMPLE}:MISSED_HEARTBEATS"
    outcome = run("cutoff", reference, "--second-opinion", "cvc5", "--property", "accuracy")
    assert outcome.code == 0
    assert outcome.stdout.count("9 of 9 │ 9 of 9") == 5
    assert "proved: one process and two processes decide every number of processes" in outcome.stdout
    explored = run("cutoff", str(EXAMPLE), "--processes", "2", "--delta", "1", "--phi", "2", "--json")
    document = json.loads(explored.stdout)
    validator.validate(document)
    assert explored.code == 0
    assert [(entry["property"], entry["with_itself"]) for entry in document["explored"]] == [
        ("accuracy", False),
        ("accuracy", True),
        ("completeness", False),
        ("completeness", True),
    ]
    assert {entry["verdict"] for entry in document["explored"]} == {"proved"}


@pytest.mark.slow
def test_a_run_that_violates_is_shown(tmp_path: Path, validator: Any) -> None:
    file = changed(tmp_path, ("MISSING = 3", "MISSING = 1"))
    small = ("--processes", "2", "--delta", "1", "--phi", "2", "--property", "accuracy")
    outcome = run("cutoff", file, *small)
    assert outcome.code == 1
    assert re.search(r"^accuracy: violated: different processes, here 1 and 2; N = 2", outcome.stdout, re.MULTILINE)
    assert re.search(r"suspected True\*? +│", outcome.stdout)
    document = json.loads(run("cutoff", file, *small, "--json").stdout)
    validator.validate(document)
    assert document["verdict"] == "proved"
    assert document["exit_code"] == 1
    assert document["explored"][0]["run"][0]["process 1"] == "beat"


def test_a_property_of_one_index_is_explored_of_each_process() -> None:
    small = ("--processes", "1", "--delta", "0", "--phi", "1")
    outcome = run("cutoff", str(EXAMPLE), *small, "--property", "G correct(p)")
    assert outcome.code == 1
    assert re.search(r"^G correct\(p\): violated: each process, here 1; N = 1", outcome.stdout, re.MULTILINE)


@pytest.mark.slow
def test_rounds_that_are_not_of_the_class_are_shown_to_be_so(tmp_path: Path, validator: Any) -> None:
    file = changed(tmp_path, more=UPWARDS)
    outcome = run("cutoff", file)
    assert outcome.code == 1
    assert outcome.stdout.startswith("symmetry.receive fails: N = ")
    assert "i and j swapped" in outcome.stdout
    assert "symmetry.receive: violated: it fails in rule upwards(p, q)" in outcome.stdout
    document = json.loads(run("cutoff", file, "--json").stdout)
    validator.validate(document)
    (lemma,) = (lemma for lemma in document["lemmas"] if lemma["name"] == "symmetry.receive")
    assert lemma["disagreement"]["differ"] == ["rule upwards(p, q)"]


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        (
            "c.value(p, q) < 1",
            r"changed\.py:\d+: only equality can be asked of locations, values, messages and buffers",
        ),
        ("c.value(p, q) + 1 == 1", r"changed\.py:\d+: only equality can be asked"),
        ("c.value(p, q).suspected", r"changed\.py:\d+: AttributeError"),
    ],
)
def test_rounds_that_look_into_values_are_bad_input(tmp_path: Path, condition: str, line: str) -> None:
    file = changed(tmp_path, more=UPWARDS.replace("p < q", condition))
    outcome = run("cutoff", file, cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert re.match(f"error: {line}", outcome.stderr), outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_rounds_have_no_way_around_the_lemmas(tmp_path: Path) -> None:
    file = changed(tmp_path, more=UPWARDS.replace("class Upwards(Rounds):", "class Upwards(Rounds):\n    step = None"))
    outcome = run("cutoff", file, cwd=tmp_path)
    assert outcome.code == 2
    assert re.fullmatch(r"error: .*its rounds have a step of their own.*\n", outcome.stderr), outcome.stderr


@pytest.mark.slow
def test_rounds_that_are_not_of_the_class_are_explored_with_all_pairs() -> None:
    file = f"{EXAMPLE.with_name('broken_rounds.py')}:COUNTING"
    small = ("--processes", "2", "--delta", "0", "--phi", "1", "--depth", "2")
    outcome = run("cutoff", file, *small, "--property", "strong-accuracy", "--json")
    assert outcome.code == 1
    assert {entry["verdict"] for entry in json.loads(outcome.stdout)["explored"]} == {"bounded"}


def test_what_is_not_done_in_time_is_unknown(validator: Any) -> None:
    outcome = run("cutoff", "--time-limit", "0.01", "--json")
    assert outcome.code == 3
    document = json.loads(outcome.stdout)
    validator.validate(document)
    assert document["verdict"] == "unknown"
    assert "time limit" in document["detail"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    every(
        4,
        [
            (("--property", "G (suspected(p, q) -> suspected(q, r))"), "the property is about 3 indexes, p, q, r"),
            (("--property", "G X correct(p)"), "the property uses the operator X"),
            (("--property", "accuracy"), "chandra-toueg has no property accuracy"),
            (("--processes", "0", "--delta", "1", "--phi", "1"), "--processes must be at least 1, got 0"),
            (
                ("--processes", "2", "--delta", "0", "--phi", "1", "--property", "correct(p) U suspected(p, p)"),
                "only G and F G of state formulas can be explored",
            ),
            (("--processes", "2"), "--processes needs --delta and --phi"),
            (("--delta", "2"), "--delta is only for a system to explore"),
            (("--timeout", "0"), "--timeout must be at least 1, got 0"),
            (("--variant", "spin"), "--variant must be one of tla, ivy, got spin"),
            (("--computation", "none"), "--computation must be one of"),
            (("paxos",), "unknown template paxos"),
            (("nowhere.py",), "no such file: nowhere.py"),
            (("--second-opinion", "none"), "pysmt finds no solver none"),
            ((str(EXAMPLE), "--proofs", str(EXAMPLE)), "--proofs is an option of chandra-toueg only"),
            (("--proofs", "nowhere.py"), "no such file: nowhere.py"),
            (("--time-limit", "0"), "--time-limit must be a positive number"),
        ],
    ),
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    outcome = run("cutoff", *arguments)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(f"error: {line}")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "line"),
    every(
        4,
        [
            ('"judge": "beat"}[', "}[", r"changed\.py:23: KeyError: 'judge'"),
            ('"judge": "beat"}[', '"judge": "sleep"}[', r".*next_location\(judge\) is sleep, which is not one of its"),
            ('"judge": Kind.COMPUTE', '"judge": "compute"', r".*location judge is of kind compute"),
            (
                '"judge": Kind.COMPUTE',
                '"judge": Kind.SEND',
                r".*at judge, a send location, generate_message gives nothing",
            ),
            (
                "    return peer\n",
                "    return None\n",
                r".*next_value\(beat, \{\}, .*\) is None, which is not of the type",
            ),
            ('if location == "judge"', "if peer.missed > 1:\n        raise ValueError\n    if 1", r".*: ValueError"),
            ('start="beat"', 'start="nowhere"', r".*starts at nowhere, which is not one of its locations"),
            ("MISSED_HEARTBEATS =", "_, FIRST =", r".*"),
            ('return "beat" if', "return object() if", r".*generate_message gives two answers at beat"),
            ('return "beat" if', 'return ["beat"] if', r".*the message \['beat'\] cannot be hashed"),
            ("start_value=Peer(0, False)", "start_value=[]", r".*the value \[\] cannot be hashed"),
        ],
    ),
)
def test_a_template_that_is_none_is_told_in_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    outcome = run("cutoff", changed(tmp_path, (old, new)), cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert re.fullmatch(f"error: {line}.*\n", outcome.stderr), outcome.stderr
