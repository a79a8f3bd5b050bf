"""Files: read only if they are plain, replaced as a whole, and reports written through whatever is in their place."""

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


def read_plain(path: Path, longest: int) -> bytes:
    """The content of a plain file that is not too long; a pipe, say, is refused and never waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > longest:
            raise OSError(errno.EINVAL, "it is no plain file of a reasonable size")
        return file.read(longest)


def safe_name(text: str) -> str:
    """A name for a file, without an ending: as it is where that is short and plain, else told apart by a digest."""
    plain = re.sub(r"[^\w.()+=,-]", "_", text, flags=re.ASCII)
    if plain == text and 0 < len(text) <= _LONGEST_NAME and not text.startswith("."):
        return text
    return f"{plain[: _LONGEST_NAME - 9].lstrip('.')}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"


def write_whole(path: Path, text: str, aside: Path | None = None) -> None:
    """Replace whatever has this name; a reader sees all of the file or none of it, whoever is killed meanwhile.

    Until it is whole it is beside the old one, hidden, or ``aside`` in a folder of the same disk.
    """
    prefix = f".{path.name[:40]}." if aside is None else f"{os.getpid()}."
    handle, name = tempfile.mkstemp(dir=aside or path.parent, prefix=prefix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_encoded(text))
        os.chmod(name, _mode(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_report(path: Path, text: str) -> None:
    """Write a file that somebody named: a plain one is replaced as a whole, all else is written through.

    A link stays a link, and a device a device.  What this process writes to already, such as its stdout under another
    name, gets the text where it has got to, and nothing that was written there is lost.
    """
    own = _own_stream(path)
    if own is not None:
        _write_all(own, _encoded(text))
        return
    if _is_plain_or_missing(path):
        try:
            write_whole(path, text)
            return
        except OSError:
            # The file may be writable where its folder is not.
            if not path.is_file():
                raise
    handle = _open(path)
    try:
        _write_all(handle, _encoded(text))
    finally:
        os.close(handle)


def is_writable(path: Path) -> bool:
    """Whether a report can be written there, as far as that is known before it is."""
    try:
        if not _exists(path):
            # Of what a link leads to, if it is one.
            return _is_writable_folder(Path(os.path.realpath(path)).parent)
        mode = path.stat().st_mode
        return not stat.S_ISDIR(mode) and not stat.S_ISSOCK(mode) and _is_permitted(path, os.W_OK)
    except (OSError, ValueError):
        return False


def is_writable_tree(folder: Path) -> bool:
    """Whether files can be written into a folder, which is made if it is not there, and those it is in."""
    try:
        while not _exists(folder) and not folder.is_symlink() and folder != folder.parent:
            folder = folder.parent
        return _is_writable_folder(folder)
    except (OSError, ValueError):
        return False


def is_taken(path: Path) -> bool:
    """Whether there is a file whose content would be lost; a device, a pipe or a stream of this process has none."""
    return path.is_file() and _own_stream(path) is None


def is_same_file(path: Path, other: Path) -> bool:
    """Whether both name one file, which the second to be written would replace; a device or a pipe takes both."""
    try:
        if _exists(path) and _exists(other):
            return path.is_file() and path.samefile(other) and _own_stream(path) is None
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def _is_writable_folder(folder: Path) -> bool:
    return folder.is_dir() and _is_permitted(folder, os.W_OK | os.X_OK)


def _is_permitted(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _exists(path: Path) -> bool:
    """Whether there is something, at the end of all links; an error if that cannot be told."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _is_plain_or_missing(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _own_stream(path: Path) -> int | None:
    """Where to write if the path is what this process has as stdout or stderr: opened again, it would start anew."""
    try:
        about = path.stat()
    except OSError:
        return None
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or no file
            if os.path.samestat(about, os.fstat(stream.fileno())):
                stream.flush()
                return stream.fileno()
    return None


def _open(path: Path) -> int:
    """Open what is there for writing; a pipe that nobody reads is not waited for for ever."""
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


def _encoded(text: str) -> bytes:
    """As UTF-8; what of a name has no place in that is spelt out."""
    return text.encode(errors="backslashreplace")


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of a new one."""
    try:
        return stat.S_IMODE(path.lstat().st_mode) & 0o777
    except OSError:
        return 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
