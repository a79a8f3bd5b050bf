"""Finds proof files, and loads the proof of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fdverify.errors import SourceLocation, UsageError
from fdverify.models.loading import load_module
from fdverify.models.proof_scan import has_proof
from fdverify.models.python_files import list_python_files, walk_folders

if TYPE_CHECKING:
    from fdverify.proofs.proof import Proof


class NoProofInFile(UsageError):
    """A file contains no proof."""

    def __init__(self, path: Path, hint: str | None = "write proof = Proof(model, goal=...)") -> None:
        super().__init__("there is no proof in it", hint, SourceLocation(path))
        self.path = path

    def __reduce__(self) -> tuple[type[NoProofInFile], tuple[Path, str | None]]:
        return NoProofInFile, (self.path, self.hint)


@dataclass(frozen=True)
class ProofFileSelection:
    """The proof files among the given paths, each listed once under the first path that leads to it."""

    files: list[Path]
    folders: Mapping[Path, tuple[Path, ...]]
    """For each given folder, the proof files in and below it that were not also given as files."""
    without: int
    """The number of Python files in the folders whose text makes no proof."""

    def get_optional_files(self) -> frozenset[Path]:
        """Return the files that were found in folders: if one turns out to have no proof, that is not an error."""
        return frozenset(file for files in self.folders.values() for file in files)

    def check_folders(self, without: Collection[Path]) -> None:
        """Refuse a folder in which no file has a proof; ``without`` has the files that, once loaded, had none."""
        for folder, files in self.folders.items():
            if files and all(file in without for file in files):
                raise UsageError(f"there is no proof file in {folder}", "make a proof in one of its files")


def list_proof_files(paths: Iterable[Path]) -> list[Path]:
    """List the given files, and the files in and below the given folders that seem to make a proof."""
    return find_proof_files(paths).files


def find_proof_files(paths: Iterable[Path]) -> ProofFileSelection:
    """Find the proof files, and note which come from folders.  A file whose name starts with _ is only a helper."""
    first_paths: dict[Path, Path] = {}
    named: set[Path] = set()
    folders: dict[Path, list[Path]] = {}
    others: set[Path] = set()
    for path in paths:
        if path.is_dir():
            inside = _list_python_files_below(path)
            makers = [file for file in inside if has_proof(file)]
            if not makers:
                hint = "make a proof in one of them" if inside else "proofs are .py files"
                raise UsageError(f"there is no proof file in {path}", hint)
            others.update(file.resolve() for file in inside if file not in makers)
            folders[path] = [first_paths.setdefault(file.resolve(), file) for file in makers]
        elif path.is_file() and path.suffix == ".py":
            named.add(first_paths.setdefault(path.resolve(), path))
        elif path.exists():
            raise UsageError(f"{path} is not a proof file", "proofs are .py files")
        else:
            raise UsageError(f"no such file: {path}")
    optional = {folder: tuple(file for file in files if file not in named) for folder, files in folders.items()}
    return ProofFileSelection(list(first_paths.values()), optional, len(others - first_paths.keys()))


def _list_python_files_below(top: Path) -> list[Path]:
    try:
        return [file for folder in walk_folders(top) for file in list_python_files(folder)]
    except OSError as error:
        raise UsageError(f"cannot look into {error.filename}: {error.strerror}") from error


def load_proof(path: Path) -> Proof:
    """Run a proof file and return its only proof."""
    from fdverify.proofs.proof import get_proofs, is_stray, locate_function  # finding proof files needs no solver

    module = load_module(path)
    proofs = get_proofs(module)
    if not proofs:
        raise NoProofInFile(path)
    first, *others = proofs
    if others:
        message = f"a second proof in the same file, the first is at {first.source}"
        raise UsageError(message, "give it a file of its own", others[0].source)
    for value in vars(module).values():
        if is_stray(value, first):
            raise UsageError(
                f"{value.__name__} is expected to fail but is not a claim of the proof",
                "decorate it with @proof.invariant, too",
                locate_function(value),
            )
    return first
