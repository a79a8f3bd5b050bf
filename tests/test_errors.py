"""Files as people write them, and errors with their places."""

import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import fdverify
from fdverify.errors import (
    FdverifyError,
    NameClash,
    SourceLocation,
    UsageError,
    add_place,
    find_python_line,
    format_location,
    shorten_path,
)
from fdverify.models.loading import load_module
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.findings import list_findings
from fdverify.proofs.proof_files import NoProofInFile
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.reports.outcome import Finding
from fdverify.threshold.text.read import read_automaton
from tests.no_wrong_answers.hostile import PLACES, write_hostile

ELSEWHERE = Path("/elsewhere/b.py")
NO_MODULES = ("fdverify.__main__", "fdverify.invariants", "fdverify.templates")
"""These are run, not imported."""


def test_below_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shorten_path(tmp_path / "a" / "b.py") == Path("a/b.py")
    assert format_location(tmp_path / "b.py", 3) == "b.py:3"


def test_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shorten_path("/elsewhere/b.py") == Path("/elsewhere/b.py")
    assert shorten_path("b.py") == Path("b.py")


def test_without_a_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert shorten_path(tmp_path / "b.py") == tmp_path / "b.py"


TEXTS = {
    "nothing else": (UsageError("bad"), "bad"),
    "a hint": (UsageError("bad", "better"), "bad (hint: better)"),
    "a file": (UsageError("bad", place=SourceLocation(ELSEWHERE)), "/elsewhere/b.py: bad"),
    "a line": (UsageError("bad", place=SourceLocation(ELSEWHERE, 3)), "/elsewhere/b.py:3: bad"),
    "a column": (UsageError("bad", place=SourceLocation(ELSEWHERE, 3, 5)), "/elsewhere/b.py:3:5: bad"),
    "all": (UsageError("bad", "better", SourceLocation(ELSEWHERE, 3)), "/elsewhere/b.py:3: bad (hint: better)"),
    "two places": (NameClash("bad at 3 and at 4", None, SourceLocation(ELSEWHERE, 4)), "bad at 3 and at 4"),
    "an odd name": (UsageError("bad", place=SourceLocation(Path("a: b\n.py"), 3)), "a: b\\n.py:3: bad"),
}


