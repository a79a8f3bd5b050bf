"""Names that would move a cursor, begin another line or turn text round, through every command and its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.cli import script
from tests.cli.script import Outcome, environment, run_script
from tests.sampling import every

EVIL = "\x1b[31m\x07\r\nerror: all is well\u202e\x9b2J\u2028"
SHOWN = "\\x1b[31m\\x07\\r\\nerror: all is well\\u202e\\x9b2J\\u2028"
BYTES = b"a\xff\x1b[2J\nb"
MODEL = f"""
from fdverify.logic import If, Not
from fdverify.models.model import Model, Option
from fdverify.models.system import Flag, Integers, Parameter, Phase, Property, System, Variable, update

EVIL = {EVIL!a}


def tick(s, c):
    return update(clock=If(c.ticks, If(s.clock < s.limit, s.clock + 1, 0), s.clock))


def build(limit, kind):
    return System(
        name="clock" + EVIL,
        options={{"kind": kind}},
        parameters=(Parameter("limit", 1, limit),),
        variables=(Variable("clock", Integers(), initial=lambda s: 0, range=lambda s: s.clock >= 0),),
        phases=(Phase("tick" + EVIL, tick, (Flag("ticks"),)),),
        properties=(
            Property("small" + EVIL, lambda s: s.clock < s.limit, "it is small" + EVIL),
            Property("fits", lambda s: s.clock <= s.limit, "it fits" + EVIL),
        ),
        liveness=(Property("stays" + EVIL, lambda s: s.clock == 0, "it stays" + EVIL),),
    )


MODEL = Model(
    "clock" + EVIL,
    "a clock" + EVIL,
    (Parameter("limit", 1, None, "the last hour" + EVIL),),
    (Option("kind", "its kind" + EVIL, "usual" + EVIL, metavar="KIND" + EVIL),),
    "small" + EVIL,
    build,
    default_liveness="stays" + EVIL,
)
"""
PROOF = f"""
from fdverify.proofs import Proof
from model import EVIL, MODEL

proof = Proof(MODEL)


@proof.goal
def small(s):
    {"it is small" + EVIL.replace(chr(13) + chr(10), " ")!a}
    return s.clock < s.limit


@proof.invariant
def bounded(s):
    'The same.'
    return s.clock < s.limit
