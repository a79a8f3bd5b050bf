"""What an author can get wrong in a proof file is said in one line that names the place; the right file just works."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from fdverify.errors import UsageError
from fdverify.models.buffer import ENCODINGS
from fdverify.obligations.inductive import build_obligations
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import list_proof_files, load_proof
from fdverify.smt.decide import decide_script

INVARIANTS = Path(__file__).parents[2] / "invariants"

HEADER = """\
from fdverify.logic import And, If, Implies, Max, Min, Not, Or
from fdverify.proofs import Proof
"""
PROOF = 'proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy", timeout="6*phi+delta")\n'
GOOD = '''

@proof.invariant
def good(s):
    """The timeout is long enough."""
    return s.timeout >= 6 * s.phi + s.delta
'''
PLACE = "# here"
"""Ends the line that a complaint must name."""


class Author:
    """Writes proof files into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, text: str, name: str = "proof.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def complaint(self, text: str, name: str = "proof.py") -> UsageError:
        """What is said about a file when its obligations are made; it must name the marked line of that file."""
        path = self.write(text, name)
        with pytest.raises(UsageError) as caught:
            build_obligations(load_proof(path).build_invariant({}, {}))
        lines = text.splitlines()
        (line,) = (number for number, line in enumerate(lines, start=1) if line.endswith(PLACE))
        assert f"{path}:{line}: " in str(caught.value)
        assert "\n" not in str(caught.value)
        return caught.value


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


def loaded(path: Path) -> list[str]:
    """The names of the obligations of a file."""
    return [question.name for question in build_obligations(load_proof(path).build_invariant({}, {}))]


def test_a_good_file(author: Author) -> None:
    path = author.write(HEADER + PROOF + GOOD)
    names = loaded(path)
    assert names[-1] == "goal"
    assert {"good-init", "good-step"} <= set(names)
    proof = load_proof(path)
    assert str(proof.sources["good"]).startswith(f"{path}:{(HEADER + PROOF).count(chr(10)) + 3}")


MISUSES = {
    "and": ("s.timeout >= 1 and s.phi >= 1", "And"),
    "or": ("s.timeout < 1 or s.phi >= 1", "Or"),
    "not": ("not s.suspected", "Not"),
    "if": ("True if s.suspected else s.timeout > 0", "If"),
    "in": ("s.waiting_time in (1, 2)", "in"),
    "chained comparison": ("0 <= s.waiting_time <= s.timeout", "chained"),
    "max": ("max(s.phi, s.delta) > 0", "Max"),
    "min": ("min(s.phi, s.delta) > 0", "Min"),
    "all": ("all([s.timeout > 0, s.phi > 0])", "And"),
    "any": ("any([s.timeout > 0, s.phi > 0])", "Or"),
    "bool": ("bool(s.suspected)", "truth value"),
    "a set": ("{s.timeout} == {1}", "set"),
    "range": ("len(range(s.delta)) > 0", "index"),
    "division": ("s.timeout // s.phi > 0", "multiply"),
    "a number for a truth value": ("And(s.timeout, s.suspected)", "compare"),
    "a truth value for a number": ("s.timeout + s.suspected > 0", "If"),
}

misuses = pytest.mark.parametrize(("expression", "hint"), MISUSES.values(), ids=MISUSES)


def complete(error: UsageError) -> str:
    return f"{error.message} {error.hint}"


@misuses
def test_misuse_in_an_invariant(author: Author, expression: str, hint: str) -> None:
    claim = f'\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return {expression}  {PLACE}\n'
    error = author.complaint(HEADER + PROOF + GOOD + claim)
    assert error.hint is not None
    assert hint in complete(error)


@misuses
def test_misuse_in_a_helper(author: Author, expression: str, hint: str) -> None:
    helper = f"\ndef helper(s):\n    found = {expression}  {PLACE}\n    return found\n"
    claim = '\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return Implies(s.timeout > 2, helper(s))\n'
    error = author.complaint(HEADER + PROOF + GOOD + helper + claim)
    assert error.hint is not None
    assert hint in complete(error)


