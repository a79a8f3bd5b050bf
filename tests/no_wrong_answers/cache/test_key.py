"""The key that signs is nobody else's, and is there whoever makes it first."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fdverify.cache import signing
from fdverify.cache.signing import SigningKey, check_key, find_key, get_key_path, is_signed, sign_record
from fdverify.errors import UsageError
from fdverify.workers.worker_process import get_process_context


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(signing.KEY_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "state"


def signature() -> str:
    found = sign_record("proved", b"something")
    assert found is not None
    return found


def test_it_is_made_when_something_is_signed_and_stays() -> None:
    assert find_key().secret is None, "reading makes no key"
    assert not get_key_path().exists()
    first = signature()
    assert get_key_path().stat().st_mode & 0o777 == 0o600
    assert get_key_path().parent.stat().st_mode & 0o077 == 0
    assert signature() == first
    assert is_signed("proved", b"something", first)
    assert [path.name for path in get_key_path().parent.iterdir()] == ["cache.key"], "nothing else is left"


def test_it_is_not_in_the_cache_folder(tmp_path: Path) -> None:
    signature()
    assert not get_key_path().is_relative_to(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666, 0o620, 0o601, 0o777])
def test_one_that_others_may_use_is_replaced(mode: int) -> None:
    before = signature()
    get_key_path().chmod(mode)
    assert find_key().secret is None
    assert "mode" in find_key().trouble
    assert not is_signed("proved", b"something", before)
    assert signature() != before
    assert get_key_path().stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage", [b"", b"x", b"fdverify cache key\n" + b"g" * 64 + b"\n", b"fdverify cache key\n", bytes(300)]
)
def test_a_damaged_one_is_replaced(damage: bytes) -> None:
    before = signature()
    get_key_path().write_bytes(damage)
    assert find_key().trouble == "it is damaged"
    assert signature() != before


def test_one_of_another_user_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before, content = signature(), get_key_path().read_bytes()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert sign_record("proved", b"something") is None
    assert not is_signed("proved", b"something", before)
    assert find_key().trouble == "it belongs to another user"
    assert get_key_path().read_bytes() == content


ODD: dict[str, Callable[[Path], None]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to a key that others know": lambda path: path.symlink_to(known(path)),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
}


def known(beside: Path) -> Path:
    path = beside.with_name("known")
    path.write_text(f"fdverify cache key\n{'0' * 64}\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_is_no_file_is_no_key(odd: Callable[[Path], None]) -> None:
    get_key_path().parent.mkdir(parents=True)
    odd(get_key_path())
    assert find_key().secret is None
    assert sign_record("proved", b"something") is None
    assert find_key().trouble


def test_no_place_for_a_key_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in ("/dev/null", "/proc/nothing", str(tmp_path / "file")):
        monkeypatch.setenv("XDG_STATE_HOME", place)
        assert sign_record("proved", b"something") is None
        assert not is_signed("proved", b"something", "0" * 64)


def test_a_key_in_the_cache_folder_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever shares the folder would have it."""
    for place in (tmp_path / "cache", tmp_path / "link"):
        if place.name == "link":
            (tmp_path / "cache").mkdir(exist_ok=True)
            place.symlink_to(tmp_path / "cache")
        monkeypatch.setenv("XDG_STATE_HOME", str(place))
        assert sign_record("proved", b"something") is None
        assert "cache folder" in find_key().trouble


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    filed = signature()
    monkeypatch.setenv(signing.KEY_VARIABLE, "a secret of a CI service")
    assert not is_signed("proved", b"something", filed)
    assert is_signed("proved", b"something", signature())
    assert find_key() == SigningKey(b"a secret of a CI service", f"the environment variable {signing.KEY_VARIABLE}")


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service gives that to a job from which it withholds its secrets; an empty key would be known to all."""
    filed = signature()
    monkeypatch.setenv(signing.KEY_VARIABLE, "")
    check_key()
    assert is_signed("proved", b"something", filed)


@pytest.mark.parametrize("short", ["x", "0123456789abcde"])
def test_a_short_one_is_refused(short: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(signing.KEY_VARIABLE, short)
    with pytest.raises(UsageError, match="at least 16 characters") as refused:
        check_key()
    assert repr(short) not in str(refused.value), "it is a secret"


def test_a_key_that_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(signing.KEY_VARIABLE, os.fsdecode(bytes(range(128, 160))))
    assert is_signed("proved", b"something", signature())


def test_of_many_processes_that_make_it_one_wins() -> None:
    """All but the first few signatures would be lost otherwise, and with them what was proved."""

    def sign(there: object) -> None:
        there.send(signature())  # type: ignore[attr-defined]

    ends = [get_process_context().Pipe(duplex=False) for _ in range(8)]
    processes = [get_process_context().Process(target=sign, args=(there,)) for _, there in ends]
    for process in processes:
        process.start()
    found = {here.recv() for here, _ in ends}
    for process in processes:
        process.join()
    assert found == {signature()}
