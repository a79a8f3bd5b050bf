"""The options: what they do, and that the header repeats them."""

from pathlib import Path

import pytest

from fdverify.testing.plugin_options import PluginOptions
from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import XDIST, Project, junit


def header(out: str) -> str:
    (line,) = [line for line in out.splitlines() if line.startswith("fdverify 0")]
    return line.partition(": ")[2]


def test_the_header_tells_the_options(any_pytest: Project) -> None:
    any_pytest.write(test_nothing="def test_nothing():\n    pass\n")
    assert header(any_pytest.pytest().out) == (
        "proof_*.py and files that make a proof, unknown is a failure, no time limit, seed 0, cache, no second opinion"
    )
    options = ("--fdverify-unknown=xfail", "--fdverify-time-limit=2.5", "--fdverify-seed=7", "--fdverify-no-cache")
    found = any_pytest.pytest(*options, "--fdverify-second-opinion=cvc5", "-ofdverify_files=a_*.py b/*.py")
    assert header(found.out) == (
        "a_*.py b/*.py, unknown is xfail, time limit 2.5 s, seed 7, no cache, second opinion cvc5"
    )


@pytest.mark.parametrize(
    ("option", "message"),
    every(
        5,
        [
            ("--fdverify-unknown=maybe", "--fdverify-unknown must be fail or xfail, got 'maybe'"),
            ("--fdverify-time-limit=0", "--fdverify-time-limit must be a positive number of seconds, got '0'"),
            ("--fdverify-time-limit=soon", "--fdverify-time-limit must be a positive number of seconds, got 'soon'"),
            ("--fdverify-time-limit=inf", "--fdverify-time-limit must be a positive number of seconds, got 'inf'"),
            ("--fdverify-seed=-1", "--fdverify-seed must be a number from 0 to 4294967295, got '-1'"),
            (f"--fdverify-seed={'1' * 5000}", "--fdverify-seed must be a number from 0 to 4294967295, got '1"),
            ("--fdverify-second-opinion=abacus", "--fdverify-second-opinion: pysmt finds no solver abacus"),
            ("-ofdverify_files=proof_[ab.py", "fdverify_files: 'proof_[ab.py' has a [ without a ]"),
            ("-ofdverify_files=proofs/*", "fdverify_files: 'proofs/*' does not end in .py, and proofs are .py files"),
            ("-ofdverify_files=/proofs/*.py", "fdverify_files: '/proofs/*.py' is not a path below the root folder"),
            ("-ofdverify_files=a/**/*.py", "fdverify_files: 'a/**/*.py' has **, but * matches across folders already"),
            ("-ofdverify_files=../*.py", "fdverify_files: '../*.py' is not a path below the root folder"),
        ],
    ),
    ids=lambda value: str(value)[:40],
)
def test_a_bad_value_is_one_line_and_exit_4(project: Project, option: str, message: str) -> None:
    project.write(proof_good=files.GOOD)
    for xdist in every(2, XDIST):
        found = project.pytest(option, *xdist)
        assert found.code == 4
        (line,) = (found.out + found.error).split("\n\n")[0].strip().splitlines()
        assert line.startswith(f"ERROR: {message}")


def test_the_help_tells_the_options(project: Project) -> None:
    out = project.pytest("--help").out
    assert "fdverify_files" in out
    for option in ("unknown=fail|xfail", "time-limit=SECONDS", "seed=N", "no-cache", "second-opinion=SOLVER"):
        assert f"--fdverify-{option}" in out


def efforts(project: Project, *options: str) -> dict[str, int]:
    found = project.pytest("--junitxml=report.xml", "-k", "bounded or goal", *options)
    assert found.code == 0, found.out
    return {name: int(case.properties["effort"][0]) for name, case in junit(project.folder / "report.xml").items()}


@pytest.mark.slow
def test_what_was_proved_before_costs_nothing_unless_told(project: Project) -> None:
    project.write(proof_good=files.GOOD)
    first, again = efforts(project), efforts(project)
    assert first["bounded-step"] > 0
    assert again["bounded-step"] == 0
    assert efforts(project, "--fdverify-no-cache")["bounded-step"] > 0


@pytest.mark.slow
def test_a_seed_is_another_way_to_decide(project: Project) -> None:
    project.write(proof_good=files.GOOD)
    assert efforts(project)["bounded-step"] > 0
    seeded = efforts(project, "--fdverify-seed=5")
    assert seeded["bounded-step"] > 0, "not taken from the cache"
    assert seeded == efforts(project, "--fdverify-seed=5"), "and the same again"


def test_a_second_opinion_is_asked(project: Project) -> None:
    project.write(proof_good=files.GOOD, proof_hard=files.HOURS)
    found = project.pytest("--fdverify-second-opinion=cvc5", "proof_good.py", "-k", "bounded or goal")
    assert found.code == 0
    assert "proof_good.py::bounded-step" in found.passed


def test_the_commands_that_show_an_unknown_again() -> None:
    plain = PluginOptions(("proof_*.py",), False, None, 0, True, None)
    assert plain.format_proof_command(Path("a b.py"), "x-step") == "verify-invariant 'a b.py' --only x-step"
    assert plain.format_proof_command(Path("a.py"), None) == "verify-invariant a.py"
    told = PluginOptions(("proof_*.py",), True, 2.5, 7, False, "cvc5")
    flags = "--time-limit 2.5 --seed 7 --no-cache --second-opinion cvc5"
    assert (
        told.format_proof_command(Path("a.py"), "range(x)-step")
        == f"verify-invariant a.py --only 'range(x)-step' {flags}"
    )
    assert told.format_test_command("a.py::test[1]") == f"pytest 'a.py::test[1]' {flags.replace('--', '--fdverify-')}"
