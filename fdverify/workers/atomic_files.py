"""Safe reading and atomic writing of files, and writing of reports to files, links, devices and pipes."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep

_READER_SECONDS = 5.0
_LONGEST_NAME = 200


def read_regular_file(path: Path, longest: int) -> bytes:
    """Read a regular file of limited size; refuse anything else, such as a pipe, without blocking."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > longest:
            raise OSError(errno.EINVAL, "it is not a regular file of limited size")
        return file.read(longest)


def make_file_name(text: str) -> str:
    """Make a file name, without a suffix: the text itself if it is short and plain, else a part of it and a digest."""
    plain = re.sub(r"[^\w.()+=,-]", "_", text, flags=re.ASCII)
    if plain == text and 0 < len(text) <= _LONGEST_NAME and not text.startswith("."):
        return text
    return f"{plain[: _LONGEST_NAME - 9].lstrip('.')}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


def write_atomically(path: Path, text: str, aside: Path | None = None) -> None:
    """Write a file atomically: a reader sees the old file or the complete new one, even if this process is killed.

    The text is first written to a hidden file in the same folder, or in the folder ``aside`` of the same file system.
    """
    prefix = f".{path.name[:40]}." if aside is None else f"{os.getpid()}."
    handle, name = tempfile.mkstemp(dir=aside or path.parent, prefix=prefix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_encode_text(text))
        os.chmod(name, _choose_mode(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_report(path: Path, text: str) -> None:
    """Write a file that the user named.  A regular file is replaced atomically; links, devices and pipes are kept.

    If the path is a stream that this process already writes to, such as its stdout under another name, the text is
    appended there, and nothing written before is lost.
    """
    stream = _find_own_stream(path)
    if stream is not None:
        _write_all(stream, _encode_text(text))
        return
    if _is_regular_or_missing(path):
        try:
            write_atomically(path, text)
            return
        except OSError:
            # The file may be writable even if its folder is not.
            if not path.is_file():
                raise
    handle = _open_for_writing(path)
    try:
        _write_all(handle, _encode_text(text))
    finally:
        os.close(handle)


def is_writable(path: Path) -> bool:
    """Tell whether a report can be written there, as far as this can be known in advance."""
    try:
        if not _is_present(path):
            # The path may be a dangling link, whose target is then created.
            return _is_writable_folder(Path(os.path.realpath(path)).parent)
        mode = path.stat().st_mode
        return not stat.S_ISDIR(mode) and not stat.S_ISSOCK(mode) and _is_permitted(path, os.W_OK)
    except (OSError, ValueError):
        return False


def is_writable_tree(folder: Path) -> bool:
    """Tell whether files can be written into a folder, which is created with its parents if it is missing."""
    try:
        while not _is_present(folder) and not folder.is_symlink() and folder != folder.parent:
            folder = folder.parent
        return _is_writable_folder(folder)
    except (OSError, ValueError):
        return False


def is_taken(path: Path) -> bool:
    """Tell whether a write would destroy the content of a file; devices, pipes and this process's streams have none."""
    return path.is_file() and _find_own_stream(path) is None


def is_same_file(path: Path, other: Path) -> bool:
    """Tell whether both paths are one file, so that the second write would replace the first; devices take both."""
    try:
        if _is_present(path) and _is_present(other):
            return path.is_file() and path.samefile(other) and _find_own_stream(path) is None
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def _is_writable_folder(folder: Path) -> bool:
    return folder.is_dir() and _is_permitted(folder, os.W_OK | os.X_OK)


def _is_permitted(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _is_present(path: Path) -> bool:
    """Tell whether the path exists, following links; raise ``OSError`` if this cannot be determined."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _is_regular_or_missing(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _find_own_stream(path: Path) -> int | None:
    """Return the file descriptor if the path is this process's stdout or stderr: opening it again would truncate it."""
    try:
        status = path.stat()
    except OSError:
        return None
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or have no file descriptor
            if os.path.samestat(status, os.fstat(stream.fileno())):
                stream.flush()
                return stream.fileno()
    return None


def _open_for_writing(path: Path) -> int:
    """Open a path for writing; wait only a few seconds for a reader of a pipe."""
    deadline = monotonic() + _READER_SECONDS
    while True:
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
            handle = os.open(path, flags, 0o666)
        except OSError as error:
            if error.errno != errno.ENXIO or monotonic() > deadline:
                raise
            sleep(0.05)
            continue
        os.set_blocking(handle, True)
        return handle


def _write_all(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def _encode_text(text: str) -> bytes:
    """Encode as UTF-8; characters that cannot be encoded, such as undecodable bytes of a name, are escaped."""
    return text.encode(errors="backslashreplace")


def _choose_mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or the default ones."""
    try:
        return stat.S_IMODE(path.lstat().st_mode) & 0o777
    except OSError:
        return 0o666 & ~_read_umask()


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
