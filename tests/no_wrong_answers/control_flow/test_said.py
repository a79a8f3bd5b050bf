"""What is said: for which parameters something holds, and which part of which specification is not decided."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from fdverify.errors import UsageError
from fdverify.schemas import find_schema
from fdverify.threshold.check_specification import ThresholdSettings, check_specifications
from fdverify.threshold.fixed_parameters import describe_parameters, fix_parameters, replace_assumptions
from fdverify.threshold.text.read import parse_assumption, parse_automaton
from fdverify.verdict import Verdict, choose_exit_code
from tests.cli.script import run
from tests.sampling import every
from tests.threshold.small import QUIET, STRB, TEXT, found, one

DIALOG = STRB.parent / "dialog" / "byz.py"
ALL = "for all admissible parameters"
SAID = [
    (("--set", "N=4,T=1,F=1"), "for N = 4, T = 1, F = 1"),
    (("--set", "T=1"), "for T = 1 and all admissible N, F"),
    (("--set", "F=0,T=2"), "for F = 0, T = 2 and all admissible N"),
    (("--assume", "N > 3*T", "--assume", "F <= T"), "for all parameters with (N > 3 * T) && (F <= T)"),
    (
        ("--assume", "N > 3*T", "--assume", "F <= T", "--set", "T=1"),
        "for T = 1 and all N, F with (N > 3 * T) && (F <= T)",
    ),
    (("--assume", "N == 4 && T == 1 && F == 1"), "for all parameters with (((N == 4) && (T == 1)) && (F == 1))"),
    ((), ALL),
]


@pytest.mark.parametrize(("arguments", "says"), SAID)
def test_an_automaton_knows_for_which_parameters_it_is(arguments: tuple[str, ...], says: str) -> None:
    automaton = parse_automaton(TEXT, "t")
    options = list(zip(arguments[::2], arguments[1::2], strict=True))
    claims = [parse_assumption(text, automaton) for option, text in options if option == "--assume"]
    automaton = replace_assumptions(automaton, claims) if claims else automaton
    numbers = {part[0]: int(part[2:]) for option, text in options if option == "--set" for part in text.split(",")}
    assert describe_parameters(fix_parameters(automaton, numbers)) == says


@pytest.mark.parametrize("file", every(2, [STRB, DIALOG]), ids=lambda file: file.name)
@pytest.mark.parametrize(("arguments", "says"), every(7, SAID[1:]))
def test_a_proof_says_for_which_parameters_it_is(file: Path, arguments: tuple[str, ...], says: str) -> None:
    name = "relay"
    outcome = run("threshold", "check", str(file), "--spec", name, *arguments)
    assert outcome.stdout.startswith(f"{name}: proved: {name} holds {says}, ")
    assert (ALL in outcome.stdout) == (not arguments)
    document = json.loads(run("threshold", "check", str(file), "--spec", name, *arguments, "--json").stdout)
    assert document["specifications"][0]["detail"] == f"{name} holds {says}"


@pytest.mark.slow
def test_a_page_says_it_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("threshold", "check", str(STRB), "--set", "N=4,T=1,F=1", "--html", str(page)).code == 0
    assert "holds for N = 4, T = 1, F = 1" in page.read_text()
    assert ALL not in page.read_text()


def test_what_is_vacuous_is_so_for_the_parameters_that_were_asked_for() -> None:
    never = one(f"A -> B when (x >= 5) {QUIET}", spec="[](B != 0 -> <>(A == 0))")
    assert found(never).detail == "no run meets its premise for any admissible parameters"
    assert found(fix_parameters(never, {"N": 2, "T": 1})).detail == "no run meets its premise for N = 2, T = 1"
    assert found(fix_parameters(never, {"N": 2})).detail == "no run meets its premise for N = 2 and any admissible T"
    assumed = replace_assumptions(never, [parse_assumption("N >= T", never)])
    assert found(assumed).detail == "no run meets its premise for any parameters with (N >= T)"
    assert (
        found(replace_assumptions(never, [])).detail == "no run meets its premise for any parameters with no condition"
    )


def test_without_parameters_none_are_spoken_of() -> None:
    text = (
        "skel A { locations { A: []; B: []; } inits { A == 1; B == 0; } rules { } specifications { s: [](B == 0); } }"
    )
    assert found(parse_automaton(text, "t")).detail == "s holds"
    assert (
        describe_parameters(fix_parameters(parse_automaton(TEXT, "t"), {"N": 4, "F": 0}))
        == "for N = 4, F = 0 and all admissible T"
    )


THREE = """skel Three {
  parameters N;
  assumptions { N >= 1; }
  locations { A: []; B: []; C: []; }
  inits { A == N; B == 0; C == 0; }
  rules { 1: A -> B when (true) do { }; }
  specifications { safe: [](C == 0); outside: <>(A > 2); mixed: <>(A == 0 && <>(B == 0)); broken: [](B == 0); }
}
"""


def test_a_specification_outside_refuses_itself_and_names_the_part(tmp_path: Path) -> None:
    file = tmp_path / "three.ta"
    file.write_text(THREE)
    outcome = run("threshold", "check", str(file))
    assert outcome.code == 2
    assert outcome.stderr == ""
    assert re.search(r"^safe: proved", outcome.stdout, flags=re.MULTILINE)
    assert re.search(r"^broken: violated", outcome.stdout, flags=re.MULTILINE)
    assert re.search(
        r"^outside: refused: outside: .* is not supported: \(A <= 2\) ", outcome.stdout, flags=re.MULTILINE
    )
    assert re.search(
        r"^mixed: refused: mixed: .*: \[\]\(\(A != 0\) \|\| \[\]\(B != 0\)\) \(hint: .*\)$",
        outcome.stdout,
        flags=re.MULTILINE,
    )
    refused = run("threshold", "check", str(file), "--spec", "outside")
    assert (refused.code, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "is not supported: (A <= 2)" in refused.stderr


@pytest.mark.slow
def test_machines_are_told_that_it_has_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "three.ta"
    file.write_text(THREE)
    document = json.loads(run("threshold", "check", str(file), "--json").stdout)
    jsonschema.validate(document, json.loads(find_schema("threshold")))
    assert document["exit_code"] == 2
    assert [each["verdict"] for each in document["specifications"]] == ["proved", None, None, "violated"]
    alone = run("threshold", "check", str(file), "--spec", "safe", "--spec", "broken")
    assert alone.code == 1


@pytest.mark.slow
def test_what_is_refused_is_shown_on_a_page(tmp_path: Path) -> None:
    file, page = tmp_path / "three.ta", tmp_path / "page.html"
    file.write_text(THREE)
    assert run("threshold", "check", str(file), "--html", str(page)).code == 2
    assert "refused" in page.read_text()


def test_what_is_wrong_with_the_automaton_is_said_once() -> None:
    automaton = parse_automaton(
        THREE.replace("do { }", "do { x' == x + 1; }").replace("parameters N;", "shared x; parameters N;"), "t"
    )
    looping = replace(automaton, rules=(replace(automaton.rules[0], target="A"),))
    with pytest.raises(UsageError, match="rule 1 is on a cycle and counts without a bound"):
        check_specifications(looping, looping.specifications, ThresholdSettings())


def test_the_worst_exit_code() -> None:
    automaton = parse_automaton(THREE, "t")
    by_name = {
        each.name: each for each in check_specifications(automaton, automaton.specifications, ThresholdSettings())
    }
    assert by_name["outside"].verdict is None
    assert by_name["safe"].verdict is Verdict.PROVED
    assert by_name["safe"].exit_code == 0
    assert choose_exit_code({by_name[name].exit_code for name in ("safe", "broken")}) == 1
    assert choose_exit_code({each.exit_code for each in by_name.values()}) == 2
