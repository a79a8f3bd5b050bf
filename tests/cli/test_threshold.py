"""``fdverify threshold``: output for people and machines, exit codes, bad input."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fdverify.errors import InternalError
from fdverify.schemas import find_schema
from fdverify.threshold import check_specification
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.text.read import read_automaton
from tests.cli.script import run, run_script
from tests.cluster import Cluster, drop_times
from tests.sampling import every
from tests.threshold.small import STRB

WEAKER = ("--assume", "N >= 3*T", "--assume", "F <= T", "--spec", "relay")
VERDICTS_IF_WEAKER = [("unforgeability", "proved"), ("correctness", "violated"), ("relay", "violated")]
CIRCLE = """skel Circle {
  parameters N;
  assumptions { N >= 1; }
  locations { A: []; B: []; C: []; }
  inits { A == N; B == 0; C == 0; }
  rules { 1: A -> B when (true) do { }; 2: B -> A when (true) do { }; }
  specifications { settles: <>[](A == 0) || <>[](A != 0); }
}
"""


@pytest.fixture(scope="module")
def validator() -> Any:
    shipped = json.loads(find_schema("threshold"))
    kind = jsonschema.validators.validator_for(shipped, jsonschema.Draft202012Validator)
    kind.check_schema(shipped)
    return kind(shipped)


@pytest.mark.parametrize("driver", every(3, ["auto", "query", "search"]))
def test_all_specifications_hold(driver: str) -> None:
    outcome = run("threshold", "check", str(STRB), "--driver", driver)
    assert outcome.code == 0
    assert re.findall(r"^(\w+): proved", outcome.stdout, flags=re.MULTILINE) == [
        "unforgeability",
        "correctness",
        "relay",
    ]
    assert run("threshold", "check", str(STRB), "--spec", "relay", "--second-opinion", "cvc5").code == 0


def test_a_run_is_shown_with_its_steps(validator: Any) -> None:
    outcome = run("threshold", "check", str(STRB), *WEAKER)
    assert outcome.code == 1
    assert outcome.stdout.startswith("N = 3, T = 1, F = 1\n")
    assert re.search(r"│ +2 │ +5 │ SE -> AC │ +1 │", outcome.stdout)
    assert "and from then on nothing moves\nrelay: violated: relay is broken by the run shown" in outcome.stdout
    document = json.loads(run("threshold", "check", str(STRB), *WEAKER, "--json").stdout)
    validator.validate(document)
    (entry,) = document["specifications"]
    assert (entry["verdict"], document["exit_code"]) == ("violated", 1)
    assert entry["trace"]["parameters"] == {"N": 3, "T": 1, "F": 1}
    assert [(step["rule"], step["processes"]) for step in entry["trace"]["steps"]] == [(1, 1), (5, 1)]
    assert entry["trace"]["loop"] == 2


@pytest.mark.slow
def test_a_loop_is_marked(tmp_path: Path, validator: Any) -> None:
    circle = tmp_path / "circle.ta"
    circle.write_text(CIRCLE)
    outcome = run("threshold", "check", str(circle))
    assert outcome.code == 1
    assert "locations that stay empty are not shown: C\n" in outcome.stdout
    assert "steps 1 to 2 are taken again and again, for ever\n" in outcome.stdout
    rows = outcome.stdout.splitlines()
    assert rows[rows.index(next(row for row in rows if row.startswith("│    0"))) + 1].startswith("├")
    document = json.loads(run("threshold", "check", str(circle), "--json", "--set", "N=1").stdout)
    validator.validate(document)
    trace = document["specifications"][0]["trace"]
    assert (trace["loop"], len(trace["steps"])) == (0, 2)
    assert trace["steps"][-1]["after"] == trace["start"]
    assert document["parameters"] == {"N": 1}


def test_vacuous_and_unknown_are_no_success(validator: Any) -> None:
    assert run("threshold", "check", str(STRB), "--assume", "N < 0").code == 4
    late = run("threshold", "check", str(STRB), "--time-limit", "0.001")
    assert late.code == 3
    assert late.stdout.count("unknown: the time limit was reached") == 3
    document = json.loads(run("threshold", "check", str(STRB), "--time-limit", "0.001", "--json").stdout)
    validator.validate(document)
    assert document["exit_code"] == 3


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_results_are_in_the_order_of_the_file(jobs: str) -> None:
    outcome = run("threshold", "check", str(STRB), *WEAKER[:4], "--jobs", jobs)
    assert outcome.code == 1
    assert re.findall(r"^(\w+): (\w+):", outcome.stdout, flags=re.MULTILINE) == VERDICTS_IF_WEAKER


def fail(automaton: Automaton, specification: Specification, *more: Any) -> None:
    raise InternalError(f"{specification.name} fails")


def test_an_error_is_that_of_the_first_specification_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them fails first is chance."""
    automaton = read_automaton(STRB)

    monkeypatch.setattr(check_specification, "check", fail)
    for _ in range(3):
        with pytest.raises(InternalError, match="unforgeability fails"):
            check_specification.check_specifications(
                automaton, automaton.specifications, check_specification.ThresholdSettings()
            )


