"""Finding proof files, and the proof in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fdverify.errors import UsageError, nearby
from fdverify.models.proof_source import makes_proof
from fdverify.models.python_files import folders_below, python_files
from fdverify.models.user_files import load_module
from fdverify.proofs.proof import Proof, is_stray, proofs_of, source_of


class NoProof(UsageError):
    """There is no proof in a file."""

    def __init__(self, path: Path, hint: str | None = "write proof = Proof(model, goal=...)") -> None:
        super().__init__(f"{nearby(path)}: there is no proof in it", hint)
        self.path = path

    def __reduce__(self) -> tuple[type[NoProof], tuple[Path, str | None]]:
        return NoProof, (self.path, self.hint)


@dataclass(frozen=True)
class FoundFiles:
    """Proof files, each once, under the first of its names; and what else is in the folders that were named."""

    files: list[Path]
    folders: Mapping[Path, tuple[Path, ...]]
    """By folder that was named, the proof files in and below it that were not named themselves."""
    without: int
    """How many files in the folders make no proof, as their text tells."""

    def are_optional(self) -> frozenset[Path]:
        """Those of which it is no error that there is no proof in them after all."""
        return frozenset(file for files in self.folders.values() for file in files)

    def check_folders(self, without: Collection[Path]) -> None:
        """Refuse a folder in which, now that they were loaded, no file has a proof."""
        for folder, files in self.folders.items():
            if files and all(file in without for file in files):
                raise UsageError(f"there is no proof file in {folder}", "make a proof in one of its files")


def proof_files(paths: Iterable[Path]) -> list[Path]:
    """The files named, and those in and below the folders named in which a proof seems to be made."""
    return find_proof_files(paths).files


def find_proof_files(paths: Iterable[Path]) -> FoundFiles:
    """The same, with how each was found.  A file whose name starts with _ is no proof but helps some."""
    found: dict[Path, Path] = {}
    named: set[Path] = set()
    folders: dict[Path, list[Path]] = {}
    others: set[Path] = set()
    for path in paths:
        if path.is_dir():
            inside = _python_files_below(path)
            makers = [file for file in inside if makes_proof(file)]
            if not makers:
                why = "make a proof in one of them" if inside else "proofs are .py files"
                raise UsageError(f"there is no proof file in {path}", why)
            others.update(file.resolve() for file in inside if file not in makers)
            folders[path] = [found.setdefault(file.resolve(), file) for file in makers]
        elif path.is_file() and path.suffix == ".py":
            named.add(found.setdefault(path.resolve(), path))
        elif path.exists():
            raise UsageError(f"{path} is no proof file", "proofs are .py files")
        else:
            raise UsageError(f"no such file: {path}")
    optional = {folder: tuple(file for file in files if file not in named) for folder, files in folders.items()}
    return FoundFiles(list(found.values()), optional, len(others - found.keys()))


def _python_files_below(top: Path) -> list[Path]:
    try:
        return [file for folder in folders_below(top) for file in python_files(folder)]
    except OSError as error:
        raise UsageError(f"cannot look into {error.filename}: {error.strerror}") from error


def load_proof(path: Path) -> Proof:
    module = load_module(path)
    own = proofs_of(module)
    if not own:
        raise NoProof(path)
    first, *others = own
    if others:
        second = f"{others[0].source}: a second proof in the same file, the first is at {first.source}"
        raise UsageError(second, "give it a file of its own")
    for value in vars(module).values():
        if is_stray(value, first):
            raise UsageError(
                f"{source_of(value)}: {value.__name__} is expected to fail and is no claim of the proof",
                "decorate it with @proof.invariant, too",
            )
    return first
