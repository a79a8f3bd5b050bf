"""Finding proof files, and the proof in each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fdverify.errors import UsageError, nearby
from fdverify.models.user_files import load_module
from fdverify.proofs.proof import Proof, is_stray, proofs_of, source_of


def proof_files(paths: Iterable[Path]) -> list[Path]:
    """The files named, and those in the folders named, each once, under the first of its names.

    A file whose name starts with _ is no proof but helps some.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
            if not inside:
                raise UsageError(f"there is no proof file in {path}", "proofs are .py files")
            for file in inside:
                found.setdefault(file.resolve(), file)
        elif path.is_file() and path.suffix == ".py":
            found.setdefault(path.resolve(), path)
        elif path.exists():
            raise UsageError(f"{path} is no proof file", "proofs are .py files")
        else:
            raise UsageError(f"no such file: {path}")
    return list(found.values())


def load_proof(path: Path) -> Proof:
    module = load_module(path)
    own = proofs_of(module)
    if not own:
        raise UsageError(f"{nearby(path)}: there is no proof in it", "write proof = Proof(model, goal=...)")
    first, *others = own
    if others:
        raise UsageError(f"{others[0].source}: a second proof in the same file", "give it a file of its own")
    for value in vars(module).values():
        if is_stray(value, first):
            raise UsageError(
                f"{source_of(value)}: {value.__name__} is expected to fail and is no claim of the proof",
                "decorate it with @proof.invariant, too",
            )
    return first
