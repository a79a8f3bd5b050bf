"""Files as people write them."""

from pathlib import Path

import pytest

from fdverify.errors import format_location, shorten_path


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
