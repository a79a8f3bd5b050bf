"""The Python files below a folder that belong to the user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_NOT_OWN = {"__pycache__", "node_modules", "site-packages"}


def walk_folders(top: Path) -> Iterator[Path]:
    """Yield the folder and those below it, in order and once each, without hidden ones, environments and caches."""
    seen = {top.resolve()}
    waiting = [top]
    while waiting:
        folder = waiting.pop(0)
        yield folder
        inside = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name not in _NOT_OWN and entry.is_dir():
                    inside.append(folder / entry.name)
        for path in sorted(inside):
            real = path.resolve()  # a link may lead back up, or to a folder that was visited
            leads_up = folder.resolve().is_relative_to(real)
            if real not in seen and not leads_up and not (path / "pyvenv.cfg").exists():
                seen.add(real)
                waiting.append(path)


def list_python_files(folder: Path) -> list[Path]:
    """List the Python files in the folder itself, in order, without helpers, whose names start with ``_``."""
    with os.scandir(folder) as entries:
        names = [
            entry.name for entry in entries if entry.name.endswith(".py") and not entry.name.startswith(("_", "."))
        ]
    return [path for path in (folder / name for name in sorted(names)) if path.is_file()]