def test_misuse_in_the_helper_of_another_file(author: Author) -> None:
    helper = author.write("\n\ndef helper(s):\n    return not s.suspected\n", "_helper.py")
    claim = '\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return helper(s)\n'
    path = author.write("from _helper import helper\n" + HEADER + PROOF + claim)
    with pytest.raises(UsageError) as caught:
        loaded(path)
    assert f"{helper}:4: " in str(caught.value)


def test_an_if_statement(author: Author) -> None:
    body = f"    if s.suspected:  {PLACE}\n        return s.timeout > 0\n    return s.timeout > 1\n"
    error = author.complaint(HEADER + PROOF + f'\n@proof.invariant\ndef odd(s):\n    """Odd."""\n{body}')
    assert "If" in complete(error)


BAD_CLAIMS = {
    "an invariant without docstring": (
        f"@proof.invariant  {PLACE}\ndef silent(s):\n    return s.timeout > 0\n",
        "docstring",
    ),
    "a blank docstring": (
        f'@proof.invariant  {PLACE}\ndef silent(s):\n    """ """\n    return s.timeout > 0\n',
        "docstring",
    ),
    "a name used twice": (
        f'@proof.invariant  {PLACE}\ndef good(s):\n    """Again."""\n    return s.timeout > 0\n',
        "rename",
    ),
    "a second goal": (
        f'@proof.goal  {PLACE}\ndef other(s):\n    """Another goal."""\n    return s.timeout > 0\n',
        "two goals",
    ),
    "a number": (
        f'@proof.invariant  {PLACE}\ndef number(s):\n    """A number."""\n    return s.timeout\n',
        "not a truth value",
    ),
    "a Python number": (
        f'@proof.invariant  {PLACE}\ndef number(s):\n    """A number."""\n    return 1\n',
        "not a truth value",
    ),
    "nothing": (
        f'@proof.invariant  {PLACE}\ndef nothing(s):\n    """Nothing."""\n    s.timeout > 0\n',
        "not a truth value",
    ),
    "a missing variable": (
        f'@proof.invariant\ndef missing(s):\n    """Missing."""\n    return s.timeuot > 0  {PLACE}\n',
        "did you mean timeout?",
    ),
    "an error of Python's": (
        f'@proof.invariant\ndef wrong(s):\n    """Wrong."""\n    return [][1]  {PLACE}\n',
        "IndexError",
    ),
    "a change of the state": (
        f'@proof.invariant\ndef change(s):\n    """Change."""\n    s.timeout = 1  {PLACE}\n    return True\n',
        "cannot be changed",
    ),
    "a lambda": (
        f"proof.invariant(lambda s: s.timeout > 0)  {PLACE}\n",
        "def",
    ),
    "no function": (
        f"proof.invariant(3)  {PLACE}\n",
        "is not a function",
    ),
}


@pytest.mark.parametrize(("claim", "says"), BAD_CLAIMS.values(), ids=BAD_CLAIMS)
def test_bad_claims(author: Author, claim: str, says: str) -> None:
    assert says in complete(author.complaint(f"{HEADER}{PROOF}{GOOD}\n{claim}"))


def test_a_missing_variable_in_a_helper(author: Author) -> None:
    helper = f"\ndef helper(s):\n    return s.timeuot > 0  {PLACE}\n"
    claim = '\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return helper(s)\n'
    assert "did you mean timeout?" in complete(author.complaint(HEADER + PROOF + helper + claim))


