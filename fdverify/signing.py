"""Signatures of what is kept in the cache folder, by a key that is not kept there.

A cache may be restored, shared or writable by others; what it says is believed only if a process with the same key has
written it.  The key is in the environment, or in a file of the user's own that nobody else can read.
"""

from __future__ import annotations

import hmac
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from secrets import token_hex

import platformdirs

from fdverify import __version__
from fdverify.errors import UsageError

VARIABLE = "FDVERIFY_CACHE_KEY"
_LEAST_LENGTH = 16
_KEY_FILE = re.compile(rb"fdverify cache key\n([0-9a-f]{64})\n")
_LONGEST_FILE = 256


@dataclass(frozen=True)
class Key:
    """What signs, if there is something; where it is, or why it is not used."""

    secret: bytes | None
    place: str
    trouble: str = ""


def sign_record(kind: str, payload: bytes) -> str | None:
    """Sign what is to be kept; ``None`` if there is no key and none can be made.

    The signature is of this kind of record and of this version of the package only: what is signed as one kind is
    never taken for another.
    """
    key = find_key(create=True)
    return None if key.secret is None else _signature(key.secret, kind, payload)


def is_signed(kind: str, payload: bytes, signature: str) -> bool:
    """Whether the signature is that of a process with the same key, on a record of this kind."""
    key = find_key()
    if key.secret is None or not signature.isascii():
        return False
    return hmac.compare_digest(_signature(key.secret, kind, payload), signature)


def check_key() -> None:
    """Refuse a key in the environment that could be guessed."""
    given = os.environ.get(VARIABLE, "")
    if 0 < len(given) < _LEAST_LENGTH:
        hint = "python -c 'import secrets; print(secrets.token_hex(32))' makes one"
        raise UsageError(f"{VARIABLE} must have at least {_LEAST_LENGTH} characters, got {len(given)}", hint)


def find_key(create: bool = False) -> Key:
    """The key there is; with ``create``, one is made if there is none.

    An empty variable is none: that is what a CI service gives a job from which it withholds its secrets.
    """
    given = os.environ.get(VARIABLE, "")
    if given:
        check_key()
        return Key(os.fsencode(given), f"the environment variable {VARIABLE}")
    path = key_path()
    if _is_below(path, Path(platformdirs.user_cache_dir("fdverify"))):
        return Key(None, str(path), "it would be in the cache folder, for all to see who share that")
    try:
        return _read_or_make(path, create)
    except OSError as error:
        return Key(None, str(path), error.strerror or type(error).__name__)


def key_path() -> Path:
    """The file that has the key unless the environment does."""
    return Path(platformdirs.user_state_dir("fdverify")) / "cache.key"


@lru_cache(maxsize=8)
def _is_below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _signature(secret: bytes, kind: str, payload: bytes) -> str:
    # Each part with its length, so that no two lists of parts are the same text.
    parts = (b"fdverify", __version__.encode(), kind.encode(), payload)
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hmac.new(secret, text, "sha256").hexdigest()


def _read_or_make(path: Path, create: bool) -> Key:
    try:
        key = _read(path)
    except FileNotFoundError:
        if not create:
            return Key(None, str(path), "none was made yet")
        _make(path, replace=False)
        return _read(path)
    if key.secret is None and create and _is_own(path):
        _make(path, replace=True)
        return _read(path)
    return key


def _read(path: Path) -> Key:
    """The key of a file that belongs to this user and that nobody else can read or write."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            return Key(None, str(path), "it is no file")
        if about.st_uid != os.geteuid():
            return Key(None, str(path), "it belongs to another user")
        if about.st_mode & 0o077:
            return Key(None, str(path), f"others may use it: its mode is {stat.S_IMODE(about.st_mode):04o}, not 0600")
        match = _KEY_FILE.fullmatch(os.read(handle, _LONGEST_FILE))
    finally:
        os.close(handle)
    return Key(None, str(path), "it is damaged") if match is None else Key(match[1], str(path))


def _is_own(path: Path) -> bool:
    """Whether it is a file of this user's, which may be replaced when nobody should trust it any more."""
    about = path.lstat()
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()


def _make(path: Path, replace: bool) -> None:
    """Write a new key, whole from the first moment; of several processes that do, one wins and all use its key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".cache.key.")  # readable by this user only
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"fdverify cache key\n{token_hex(32)}\n")
        if replace:
            os.replace(name, path)
            return
        try:
            os.link(name, path)
        except FileExistsError:
            return
    finally:
        Path(name).unlink(missing_ok=True)
