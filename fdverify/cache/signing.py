"""Signatures of the records in the cache folder, made with a key that is stored elsewhere.

A cache may be restored, shared or writable by others.  A record is trusted only if a process with the same key has
written it.  The key is in the environment, or in a file that belongs to the user and that nobody else can read.
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

KEY_VARIABLE = "FDVERIFY_CACHE_KEY"
_LEAST_LENGTH = 16
_KEY_FILE = re.compile(rb"fdverify cache key\n([0-9a-f]{64})\n")
_LONGEST_FILE = 256


@dataclass(frozen=True)
class SigningKey:
    """The secret that signs, if there is one; where it is stored, or why it is not used."""

    secret: bytes | None
    place: str
    trouble: str = ""


def sign_record(kind: str, payload: bytes) -> str | None:
    """Sign a record; return ``None`` if there is no key and none can be created.

    The signature covers the kind of record and the version of the package, so a record of one kind never passes for one
    of another kind.
    """
    key = find_key(create=True)
    return None if key.secret is None else _compute_signature(key.secret, kind, payload)


def is_signed(kind: str, payload: bytes, signature: str) -> bool:
    """Tell whether a process with the same key has signed this as a record of this kind."""
    key = find_key()
    if key.secret is None or not signature.isascii():
        return False
    return hmac.compare_digest(_compute_signature(key.secret, kind, payload), signature)


def check_key() -> None:
    """Refuse a key in the environment that is too short to be secure."""
    secret = os.environ.get(KEY_VARIABLE, "")
    if 0 < len(secret) < _LEAST_LENGTH:
        hint = "python -c 'import secrets; print(secrets.token_hex(32))' makes one"
        raise UsageError(f"{KEY_VARIABLE} must have at least {_LEAST_LENGTH} characters, got {len(secret)}", hint)


def find_key(create: bool = False) -> SigningKey:
    """Find the key; with ``create``, create one if there is none.

    An empty variable counts as unset: CI services set it so in jobs that may not see the secret.
    """
    secret = os.environ.get(KEY_VARIABLE, "")
    if secret:
        check_key()
        return SigningKey(os.fsencode(secret), f"the environment variable {KEY_VARIABLE}")
    path = get_key_path()
    if _is_below(path, Path(platformdirs.user_cache_dir("fdverify"))):
        return SigningKey(
            None, str(path), "it would be in the cache folder, where all who share the cache could read it"
        )
    try:
        return _read_or_create_key(path, create)
    except OSError as error:
        return SigningKey(None, str(path), error.strerror or type(error).__name__)


def get_key_path() -> Path:
    """Return the path of the key file, which is used unless the environment has a key."""
    return Path(platformdirs.user_state_dir("fdverify")) / "cache.key"


@lru_cache(maxsize=8)
def _is_below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _compute_signature(secret: bytes, kind: str, payload: bytes) -> str:
    # Each part is preceded by its length, so that different lists of parts give different texts.
    parts = (b"fdverify", __version__.encode(), kind.encode(), payload)
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hmac.new(secret, text, "sha256").hexdigest()


def _read_or_create_key(path: Path, create: bool) -> SigningKey:
    try:
        key = _read_key(path)
    except FileNotFoundError:
        if not create:
            return SigningKey(None, str(path), "none was made yet")
        _create_key(path, replace=False)
        return _read_key(path)
    if key.secret is None and create and _is_own_file(path):
        _create_key(path, replace=True)
        return _read_key(path)
    return key


def _read_key(path: Path) -> SigningKey:
    """Read the key file, which must belong to this user and be inaccessible to others."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return SigningKey(None, str(path), "it is not a regular file")
        if status.st_uid != os.geteuid():
            return SigningKey(None, str(path), "it belongs to another user")
        if status.st_mode & 0o077:
            return SigningKey(
                None, str(path), f"other users can access it: its mode is {stat.S_IMODE(status.st_mode):04o}, not 0600"
            )
        match = _KEY_FILE.fullmatch(os.read(handle, _LONGEST_FILE))
    finally:
        os.close(handle)
    return SigningKey(None, str(path), "it is damaged") if match is None else SigningKey(match[1], str(path))


def _is_own_file(path: Path) -> bool:
    """Tell whether the path is a regular file of this user; then an unusable key in it may be replaced."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _create_key(path: Path, replace: bool) -> None:
    """Create a key file atomically; if several processes do so at once, one wins and all use its key."""
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
