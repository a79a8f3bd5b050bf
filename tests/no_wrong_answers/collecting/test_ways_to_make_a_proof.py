"""However a proof is made, it is seen; and a file in which none is made is not run."""

from pathlib import Path

import pytest

from fdverify.models.proof_scan import has_proof
from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import Project

CONJUNCT = '''

@proof.invariant
def bounded(s):
    """The receiver is idle for less than Φ."""
    return s.receiver_timer < s.phi
'''
HEAD = "from fdverify.proofs import Proof\n"
ALIAS = "from fdverify.proofs import Proof as P\n"
ARGUMENTS = '("chandra-toueg", goal="strong-accuracy", variant="ivy")'
MADE = f"Proof{ARGUMENTS}"
IF = f"import sys\nif sys.version_info > (3,):\n    proof = {MADE}\nelse:\n    proof = None\n"

WAYS = {
    "alias": f"{ALIAS}proof = P{ARGUMENTS}\n",
    "alias by assignment": f"{HEAD}Q = Proof\nproof = Q{ARGUMENTS}\n",
    "module": f"import fdverify.proofs\nproof = fdverify.proofs.Proof{ARGUMENTS}\n",
    "module under an alias": f"from fdverify import proofs as p\nproof = p.Proof{ARGUMENTS}\n",
    "star": f"from fdverify.proofs import *\nproof = {MADE}\n",
    "parentheses": f"{HEAD}proof = (\n    Proof\n){ARGUMENTS}\n",
    "in parentheses": f"{HEAD}proof = (\n    {MADE}\n)\n",
    "if": HEAD + IF,
    "tuple": f"{HEAD}proof, bound = {MADE}, 3\n",
    "list": f"{HEAD}[proof] = [{MADE}]\n",
    "annotated": f"{HEAD}proof: Proof = {MADE}\n",
    "walrus": f"{HEAD}print(proof := {MADE})\n",
    "loop": f"{HEAD}for variant in ['ivy']:\n"
    "    proof = Proof('chandra-toueg', goal='strong-accuracy', variant=variant)\n",
    "comprehension": f"{HEAD}proofs = [{MADE} for _ in 'x']\nproof = proofs[0]\n",
    "with": f"{HEAD}import contextlib\nwith contextlib.suppress(KeyError):\n    proof = {MADE}\n",
    "try": f"{HEAD}try:\n    proof = {MADE}\nfinally:\n    pass\n",
    "function": f"{HEAD}def make():\n    return {MADE}\n\nproof = make()\n",
    "function of a function": f"{HEAD}def inner():\n    return {MADE}\n"
    "def outer():\n    return inner()\nproof = outer()\n",
    "function that imports": f"def make():\n    from fdverify.proofs import Proof\n    return {MADE}\nproof = make()\n",
    "lambda": f"{HEAD}make = lambda: {MADE}\nproof = make()\n",
    "partial": f"{HEAD}from functools import partial\nmake = partial(Proof, 'chandra-toueg')\n"
    "proof = make(goal='strong-accuracy', variant='ivy')\n",
    "table": f"{HEAD}KINDS = {{'p': Proof}}\nproof = KINDS['p']{ARGUMENTS}\n",
    "class": f"{HEAD}class Mine(Proof):\n    pass\n\nproof = Mine{ARGUMENTS}\n",
    "method": f"{HEAD}class Maker:\n    def make(self):\n        return {MADE}\n\nproof = Maker().make()\n",
    "class body": f"{HEAD}class Kept:\n    proof = {MADE}\n\nproof = Kept.proof\n",
    "choice": f"{HEAD}proof = (Proof if HERE else None){ARGUMENTS}\n".replace("HERE", "True"),
    "by its name": f"from fdverify import proofs\nproof = getattr(proofs, 'Proof'){ARGUMENTS}\n",
    "helper": "from helper import make\nproof = make()\n",
    "helper under an alias": "import helper as h\nproof = h.make()\n",
    "helper that is hidden": "from _hidden import made_here as new\nproof = new()\n",
    "helper of a helper": "from between import relayed\nproof = relayed()\n",
    "helper in a package": "import lib.makers\nproof = lib.makers.make()\n",
    "helper from a package": "from lib import (\n    makers,\n)\nproof = makers.make()\n",
    "helper with the class": f"from between import Proof\nproof = {MADE}\n",
    "helper with the class under an alias": f"from between import P\nproof = P{ARGUMENTS}\n",
}
HELPER = f"{HEAD}def make():\n    return {MADE}\n"
BETWEEN = (
    f"{HEAD}from fdverify.proofs import Proof as P\nfrom helper import make\n\ndef relayed():\n    return make()\n"
)


def with_helpers(project: Project) -> None:
    project.write(helper=HELPER, _hidden=HELPER.replace("make", "made_here"), between=BETWEEN)
    (project.folder / "lib").mkdir()
    (project.folder / "lib" / "makers.py").write_text(HELPER)


