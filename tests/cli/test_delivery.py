"""One delivery for all commands: every command that computes has every format that makes sense for it."""

import json
from pathlib import Path

import jsonschema
import pytest
import typer

from fdverify.app import build_app, list_products
from fdverify.reports.formats import FORMATS
from fdverify.schemas import DOCUMENTS, find_schema
from tests.cli.script import run

DATA = Path(__file__).parents[1] / "data" / "documents"
COMPUTES = (
    "explore",
    "bmc",
    "induct",
    "live",
    "simulate",
    "bounds",
    "infer",
    "map",
    "cutoff",
    "cache",
    "configure ray-node",
)
SHOWS_RUNS = (
    "explore",
    "bmc",
    "induct",
    "live",
    "simulate",
    "bounds",
    "infer",
    "cutoff",
    "threshold check",
    "configure ray-node",
)
HAS_PLACES = ("explore", "bmc", "induct", "live", "simulate", "infer", "threshold check")
STRB = ("threshold", "check", "examples/threshold/strb.ta", "--spec", "relay")
BROKEN = (*STRB, "--assume", "N >= 3*T", "--assume", "T >= F")


def flags(command: str) -> set[str]:
    """The options of a command."""
    group = typer.main.get_command(build_app("chandra-toueg", list_products()))
    for word in command.split():
        group = group.commands[word]  # type: ignore[attr-defined]
    return {flag for option in group.params for flag in option.opts}


@pytest.mark.parametrize("command", [*COMPUTES, "bounds accuracy", "threshold check", "threshold table"])
def test_every_command_has_the_formats_that_make_sense(command: str) -> None:
    expected = {"--json", "--quiet", "--html"}
    expected |= {"--itf", "--mermaid"} if command in (*SHOWS_RUNS, "bounds accuracy") else set()
    expected |= {"--sarif"} if command in HAS_PLACES else set()
    shared = {"--json", "--quiet", *(each.flag for each in FORMATS)}
    assert flags(command) & shared == expected


@pytest.mark.parametrize("file", sorted(DATA.glob("*.json")), ids=lambda file: file.stem)
def test_documents_of_this_version_stay_valid(file: Path) -> None:
    """A field that is renamed or dropped bumps the version, and keeps the documents that were."""
    document = json.loads(file.read_text())
    assert document["schema_version"] == 1
    jsonschema.Draft202012Validator(json.loads(find_schema(file.stem.partition("-")[0]))).validate(document)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schemas_are_schemas_and_are_printed(name: str) -> None:
    schema = json.loads(find_schema(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    outcome = run("schema", name)
    assert (outcome.code, json.loads(outcome.stdout), outcome.stderr) == (0, schema, "")


def test_the_names_of_schemas() -> None:
    outcome = run("schema")
    assert [line.partition(":")[0] for line in outcome.stdout.splitlines()] == list(DOCUMENTS)
    assert run("schema", "proof") == (2, "", "error: there is no document proof (hint: did you mean proofs?)\n")


def test_quiet() -> None:
    assert run("bmc", "--timeout", "phi+delta+2", "--quiet") == (1, "", "")
    assert run(*STRB, "-q") == (0, "", "")
    outcome = run(*STRB, "--quiet", "--json")
    assert json.loads(outcome.stdout)["exit_code"] == 0
    assert run("explore", "nothing", "--quiet").stderr.startswith("error: unknown model nothing")


def test_a_run_of_a_threshold_automaton_as_itf(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    assert run(*BROKEN, "--itf", str(file)).code == 1
    trace = json.loads(file.read_text())
    assert trace["#meta"]["source"] == "STRB"
    assert set(trace["params"]) == {"N", "T", "F"}
    assert [state["#meta"]["choices"] for state in trace["states"]] == [
        {},
        {"rule": 1, "processes": 1},
        {"rule": 5, "processes": 1},
    ]


@pytest.mark.slow
def test_a_run_that_a_shorter_timeout_breaks_as_itf(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    assert run("bounds", "--delta", "1", "--phi", "1", "--itf", str(file)).code == 0
    assert len(json.loads(file.read_text())["states"]) > 1


def test_without_a_run_there_is_no_file(tmp_path: Path) -> None:
    file = tmp_path / "run.itf.json"
    assert run(*STRB, "--itf", str(file)).code == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "rule", "uri"),
    [
        (("bmc", "--timeout", "phi+delta+2"), "property", "fdverify/models/"),
        (BROKEN, "specification", "examples/threshold/strb.ta"),
    ],
    ids=["property", "specification"],
)
def test_a_claim_that_fails_has_a_place(arguments: tuple[str, ...], rule: str, uri: str, tmp_path: Path) -> None:
    file = tmp_path / "found.sarif"
    assert run(*arguments, "--sarif", str(file)).code == 1
    (result,) = json.loads(file.read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == rule
    assert place["artifactLocation"]["uri"].startswith(uri)
    assert place["region"]["startLine"] > 1


@pytest.mark.parametrize("arguments", [("cache",), ("map", "--delta", "0", "--phi", "1"), STRB], ids=lambda a: a[0])
def test_every_document_is_a_page(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert run(*arguments, "--html", str(file)).code == 0
    assert f'"command": "{" ".join(arguments[:2]) if arguments is STRB else arguments[0]}"' in file.read_text()


def test_a_report_is_not_written_over_what_it_is_about(tmp_path: Path) -> None:
    file = tmp_path / "strb.ta"
    file.write_bytes(Path("examples/threshold/strb.ta").read_bytes())
    outcome = run("threshold", "check", str(file), "--itf", str(file))
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "a report is not written to" in outcome.stderr