BAD_PROOFS = {
    "no goal": (f'proof = Proof("chandra-toueg")  {PLACE}\n{GOOD}', "no goal"),
    "no invariant": (f"{PROOF.strip()}  {PLACE}\n", "no invariant"),
    "unknown option": (
        f'proof = Proof("chandra-toueg", goal="strong-accuracy", varaint="ivy")  {PLACE}\n{GOOD}',
        "did you mean variant?",
    ),
    "unknown model": (
        f'proof = Proof("chandra-tueg", goal="strong-accuracy")  {PLACE}\n{GOOD}',
        "did you mean chandra-toueg?",
    ),
    "unknown goal": (
        f'proof = Proof("chandra-toueg", goal="strong-acuracy")  {PLACE}\n{GOOD}',
        "did you mean strong-accuracy?",
    ),
    "unknown value of an option": (
        f'proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivi")  {PLACE}\n{GOOD}',
        "ivy",
    ),
    "two proofs": (f"{PROOF}{GOOD}\nother = {PROOF[8:].strip()}  {PLACE}\n", "second proof"),
    "two proofs of one name": (f"{PROOF}{GOOD}\n{PROOF.strip()}  {PLACE}\n{GOOD}", "second proof"),
    "a proof that is thrown away": (f"{PROOF}{GOOD}\n{PROOF[8:].strip()}  {PLACE}\n", "second proof"),
    "a number for a switch": (
        f'proof = Proof("chandra-toueg", goal="strong-accuracy", crash=1)  {PLACE}\n{GOOD}',
        "true",
    ),
    "a mark on what is no claim": (
        f'from fdverify.proofs import expect_verdict\n{PROOF}{GOOD}\n\n@expect_verdict("violated")  {PLACE}\n'
        "def other(s):\n    return True\n",
        "other is expected to fail but is not a claim of the proof",
    ),
    "a hint of two lines": (
        f'from fdverify.proofs import hint\n{PROOF}{GOOD}\n\n@hint("first\\nsecond")  {PLACE}\n'
        "def other(s):\n    return True\n",
        "a hint is one line of text",
    ),
    "a hint without text": (
        f"from fdverify.proofs import hint\n{PROOF}{GOOD}\n\n@hint  {PLACE}\ndef other(s):\n    return True\n",
        "a hint is one line of text",
    ),
}


@pytest.mark.parametrize(("text", "says"), BAD_PROOFS.values(), ids=BAD_PROOFS)
def test_bad_proofs(author: Author, text: str, says: str) -> None:
    assert says in complete(author.complaint(HEADER + text))


def test_no_proof_in_a_file(author: Author) -> None:
    path = author.write(HEADER)
    with pytest.raises(UsageError, match="there is no proof in it") as caught:
        load_proof(path)
    assert str(path) in str(caught.value)


def test_one_proof_by_two_names_is_one(author: Author) -> None:
    assert "goal" in loaded(author.write(f"{HEADER}{PROOF}same = proof\n{GOOD}"))


def test_a_proof_that_was_imported_is_not_the_files_own(author: Author) -> None:
    author.write(HEADER + PROOF + GOOD, "first.py")
    path = author.write("from first import proof\n", "second.py")
    with pytest.raises(UsageError, match="there is no proof in it"):
        load_proof(path)


def test_what_is_wrong_with_the_file_itself(author: Author) -> None:
    author.complaint(f"{HEADER}x = 1 +  {PLACE}\n", "syntax.py")
    author.complaint(f"{HEADER}raise RuntimeError('out of\\norder')  {PLACE}\n", "raises.py")
    author.complaint(f"import nothing_of_that_name  {PLACE}\n", "imports.py")


@pytest.mark.parametrize("unknown", [{"dleta": 2}, {"phy": 1}])
def test_an_unknown_parameter(author: Author, unknown: dict[str, int]) -> None:
    path = author.write(HEADER + PROOF + GOOD)
    with pytest.raises(UsageError, match="did you mean"):
        load_proof(path).build_invariant(unknown, {})


def test_a_file_that_imports_its_neighbour(author: Author) -> None:
    author.write("def enough(s):\n    return s.timeout >= s.phi\n", "_helper.py")
    claim = '\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return enough(s)\n'
    assert "odd-step" in loaded(author.write("from _helper import enough\n" + HEADER + PROOF + claim))