@pytest.mark.slow
def test_a_cluster_answers_the_same(cluster: Cluster) -> None:
    arguments = ("threshold", "check", str(STRB), *WEAKER[:4], "--json")
    near, far = run(*arguments), run_script(*arguments, "--cluster", cluster.address)
    assert (near.code, far.code) == (1, 1)
    assert drop_times(json.loads(far.stdout)) == drop_times(json.loads(near.stdout))
    entries = json.loads(far.stdout)["specifications"]
    assert [(each["name"], each["verdict"]) for each in entries] == VERDICTS_IF_WEAKER


@pytest.mark.slow
def test_a_cluster_that_is_late_or_missing_is_no_success(cluster: Cluster) -> None:
    late = run_script("threshold", "check", str(STRB), "--time-limit", "0.1", "--cluster", cluster.address)
    assert late.code == 3
    assert "proved" not in late.stdout
    missing = run_script("threshold", "check", str(STRB), "--cluster", "tcp://127.0.0.1:1")
    assert (missing.code, missing.stdout) == (2, "")
    assert missing.stderr.startswith("error: cannot reach a Dask scheduler at tcp://127.0.0.1:1")
    assert len(missing.stderr.splitlines()) == 1


def test_a_flowchart() -> None:
    outcome = run("threshold", "show", str(STRB))
    assert outcome.stdout.startswith('flowchart LR\n    l0["V0"]\n')
    assert '    l2 -->|"5: (x &gt;= N - F - T)"| l3\n' in outcome.stdout


BAD = {
    "an unknown specification": (("--spec", "rely"), "has no specification rely (hint: did you mean relay?)"),
    "an unknown parameter": (("--set", "M=3"), "STRB has no parameter M (hint: there are N, T, F)"),
    "inadmissible parameters": (("--set", "N=3,T=1,F=1"), "N = 3, T = 1, F = 1 is not admissible: STRB assumes "),
    "one that leaves no others": (("--set", "N=3"), "N = 3 is not admissible: STRB assumes (N > 3 * T) && (T >= F)"),
    "no number": (("--set", "N=three"), "--set N=three: expected NAME=NUMBER"),
    "a negative one": (("--set", "N=-3"), "N must be at least 0, got -3"),
    "the same twice": (("--set", "N=4,N=5"), "--set gives N twice"),
    "an unknown driver": (("--driver", "race"), "--driver must be auto, query, search, got race"),
    "an unknown solver": (("--second-opinion", "z4"), "pysmt finds no solver z4"),
    "no time": (("--time-limit", "0"), "--time-limit must be a positive number of seconds"),
    "an assumption about messages": (
        ("--assume", "x > 1"),
        "--assume:1:1: x is a shared variable, which cannot be used here",
    ),
    "no claim": (("--assume", "N +"), "--assume:1:4: the text ends too early"),
}


@pytest.mark.parametrize(("arguments", "says"), every(4, BAD.values()), ids=every(4, BAD))
def test_bad_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    outcome = run("threshold", "check", str(STRB), *arguments)
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1
    assert says in outcome.stderr


def test_a_bad_file_is_one_line(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ta"
    odd.write_text("skel A {\n  shared x\n}\n")
    for command in ("check", "show"):
        outcome = run("threshold", command, str(odd))
        assert outcome.code == 2
        assert re.fullmatch(r"error: .*odd\.ta:3:1: '}' was not expected here.*\n", outcome.stderr)


@pytest.mark.slow
def test_published_tables_beside_ours(tmp_path: Path) -> None:
    folder = tmp_path / "threshold"
    (folder / "dialog").mkdir(parents=True)
    shipped = STRB.parent / "dialog"
    (folder / "strb.ta").write_text(STRB.read_text())
    (folder / "dialog" / "byz.ta").write_text((shipped / "byz.ta").read_text())
    rows = (shipped / "published.csv").read_text().splitlines()
    some = [rows[0], *(row for row in rows if row.startswith("BYZ,") and "N=7 T=3" in row)]
    table = folder / "dialog" / "published.csv"
    table.write_text("\n".join(some) + "\n")
    outcome = run("threshold", "table", str(folder))
    assert outcome.code == 0
    assert "12 of 12 rows agree or were not answered before" in outcome.stdout
    assert re.search(r"│ strb\.ta +│ 4 +│ 8 +│ 3 +│ relay +│ proved", outcome.stdout)
    table.write_text(table.read_text().replace("relay,violated", "relay,holds"))
    document = json.loads(run("threshold", "table", str(folder), "--json").stdout)
    jsonschema.validate(document, json.loads(find_schema("threshold-table")))
    assert document["exit_code"] == 1
    assert {row["verdict"] for row in document["published"] if not row["agrees"]} == {"violated"}
    table.unlink()
    missing = run("threshold", "table", str(folder))
    assert (missing.code, missing.stdout, missing.stderr.count("\n")) == (2, "", 1)
    assert "cannot read" in missing.stderr