def test_every_way_is_collected(project: Project) -> None:
    """By pytest, and by the command; all in one run, since starting one takes longest."""
    with_helpers(project)
    names = {f"way_{number}": way for number, way in enumerate(every(3, WAYS))}
    project.write(**{name: WAYS[way] + CONJUNCT for name, way in names.items()})
    collected = {nodeid.partition(".py::")[0] for nodeid in project.ids("-k", "bounded")}
    assert {way for name, way in names.items() if name not in collected} == set()
    assert collected == set(names), "and nothing else"
    found = project.verify_invariant(".", "--only", "bounded-init", "--json")
    assert found.code == 0, found.error
    assert found.out.count('"proof": "way_') == len(names)
    assert "files without a proof" in found.error


@pytest.mark.parametrize("way", every(12, list(WAYS)))
def test_a_file_that_is_named_is_collected(project: Project, way: str) -> None:
    with_helpers(project)
    project.write(mine=WAYS[way] + CONJUNCT)
    assert "mine.py::bounded-step" in project.ids("mine.py")


NONE = {
    "nothing": "x = 1\n",
    "a function that is not called": f"{HEAD}def make():\n    return {MADE}\n",
    "a script": f"{HEAD}if __name__ == '__main__':\n    proof = {MADE}\n",
    "types": f"{HEAD}from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    Known = Proof\n"
    "def of(p: Proof) -> Proof:\n    return p\n",
    "a question": f"{HEAD}print(isinstance(3, Proof))\n",
    "another kind of proof": "class Proof:\n    pass\n\nproof = Proof()\n",
    "text": f"'''from fdverify.proofs import Proof\nproof = {MADE}'''\n",
    "a helper": HELPER,
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_a_file_that_makes_none_is_not_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert not has_proof(tmp_path / "mine.py")


def test_what_is_not_run_is_not_run(project: Project) -> None:
    stops = "\nraise SystemExit('it was run')\n"
    project.write(**{f"none_{number}": text + stops for number, text in enumerate(NONE.values())}, mine=files.GOOD)
    assert {nodeid.partition("::")[0] for nodeid in project.ids()} == {"mine.py"}
    found = project.verify_invariant(".", "--only", "bounded-init")
    assert found.code == 0, found.error
    assert f"1 proof, {len(NONE)} files without a proof" in found.out


def test_a_proof_that_is_not_made_after_all_is_none(project: Project) -> None:
    project.write(mine=files.GOOD, odd=f"{HEAD}if 1 > 2:\n    proof = {MADE}\n")
    assert {nodeid.partition("::")[0] for nodeid in project.ids()} == {"mine.py"}
    found = project.verify_invariant(".", "--only", "bounded-init")
    assert "1 proof, 1 file without a proof" in found.out


def test_a_broken_file_that_speaks_of_proofs_is_an_error(project: Project) -> None:
    project.write(mine=files.GOOD, broken=files.SYNTAX_ERROR)
    assert "broken.py:5: '(' was never closed" in project.pytest().out
    assert project.verify_invariant(".").code == 2


@pytest.mark.parametrize("arguments", [("empty.py",), ("empty.py", "mine.py")])
def test_a_named_file_without_a_proof_is_told(project: Project, arguments: tuple[str, ...]) -> None:
    project.write(mine=files.GOOD, empty=f"{HEAD}def make():\n    return {MADE}\n")
    found = project.pytest(*arguments, "-k", "bounded")
    assert found.code == 2
    assert "empty.py: there is no proof in it (hint: write proof = Proof(model, goal=...))" in found.out


def test_a_named_file_that_speaks_of_no_proof_is_told_if_nothing_was_found(project: Project) -> None:
    project.write(mine="x = 1\n", helper="def test_it():\n    pass\n", test_none="y = 2\n")
    found = project.pytest("mine.py", "test_none.py")
    assert found.code == 5
    assert "fdverify: mine.py: there is no proof in it" in found.out
    assert "test_none.py: there is no proof" not in found.out
    assert "no proof" not in project.pytest("mine.py", "helper.py").out


def test_tests_in_a_file_that_was_named_are_not_disturbed(project: Project) -> None:
    project.write(checks="import fdverify\n\ndef test_it():\n    assert fdverify\n")
    assert project.pytest("checks.py").passed == {"checks.py::test_it"}


def test_a_named_file_beside_the_globs_is_collected(project: Project) -> None:
    project.write(mine=files.GOOD, proofs__other=files.GOOD)
    assert "mine.py::goal" in project.ids("-ofdverify_files=proofs/*.py", "mine.py")
    assert {nodeid.partition("::")[0] for nodeid in project.ids("-ofdverify_files=proofs/*.py")} == {"proofs/other.py"}


@pytest.mark.parametrize("glob", every(3, ["nothing_*.py", "proofs/*.py", "proof_*.py", "mine/*.py"]))
@pytest.mark.parametrize("xdist", every(2, [(), ("-n", "2")]))
def test_a_glob_that_matches_nothing_is_an_error(project: Project, glob: str, xdist: tuple[str, ...]) -> None:
    project.write(mine=files.GOOD, deep__mine=files.GOOD)
    found = project.pytest(f"-ofdverify_files=mine.py {glob}", *xdist)
    assert found.code == 4
    (line,) = [line for line in (found.out + "\n" + found.error).splitlines() if "matches no file" in line]
    assert line.startswith(f"ERROR: fdverify_files: '{glob}' matches no file below")


def test_help_is_there_whatever_the_globs_match(project: Project) -> None:
    assert project.pytest("-ofdverify_files=nothing_*.py", "--help").code == 0