def test_helpers_of_the_same_name_do_not_mix(author: Author) -> None:
    """Each of two files reads the helper in its own folder, also when that is read late."""
    texts = []
    for folder, least in (("one", 111), ("two", 222)):
        author.write(f"LEAST = {least}\n", f"{folder}/_helper.py")
        claim = '\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return s.timeout >= LEAST\n'
        path = author.write("from _helper import LEAST\n" + HEADER + PROOF + claim, f"{folder}/proof.py")
        asked = {
            question.name: question.script.render()
            for question in build_obligations(load_proof(path).build_invariant({}, {}))
        }
        texts.append(asked["odd-step"])
    assert "111" in texts[0]
    assert "222" not in texts[0]
    assert "222" in texts[1]
    assert "111" not in texts[1]


def test_files_of_a_folder(author: Author) -> None:
    for name in ("b.py", "a.py", "_helper.py", "notes.txt"):
        author.write(HEADER + PROOF + GOOD, name)
    assert [path.name for path in list_proof_files([author.folder])] == ["a.py", "b.py"]
    for bad in ("notes.txt", "missing.py"):
        with pytest.raises(UsageError, match=bad):
            list_proof_files([author.folder / bad])


def test_a_goal_of_ones_own(author: Author) -> None:
    own = '\n@proof.goal\ndef patient(s):\n    """The timeout is never short."""\n    return s.timeout >= s.phi\n'
    path = author.write(HEADER + 'proof = Proof("chandra-toueg", variant="ivy")\n' + GOOD + own)
    goal = build_obligations(load_proof(path).build_invariant({}, {}))[-1]
    assert (goal.kind, goal.about) == (ObligationKind.GOAL, "patient")
    assert decide_script(goal.script).status == "unsat"


@pytest.mark.parametrize("false", ["False", "s.waiting_time > 0", "s.timeout < s.phi"])
def test_a_false_conjunct_is_refuted(author: Author, false: str) -> None:
    """One that is false already of the initial values, too."""
    claim = f'\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return {false}\n'
    path = author.write(HEADER + PROOF + GOOD + claim)
    asked = {question.name: question.script for question in build_obligations(load_proof(path).build_invariant({}, {}))}
    assert decide_script(asked["odd-init"]).status == "sat"


def test_a_false_goal_is_refuted(author: Author) -> None:
    own = '\n@proof.goal\ndef never(s):\n    """Never."""\n    return False\n'
    path = author.write(HEADER + 'proof = Proof("chandra-toueg", variant="ivy")\n' + GOOD + own)
    assert decide_script(build_obligations(load_proof(path).build_invariant({}, {}))[-1].script).status == "sat"


def test_a_claim_written_over_several_lines(author: Author) -> None:
    parts = indent(f"s.timeout > 0,\n0 < s.phi < 5,  {PLACE}\n", " " * 8)
    claim = f'\n@proof.invariant\ndef odd(s):\n    """Odd."""\n    return And(\n{parts}    )\n'
    assert "chained" in complete(author.complaint(HEADER + PROOF + claim))


@pytest.fixture(scope="module")
def shipped() -> Proof:
    return load_proof(INVARIANTS / "strong_accuracy.py")


INSTANCES: list[tuple[dict[str, int], str]] = [({}, "predicate"), *(({"delta": 2}, name) for name in ENCODINGS)]


@pytest.mark.parametrize(("parameters", "buffer"), INSTANCES)
def test_one_file_in_every_encoding(shipped: Proof, parameters: dict[str, int], buffer: str) -> None:
    asked = build_obligations(shipped.build_invariant(parameters, {"buffer": buffer}))
    assert len(asked) > 20
    assert {question.name: decide_script(question.script).status for question in asked} == {
        question.name: "unsat" for question in asked
    }


@pytest.mark.parametrize(("parameters", "buffer"), INSTANCES)
def test_one_file_without_a_conjunct_in_every_encoding(shipped: Proof, parameters: dict[str, int], buffer: str) -> None:
    """The same file with a timeout that is too short is a proof in none of them."""
    asked = build_obligations(shipped.build_invariant(parameters, {"buffer": buffer, "timeout": "6*phi+delta-1"}))
    assert any(decide_script(question.script).status == "sat" for question in asked)


def test_an_encoding_for_symbolic_delta(shipped: Proof) -> None:
    with pytest.raises(UsageError, match="needs a fixed delta"):
        shipped.build_invariant({}, {"buffer": "counter"})
