"""``fdverify new``: what it writes fails with a step table and a hint, and is proved once the hint is followed."""

import os
from pathlib import Path

import pytest

from tests.cli.repair import repair
from tests.cli.script import environment, run
from tests.cli.test_verify_invariant import verify
from tests.sampling import every

KINDS = ("proof", "model")


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path / ".cache"))


@pytest.mark.parametrize("kind", every(2, KINDS))
def test_it_fails_and_the_hint_repairs_it(kind: str, tmp_path: Path, cache: dict[str, str]) -> None:
    told = run("new", kind, "demo", cwd=tmp_path)
    assert (told.code, told.stderr) == (0, "")
    first, following, *more = told.stdout.splitlines()
    assert (first, following) == ("wrote demo.py", "next: verify-invariant demo.py")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.py"]
    failing = verify("demo.py", env=cache, cwd=tmp_path)
    assert failing.code == 1
    assert "-step fails" in failing.stdout
    assert "┃ round ┃ choices" in failing.stdout
    repair(tmp_path, failing.stdout)
    proved = verify("demo.py", env=cache, cwd=tmp_path)
    assert (proved.code, proved.stderr) == (0, "")
    assert "│ demo  │ proved  │" in proved.stdout
    assert "hint" not in proved.stdout
    for command in more:
        program, *arguments = command.removeprefix("next: ").split()
        assert program == "fdverify"
        assert run(*arguments, cwd=tmp_path).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", every(2, KINDS))
def test_names(kind: str, tmp_path: Path, cache: dict[str, str]) -> None:
    names = ("größe", "random", "fdverify", "match", "X" * 100, "proof_1")
    for name in names:
        assert run("new", kind, name, cwd=tmp_path).code == 0
    checked = verify(".", "--only", "range(timeout)", env=cache, cwd=tmp_path)
    assert (checked.code, checked.stderr) == (0, "")
    assert checked.stdout.count("│ partial ") == len(names)


@pytest.mark.parametrize(
    "name",
    every(4, ["a-b", "", "1st", "class", "None", "a.py", "../a", "a/b", "a:b", "_a", "conftest", "test_a", "a_test"]),
)
@pytest.mark.parametrize("kind", every(2, KINDS))
def test_no_names(kind: str, name: str, tmp_path: Path) -> None:
    told = run("new", kind, name, cwd=tmp_path)
    assert (told.code, told.stdout) == (2, "")
    assert told.stderr.startswith("error: ")
    assert len(told.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(kind: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("mine")
    os.symlink("nowhere.py", tmp_path / "link.py")
    (tmp_path / "folder.py").mkdir()
    for name in ("mine", "link", "folder"):
        told = run("new", kind, name, cwd=tmp_path)
        assert (told.code, told.stdout) == (2, "")
        assert told.stderr == f"error: {name}.py already exists (hint: choose another name)\n"
    assert (tmp_path / "mine.py").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"mine.py", "link.py", "folder.py"}


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    told = run("new", "proof", "x" * 300, cwd=tmp_path)
    assert told.code == 2
    assert told.stderr.startswith("error: cannot write xxx")
    assert list(tmp_path.iterdir()) == []
