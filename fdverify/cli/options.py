"""Options that are made for the model that is named: its own, and those that commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Annotated, Any

import typer

from fdverify.cli.shared import HtmlOption, JsonOption
from fdverify.errors import UsageError
from fdverify.models.catalogue import DEFAULT
from fdverify.models.model import Model, Option
from fdverify.printable import printable


class OtherModel(Exception):
    """The line names another model than it seemed to before it was parsed."""

    def __init__(self, reference: str) -> None:
        self.reference = reference


def action(
    reference: str, model: Model, options: Sequence[inspect.Parameter], do: Callable[[dict[str, Any]], int]
) -> Any:
    """A function whose signature lists the options for typer; what is given is handed to ``do``."""

    def called(**given: Any) -> int:
        if given["model"] != reference:
            raise OtherModel(given["model"])
        if not given["claim"]:
            raise UsageError(f"{model.name} names no property to check", "give one: --property NAME")
        return do(given)

    names = [option.name for option in options]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"model {model.name} has an option {twice[0]}, which is taken", "give it another name")
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return called


def option(name: str, kind: Any, default: Any, *flags: str, **settings: Any) -> inspect.Parameter:
    shown = default[0] if isinstance(default, list) else default
    if isinstance(shown, str) and printable(shown) != shown:
        settings["show_default"] = printable(shown)
    return _parameter(name, Annotated[kind, typer.Option(*flags, **settings)], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def model_options(model: Model, values: str, default: str | None, repeatable: bool = False) -> list[inspect.Parameter]:
    """The model itself, its parameters, which take such ``values``, and its options, which may be ``repeatable``."""
    argument = Annotated[str, typer.Argument(metavar="MODEL", help="a shipped name, or file.py:NAME")]
    for name in [*(p.name for p in model.parameters), *(o.name for o in model.options)]:
        if not name.isidentifier() or iskeyword(name):
            raise UsageError(f"model {model.name} has an option {name!r}, which is no Python name")
    found = [_parameter("model", argument, DEFAULT)]
    kind = str if default is not None else str | None
    for parameter in model.parameters:
        flag = f"--{parameter.name}"
        found.append(option(parameter.name, kind, default, flag, metavar=values, help=printable(parameter.meaning)))
    return [*found, *(_model_option(each, repeatable) for each in model.options)]


def _model_option(of: Option, repeatable: bool) -> inspect.Parameter:
    if isinstance(of.default, bool):
        return option(of.name, bool, of.default, f"--{of.name}/--no-{of.name}", help=printable(of.meaning))
    settings = {"metavar": printable("|".join(of.choices) or of.metavar), "help": printable(of.meaning)}
    if repeatable:
        kind, default = (list[str] | None, None) if of.default is None else (list[str], [of.default])
        return option(of.name, kind, default, f"--{of.name}", **settings)
    return option(of.name, str if of.default is not None else str | None, of.default, f"--{of.name}", **settings)


def property_option(default: str | None) -> inspect.Parameter:
    return option("claim", str, default or "", "--property", metavar="NAME", help="what to check")


def time_limit_option(meaning: str) -> inspect.Parameter:
    return option("time_limit", float | None, None, "--time-limit", metavar="SECONDS", help=meaning)


def html_option() -> inspect.Parameter:
    return _parameter("html", HtmlOption, None)


def json_option() -> inspect.Parameter:
    return _parameter("json", JsonOption, False)


def examples_for(reference: str, examples: Sequence[str]) -> Sequence[str]:
    """They are about the model that is meant when none is named; another one has other options."""
    return examples if reference == DEFAULT else ()
