"""Write the list of modules at the end of ARCHITECTURE.md: a line a module, from its docstring."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
_HEADING = "## Modules\n"
_INTRODUCTION = "\nThe lines below are the first sentences of the modules' docstrings, written by `make docs`.\n"


def write_modules(target: Path) -> None:
    """Copy the page with the list renewed."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(_HEADING)
    target.write_text(f"{before}{_HEADING}{_INTRODUCTION}{list_modules()}", encoding="utf-8")


def list_modules() -> str:
    package = ROOT / "fdverify"
    folders: dict[Path, list[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        if "templates" not in path.parts:
            folders.setdefault(path.parent, []).append(path)
    parts = []
    for folder, files in sorted(folders.items()):
        name = folder.relative_to(ROOT).as_posix()
        purpose = next((read_purpose(file) for file in files if file.name == "__init__.py"), "")
        lines = [f"- `{file.name}`: {read_purpose(file)}" for file in files if file.name != "__init__.py"]
        parts.append("\n".join([f"\n### {name}/\n", purpose, "", *lines]).rstrip() + "\n")
    return "".join(parts)


def read_purpose(file: Path) -> str:
    """Read the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.?!]) ", " ".join(text.split()))[0].replace("``", "`")


if __name__ == "__main__":
    write_modules(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE)
