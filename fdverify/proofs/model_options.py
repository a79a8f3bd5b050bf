"""The parameters and options of the proofs' models, as options of ``verify-invariant``."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fdverify.cli.options import build_option, parse_parameter
from fdverify.errors import FdverifyError, SourceLocation, UsageError, shorten_path
from fdverify.models.model import Model, OptionValue
from fdverify.verdict import Report
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker

_LOADING_SECONDS = 60.0
_SHARED = ("--delta", "--phi", "--gst", "--variant", "--buffer")
"""The command's own options for parameters and options that many models have."""
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
    """Its name on the command line, without the dashes."""

    @property
    def argument(self) -> str:
        return f"of_model_{self.name}"

    def build_parameter(self) -> inspect.Parameter:
        """Build the option of the command.  Without it, a parameter is symbolic and an option has the file's value."""
        meaning = f"{self.meaning} ({self.model})" if self.meaning else f"of {self.model}"
        if self.kind == "a switch":
            return build_option(self.argument, bool | None, None, f"--{self.flag}/--no-{self.flag}", help=meaning)
        return build_option(self.argument, str | None, None, f"--{self.flag}", metavar=self.values, help=meaning)


def find_model_options(arguments: Sequence[str], own: Collection[str]) -> list[ModelOption]:
    """Find the options of the proofs' models, if the line has options that are not the command's own, or ``--help``."""
    unknown = _list_flags(arguments) - set(own)
    if not unknown and not {"--help", "-h"} & set(arguments):
        return []
    options, error = _load_options(arguments, own)
    known = {flag for each in options for flag in (f"--{each.flag}", f"--no-{each.flag}")}
    if error is not None and not unknown <= known | {"--help"}:
        raise error  # the options of that file are not known
    return options


def _list_flags(arguments: Sequence[str]) -> set[str]:
    return {word.partition("=")[0] for word in arguments if word.startswith("--") and word != "--"}


def _load_options(arguments: Sequence[str], own: Collection[str]) -> tuple[list[ModelOption], FdverifyError | None]:
    """Load the options of the models of the proofs that a line seems to name, and the first error in a file."""
    words = [Path(word) for word in arguments if not word.startswith("-")]
    paths = [path for path in words if path.is_dir() or (path.suffix == ".py" and path.is_file())]
    if "--shipped" in arguments:
        from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER

        paths.append(SHIPPED_FOLDER)
    if not paths:
        return [], None
    try:
        options, error = run_in_worker(partial(_collect_options, paths, own), _LOADING_SECONDS, lambda event: None)
        return _merge_options(options), error
    except TimeLimitReached:
        hint = "is there an endless loop?"
        message = "still loading when it was given up: the time limit"
        raise UsageError(message, hint, SourceLocation(paths[0])) from None
    except WorkerDied as died:
        raise UsageError(str(died), place=SourceLocation(paths[0])) from None


def split_values(
    options: Sequence[ModelOption], given: Mapping[str, Any]
) -> tuple[dict[str, int], dict[str, OptionValue]]:
    """Split the given values into numbers of parameters and values of options."""
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
    """Load the proofs and collect the options.  This runs in a worker process: a file must not stop the command."""
    from fdverify.proofs.proof_files import list_proof_files, load_proof

    options: list[ModelOption] = []
    wrong: FdverifyError | None = None
    for path in list_proof_files(paths):
        try:
            options += _describe_options(load_proof(path).model, path, own)
        except FdverifyError as error:  # reported when the proof is checked, unless an option stays unknown
            wrong = wrong or error
    return options, wrong


def _describe_options(model: Model, file: Path, own: Collection[str]) -> list[ModelOption]:
    """Describe the options of a model; rename those that the command already has."""

    def describe_option(name: str, kind: _Kind, values: str, meaning: str) -> list[ModelOption]:
        if f"--{name}" in _SHARED:
            return []
        flag = f"model-{name}" if f"--{name}" in own else name
        return [ModelOption(name, kind, values, meaning, model.name, file, flag)]

    options: list[ModelOption] = []
    for parameter in model.parameters:
        options += describe_option(parameter.name, "a number", "N|symbolic", parameter.meaning)
    for each in model.options:
        kind: _Kind = "a switch" if isinstance(each.default, bool) else "text"
        options += describe_option(each.name, kind, "|".join(each.choices) or each.metavar, each.meaning)
    return options


def _merge_options(options: Iterable[ModelOption]) -> list[ModelOption]:
    merged: dict[str, ModelOption] = {}
    for each in options:
        other = merged.setdefault(each.name, each)
        if other.kind != each.kind:
            raise UsageError(
                f"--{each.name} is {other.kind} of {shorten_path(other.file)} "
                f"and {each.kind} of {shorten_path(each.file)}",
                "check the files separately",
            )
    return list(merged.values())
