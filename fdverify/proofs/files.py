"""Finding proof files, and the proof in each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fdverify.errors import UsageError, nearby
from fdverify.models.catalogue import load_module
from fdverify.proofs.proof import Proof


def proof_files(paths: Iterable[Path]) -> list[Path]:
    """The files named, and those in the folders named; a file whose name starts with _ is no proof but helps some."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
            if not inside:
                raise UsageError(f"there is no proof file in {path}", "proofs are .py files")
            found.update(dict.fromkeys(inside))
        elif path.is_file() and path.suffix == ".py":
            found[path] = None
        elif path.exists():
            raise UsageError(f"{path} is no proof file", "proofs are .py files")
        else:
            raise UsageError(f"no such file: {path}")
    return list(found)


def load_proof(path: Path) -> Proof:
    module = load_module(path)
    # A file may import another one for its conjuncts; that one's proof is its own.
    own = {
        id(value): value
        for value in vars(module).values()
        if isinstance(value, Proof) and value.source.file.resolve() == path.resolve()
    }
    if not own:
        raise UsageError(f"{nearby(path)}: there is no proof in it", "write proof = Proof(model, goal=...)")
    first, *others = own.values()
    if others:
        raise UsageError(f"{others[0].source}: a second proof in the same file", "give it a file of its own")
    return first