"""


def run(*arguments: str, cwd: Path, program: str = "fdverify", **more: str) -> Outcome:
    return script.run(*arguments, name=program, cwd=cwd, env=environment(**more))


def assert_harmless(text: str) -> None:
    odd = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
    assert odd == set(), ascii(text[:2000])
    assert not [line for line in text.split("\n") if line.startswith("error: all is well")]


def assert_one_error(outcome: Outcome, *, code: int = 2) -> str:
    found, stdout, stderr = outcome
    assert (found, stdout) == (code, ""), stderr
    assert stderr.endswith("\n")
    assert stderr.count("\n") == 1, stderr
    assert stderr.startswith("error: ")
    assert_harmless(stderr)
    return stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "claim.py").write_text(PROOF)
    return tmp_path


FIXED = ("model.py:MODEL", "--limit", "2")
COMMANDS = {
    "explore": ("explore", *FIXED),
    "explore, proved": ("explore", *FIXED, "--property", "fits"),
    "bmc": ("bmc", *FIXED, "--subrounds", "--show", "clock"),
    "induct": ("induct", *FIXED),
    "live": ("live", *FIXED),
    "simulate": ("simulate", *FIXED, "--subrounds"),
    "map": ("map", "model.py:MODEL", "--limit", "1..3"),
    "infer": ("infer", "model.py:MODEL", "--property", "fits", "--time-limit", "5"),
}


@pytest.mark.parametrize("name", every(6, COMMANDS))
def test_what_commands_print(name: str, folder: Path) -> None:
    code, stdout, stderr = run(*COMMANDS[name], cwd=folder, XDG_CACHE_HOME=str(folder / "cache"))
    assert code in (0, 1, 3), stderr
    assert_harmless(stdout)
    assert_harmless(stderr)
    assert SHOWN in stdout or name == "infer"


@pytest.mark.parametrize("name", every(7, COMMANDS))
def test_what_help_prints(name: str, folder: Path) -> None:
    code, stdout, stderr = run(*COMMANDS[name][:2], "--help", cwd=folder)
    assert (code, stderr) == (0, "")
    assert_harmless(stdout)


def test_a_drawing_is_one_that_can_be_read(folder: Path) -> None:
    run(*COMMANDS["map"], "--no-cache", "--svg", "map.svg", cwd=folder)
    text = (folder / "map.svg").read_text()
    assert_harmless(text)
    texts = "".join(ElementTree.fromstring(text).itertext())
    assert SHOWN in texts


def test_documents_hold_what_was_named(folder: Path) -> None:
    _, stdout, _ = run(*COMMANDS["explore"], "--json", "--html", "page.html", "--itf", "run.json", cwd=folder)
    assert_harmless(stdout)
    assert json.loads(stdout)["property"] == f"small{EVIL}"
    assert_harmless((folder / "page.html").read_text())
    assert_harmless((folder / "run.json").read_text())


@pytest.mark.parametrize("more", every(2, [(), ("--no-cache", "--suggest"), ("--stability", "2"), ("--json",)]))
def test_a_proof(more: tuple[str, ...], folder: Path) -> None:
    outcome = run(
        "claim.py", *more, "--sarif", "x.sarif", "--smtlib", "smt", cwd=folder, program="verify-invariant",
        XDG_CACHE_HOME=str(folder / EVIL),
    )  # fmt: skip
    code, stdout, stderr = outcome
    assert code == 1, stderr
    assert_harmless(stdout)
    assert_harmless(stderr)
    assert_harmless((folder / "x.sarif").read_text())
    for path in (folder / "smt").iterdir():
        assert_harmless(path.name)
        assert_harmless(path.read_text())


ERRORS = {
    "an option": ("bmc", f"--{EVIL}"),
    "a command": (f"x{EVIL}",),
    "a property": ("bmc", "--property", f"x{EVIL}"),
    "an expression": ("bmc", "--timeout", f"phi+{EVIL}"),
    "a number": ("bmc", "--delta", f"1{EVIL}"),
    "a range": ("map", "--delta", f"1{EVIL}", "--phi", "1"),
    "an option's value": ("bmc", "--variant", f"x{EVIL}"),
    "a model": ("bmc", f"x{EVIL}.py:MODEL"),
    "a name in a file": ("bmc", f"model.py:{EVIL}"),
    "a column": ("bmc", "--show", f"x{EVIL}"),
    "a report": ("bmc", "--html", f"no{EVIL}/x.html"),
    "a scheduler": ("map", "--delta", "0", "--phi", "1", "--timeout", "9", "--scheduler", EVIL),
    "a length of time": ("bounds", "--delta", "1", "--phi", "1", "--tick", EVIL),
    "a template": ("cutoff", f"x{EVIL}"),
    "a formula": ("cutoff", "--property", f"G ({EVIL})"),
    "a computation": ("cutoff", "--computation", EVIL),
    "an automaton": ("threshold", "check", f"x{EVIL}.ta"),
    "a name of a file": ("new", "proof", f"x{EVIL}"),
    "who searches": ("infer", "--by", EVIL),
    "lemmas": ("induct", "--lemmas", f"x{EVIL}.py"),
    "a folder of tables": ("threshold", "table", f"x{EVIL}"),
    "a proof for bounds": ("bounds", "accuracy", "--proof", f"x{EVIL}.py"),
}


@pytest.mark.parametrize("name", every(6, ERRORS))
def test_errors_about_what_was_given(name: str, folder: Path) -> None:
    assert_one_error(run(*ERRORS[name], cwd=folder, XDG_CACHE_HOME=str(folder / "cache")))


@pytest.mark.parametrize("more", every(2, [("--only", EVIL), ("--second-opinion", EVIL), ("--variant", EVIL)]))
def test_errors_about_what_a_proof_was_given(more: tuple[str, ...], folder: Path) -> None:
    (folder / "claim.py").write_text(
        PROOF.replace("Proof(MODEL)", 'Proof("chandra-toueg")').replace("clock", "timeout")
    )
    code, _, stderr = run("claim.py", *more, cwd=folder, program="verify-invariant")
    assert code == 2
    assert_harmless(stderr)
    assert stderr.count("error: ") - stderr.count("nerror: ") == 1


RAISED = {
    "a message": f"raise ValueError({EVIL!a})",
    "a name of a class": f"raise type({EVIL!a}, (Exception,), {{}})()",
    "a missing module": f"__import__({'no' + EVIL!a})",
    "a key": f"{{}}[{EVIL!a}]",
}


@pytest.mark.parametrize("name", every(3, RAISED))
def test_what_an_authors_file_raises(name: str, folder: Path) -> None:
    (folder / "bad.py").write_text(RAISED[name])
    assert_one_error(run("bmc", "bad.py:MODEL", cwd=folder))
    code, _, stderr = run("bad.py", cwd=folder, program="verify-invariant")
    assert code == 2
    assert stderr.count("\n") == 1
    assert_harmless(stderr)


@pytest.mark.parametrize("name", [EVIL, os.fsdecode(BYTES)], ids=["controls", "bytes"])
def test_names_of_files(name: str, folder: Path) -> None:
    model, claim, automaton = folder / f"m{name}.py", folder / f"p{name}.py", folder / f"t{name}.ta"
    model.write_text(MODEL)
    claim.write_text(PROOF)
    automaton.write_text(f"nonsense {EVIL}")
    code, stdout, stderr = run("explore", f"{model.name}:MODEL", "--limit", "2", cwd=folder)
    assert code in (1, 2), stderr
    assert_harmless(stdout)
    assert_harmless(stderr)
    assert_one_error(run("explore", f"{model.name}:OTHER", "--limit", "2", cwd=folder))
    assert_one_error(run("threshold", "check", automaton.name, cwd=folder))
    code, stdout, stderr = run(claim.name, "--sarif", "x.sarif", cwd=folder, program="verify-invariant")
    assert code in (1, 2), stderr
    assert_harmless(stdout)
    assert_harmless(stderr)
    assert_harmless((folder / "x.sarif").read_text())


def test_an_automaton_in_a_python_file(folder: Path) -> None:
    shipped = Path(__file__).parents[3] / "examples" / "threshold" / "strb.ta"
    (folder / "flow.py").write_text(
        "from dataclasses import replace\nfrom pathlib import Path\n"
        "from fdverify.threshold.text.read import read_automaton\n"
        f"AUTOMATON = replace(read_automaton(Path({str(shipped)!r})),"
        f" name={EVIL!a})\n"
    )
    for command in (("check", "--time-limit", "60"), ("show",)):
        _, stdout, stderr = run("threshold", command[0], "flow.py", *command[1:], cwd=folder)
        assert_harmless(stdout)
        assert_harmless(stderr)


@pytest.mark.slow
def test_pytest(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "claim.py", "-k", "small or bounded"],
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / EVIL)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout
    assert_harmless(done.stdout)


@pytest.mark.parametrize("level", ["1", "2"])
def test_an_optimised_python_is_refused(level: str, folder: Path) -> None:
    """Without docstrings claims say nothing, and without assertions contradictions go on."""
    for program, arguments in (("fdverify", ("bmc",)), ("verify-invariant", ("claim.py",))):
        env = environment(PYTHONOPTIMIZE=level)
        told = assert_one_error(run_script(*arguments, name=program, cwd=folder, env=env))
        assert "PYTHONOPTIMIZE" in told


@pytest.mark.slow
def test_an_optimised_python_verifies_nothing_in_pytest(folder: Path) -> None:
    (folder / "test_verify.py").write_text("def test_it(verify):\n    verify.proved('claim.py')\n")
    (folder / "test_other.py").write_text("def test_other():\n    pass\n")
    env = environment(PYTHONOPTIMIZE="2")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=folder, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode != 0
    assert "PYTHONOPTIMIZE" in done.stdout
    alone = [sys.executable, "-m", "pytest", "-q", "test_other.py"]
    done = subprocess.run(alone, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, "who has no proofs is not concerned"
