"""Files as people write them."""

from pathlib import Path

import pytest

from fdverify.errors import located, nearby


def test_below_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert nearby(tmp_path / "a" / "b.py") == Path("a/b.py")
    assert located(tmp_path / "b.py", 3) == "b.py:3"


def test_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert nearby("/elsewhere/b.py") == Path("/elsewhere/b.py")
    assert nearby("b.py") == Path("b.py")


def test_without_a_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert nearby(tmp_path / "b.py") == tmp_path / "b.py"
