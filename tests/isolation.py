"""Tests keep nothing in the user's own folders, neither what is remembered from run to run nor the key that signs."""

import atexit
import os
import shutil
import tempfile

_FOLDER = "FDVERIFY_TESTS_FOLDER"
_FOLDERS = {"XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}


def keep_out_of_home() -> None:
    """Let this process and its children use folders that are gone when it ends."""
    if _FOLDER not in os.environ:  # else another process, such as that of pytest-xdist, has made it
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="fdverify-tests-")
        atexit.register(_remove, os.getpid(), os.environ[_FOLDER])
    for variable, name in _FOLDERS.items():
        os.environ[variable] = os.path.join(os.environ[_FOLDER], name)
    os.environ.pop("FDVERIFY_CACHE_KEY", None)


def _remove(owner: int, folder: str) -> None:
    if os.getpid() == owner:  # a process that was forked here ends, too
        shutil.rmtree(folder, ignore_errors=True)
