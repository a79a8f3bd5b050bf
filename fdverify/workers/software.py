"""The software that answers depend on, which must be the same wherever tasks run."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

import fdverify

_LIBRARIES = {"Z3": "z3-solver", "numpy": "numpy", "networkx": "networkx"}
_SOURCES = "sources"
_SUFFIXES = (".py", ".lark")


def describe_software() -> dict[str, str]:
    """Describe what this process runs: versions by name, and a digest of this package's sources."""
    return {
        "fdverify": fdverify.__version__,
        "Python": platform.python_version(),
        **{name: _find_version(distribution) for name, distribution in _LIBRARIES.items()},
        _SOURCES: digest_running_package(),
    }


def find_software_difference(there: Mapping[str, str], here: Mapping[str, str]) -> str | None:
    """Say what another process runs that is not what this one runs; ``None`` if both run the same."""
    for name in here:
        if there.get(name) != here[name]:
            if name == _SOURCES:
                return "other sources of fdverify than this one"
            return f"{name} {there.get(name, 'of unknown version')}, and this one runs {here[name]}"
    return None


def _find_version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "of unknown version"


@lru_cache(maxsize=1)
def digest_running_package() -> str:
    """Compute the digest of the package once: what is changed later is not what this process runs."""
    return digest_package()


def digest_package() -> str:
    """Compute a digest of all source files of this package."""
    package = os.path.dirname(fdverify.__file__)
    digest = sha256()
    for path in sorted(_list_sources(package)):
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{os.path.relpath(path, package)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _list_sources(package: str) -> list[str]:
    walk = os.walk(package, onerror=_raise)
    return [os.path.join(folder, name) for folder, _, names in walk for name in names if name.endswith(_SUFFIXES)]


def _raise(error: OSError) -> None:
    raise error