@pytest.mark.parametrize(("error", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_begins_with_the_place(error: UsageError, text: str) -> None:
    assert str(error) == text


def test_a_place_is_shortened_when_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = UsageError("bad", place=SourceLocation(tmp_path / "b.py", 3))
    assert str(error) == f"{tmp_path}/b.py:3: bad"
    monkeypatch.chdir(tmp_path)
    assert str(error) == "b.py:3: bad"


def error_classes(top: type[FdverifyError] = FdverifyError) -> Iterator[type[FdverifyError]]:
    """The package's own classes of errors."""
    if top.__module__.partition(".")[0] == "fdverify":
        yield top
    for below in top.__subclasses__():
        yield from error_classes(below)


def test_a_place_survives_pickling_whatever_the_class() -> None:
    for module in walk_packages(fdverify.__path__, "fdverify."):
        if not module.name.startswith(NO_MODULES):
            import_module(module.name)
    classes = set(error_classes())
    assert {"NameClash", "NoBound", "NoInstance", "NoProofInFile", "SymbolicMisuse"} <= {
        each.__name__ for each in classes
    }
    place = SourceLocation(ELSEWHERE, 3, 5)
    for each in classes:
        error = NoProofInFile(ELSEWHERE) if each is NoProofInFile else each("bad", "better", place)
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is each
        assert (copy.message, copy.hint, copy.place) == (error.message, error.hint, error.place)
        assert str(copy) == str(error)
        assert error.place is not None


def test_an_author_may_raise_errors_with_any_objects() -> None:
    error = UsageError(ValueError("odd"), lambda: 0, "not a place")  # type: ignore[arg-type]
    assert (error.message, error.place) == ("odd", None)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_authors_class_need_not_call_ours() -> None:
    class Silent(UsageError):
        def __init__(self) -> None:
            pass

    class Odd(UsageError):
        place = "here"  # type: ignore[assignment]

    assert (str(Silent()), Silent().place) == ("", None)
    for error in (Silent(), Odd("bad")):
        assert find_python_line(error) is None
        assert add_place(error, SourceLocation(ELSEWHERE, 3)).place == SourceLocation(ELSEWHERE, 3)


def test_a_place_is_neither_replaced_nor_told_twice() -> None:
    placed = UsageError("bad", "better", SourceLocation(ELSEWHERE, 3))
    assert add_place(placed, SourceLocation(Path("other.py"), 1)) is placed
    whole = NoProofInFile(ELSEWHERE)
    assert add_place(whole, SourceLocation(Path("other.py"), 1)) is whole
    generated = UsageError("bad", place=SourceLocation(Path("<string>"), 3))
    assert str(add_place(generated, SourceLocation(ELSEWHERE, 7))) == "/elsewhere/b.py:7: <string>:3: bad"


def checked(path: Path) -> tuple[ProofResult, Finding]:
    """What is said about a bad file, and its only finding."""
    (result,) = check_proofs([path], ProofSettings(jobs=1, cache=False))
    (finding,) = list_findings(result, lambda result, name: "")
    assert finding.rule == "bad-file"
    assert finding.text == str(result.error)
    return result, finding


@pytest.mark.parametrize("place", PLACES)
def test_a_message_that_looks_like_a_place_is_none(place: str, tmp_path: Path) -> None:
    """Wherever an author raises it, it gets a place in the author's file."""
    path = write_hostile(tmp_path, place, 'raise UsageError("x.py:3: as the other file has it")')
    result, finding = checked(path)
    assert result.error is not None
    line = finding.line
    assert str(result.error) == f"{path}:{line}: x.py:3: as the other file has it"
    assert finding.file == path
    at_fault = path.read_text().splitlines()[line - 1]
    assert at_fault.startswith("proof = " if place == "build" else "    raise" if place != "load" else "raise")


@pytest.mark.parametrize("name", ["my proof.py", "a: b.py", "x.py:3: y.py", "a\nb.py"])
def test_a_finding_is_at_the_line_whatever_the_name_of_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("first = 1\nsecond = = 2\n")
    result, finding = checked(path)
    assert (finding.file, finding.line) == (path, 2)
    assert result.error is not None
    assert result.error.message == "invalid syntax"


def test_a_model_that_cannot_be_named_is_told_with_the_line_of_the_proof(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text('from fdverify.proofs import Proof\n\nproof = Proof("a.py:b:MODEL", goal="small")\n')
    result, finding = checked(path)
    assert str(result.error).startswith(f"{path}:3: a.py:b:MODEL does not name a model")
    assert finding.line == 3


@pytest.mark.parametrize("line", ["2", "'two'", "None"])
def test_a_syntax_error_that_an_author_raises(line: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"raise SyntaxError('odd', (None, {line}, 1, ''))\n")
    with pytest.raises(UsageError, match=rf"mine\.py:{2 if line == '2' else 1}: odd"):
        load_module(path)


def test_an_automaton_that_a_python_file_reads(tmp_path: Path) -> None:
    """Both places are told: that in the text, and the line that asked for it."""
    text, path = tmp_path / "bad.ta", tmp_path / "mine.py"
    text.write_text("skel A {\n  local ?;\n}\n")
    with pytest.raises(UsageError) as refused:
        read_automaton(text)
    assert refused.value.place == SourceLocation(text, 2, 9)
    path.write_text(
        "from pathlib import Path\n"
        "from fdverify.threshold.text.read import read_automaton\n"
        f"AUTOMATON = read_automaton(Path({str(text)!r}))\n"
    )
    with pytest.raises(UsageError) as outer:
        load_module(path)
    assert str(outer.value) == f"{path}:3: {refused.value}"
    assert outer.value.place == SourceLocation(path, 3)
