"""The parameters and options of the models that proofs are about, as options of ``verify-invariant``."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fdverify.cli.options import build_option, parse_parameter
from fdverify.errors import FdverifyError, UsageError, shorten_path
from fdverify.models.model import Model, OptionValue
from fdverify.verdict import Report
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker

_LOADING_SECONDS = 60.0
_SHARED = ("--delta", "--phi", "--gst", "--variant", "--buffer")
"""Options of the command that stand for what many models have."""
_Kind = Literal["a number", "a switch", "text"]


@dataclass(frozen=True)
class ModelOption:
    """A parameter or an option of a model that a proof is about."""

    name: str
    kind: _Kind
    values: str
    meaning: str
    model: str
    file: Path
    flag: str
    """What it is called on the command line, without the dashes."""

    @property
    def argument(self) -> str:
        return f"of_model_{self.name}"

    def build_parameter(self) -> inspect.Parameter:
        """The option of the command; without it, a parameter is arbitrary and an option is as the file has it."""
        meaning = f"{self.meaning} ({self.model})" if self.meaning else f"of {self.model}"
        if self.kind == "a switch":
            return build_option(self.argument, bool | None, None, f"--{self.flag}/--no-{self.flag}", help=meaning)
        return build_option(self.argument, str | None, None, f"--{self.flag}", metavar=self.values, help=meaning)


def find_model_options(arguments: Sequence[str], own: Collection[str]) -> list[ModelOption]:
    """Options beside the command's own, if the line has any, or asks which there are."""
    unknown = _list_flags(arguments) - set(own)
    if not unknown and not {"--help", "-h"} & set(arguments):
        return []
    found, wrong = _load_options(arguments, own)
    known = {flag for each in found for flag in (f"--{each.flag}", f"--no-{each.flag}")}
    if wrong is not None and not unknown <= known | {"--help"}:
        raise wrong  # which options it has is not known
    return found


def _list_flags(arguments: Sequence[str]) -> set[str]:
    return {word.partition("=")[0] for word in arguments if word.startswith("--") and word != "--"}


def _load_options(arguments: Sequence[str], own: Collection[str]) -> tuple[list[ModelOption], FdverifyError | None]:
    """The options of the models of the proofs that a line seems to name, each once; and what is wrong with a file."""
    words = [Path(word) for word in arguments if not word.startswith("-")]
    paths = [path for path in words if path.is_dir() or (path.suffix == ".py" and path.is_file())]
    if "--shipped" in arguments:
        from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER

        paths.append(SHIPPED_FOLDER)
    if not paths:
        return [], None
    try:
        found, wrong = run_in_worker(partial(_collect_options, paths, own), _LOADING_SECONDS, lambda event: None)
        return _merge_options(found), wrong
    except TimeLimitReached:
        hint = "is there an endless loop?"
        raise UsageError(
            f"{shorten_path(paths[0])}: still loading when it was given up: the time limit", hint
        ) from None
    except WorkerDied as died:
        raise UsageError(f"{shorten_path(paths[0])}: {died}") from None


def split_values(
    options: Sequence[ModelOption], given: Mapping[str, Any]
) -> tuple[dict[str, int], dict[str, OptionValue]]:
    """What was given for parameters, as numbers, and for options."""
    numbers: dict[str, int] = {}
    chosen: dict[str, OptionValue] = {}
    for each in options:
        value = given[each.argument]
        if value is None:
            continue
        number = parse_parameter(each.flag, value) if each.kind == "a number" else None
        if number is not None:
            numbers[each.name] = number
        elif each.kind != "a number":
            chosen[each.name] = value
    return numbers, chosen


def _collect_options(
    paths: Sequence[Path], own: Collection[str], report: Report
) -> tuple[list[ModelOption], FdverifyError | None]:
    """Load the proofs, in a worker process: what users' files do must not stop the command."""
    from fdverify.proofs.proof_files import list_proof_files, load_proof

    found: list[ModelOption] = []
    wrong: FdverifyError | None = None
    for path in list_proof_files(paths):
        try:
            found += _describe_options(load_proof(path).model, path, own)
        except FdverifyError as error:  # it is told when the proof is checked, unless an option cannot be known for it
            wrong = wrong or error
    return found, wrong


def _describe_options(model: Model, file: Path, own: Collection[str]) -> list[ModelOption]:
    """What a model has; where the command has an option of that name, another name is made."""

    def described(name: str, kind: _Kind, values: str, meaning: str) -> list[ModelOption]:
        if f"--{name}" in _SHARED:
            return []
        flag = f"model-{name}" if f"--{name}" in own else name
        return [ModelOption(name, kind, values, meaning, model.name, file, flag)]

    found: list[ModelOption] = []
    for parameter in model.parameters:
        found += described(parameter.name, "a number", "N|symbolic", parameter.meaning)
    for each in model.options:
        kind: _Kind = "a switch" if isinstance(each.default, bool) else "text"
        found += described(each.name, kind, "|".join(each.choices) or each.metavar, each.meaning)
    return found


def _merge_options(options: Iterable[ModelOption]) -> list[ModelOption]:
    merged: dict[str, ModelOption] = {}
    for each in options:
        other = merged.setdefault(each.name, each)
        if other.kind != each.kind:
            raise UsageError(
                f"--{each.name} is {other.kind} of {shorten_path(other.file)} "
                f"and {each.kind} of {shorten_path(each.file)}",
                "check them apart",
            )
    return list(merged.values())
