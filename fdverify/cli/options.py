"""Options of commands: their construction, and those that come from the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Annotated, Any, TypeVar

import typer

from fdverify.detectors.model_catalogue import DEFAULT
from fdverify.errors import UsageError
from fdverify.models.model import Model, Option
from fdverify.printable import make_printable

Answer = TypeVar("Answer")
SYMBOLIC = "symbolic"
SecondOpinionOption = Annotated[
    str | None,
    typer.Option("--second-opinion", metavar="SOLVER", help="decide everything again with this solver, such as cvc5"),
]


class OtherModel(Exception):
    """The parsed command line names another model than the one that was guessed before."""

    def __init__(self, reference: str) -> None:
        self.reference = reference


def bind_model(reference: str, model: Model, compute: Callable[..., Answer]) -> Callable[..., Answer]:
    """Give a command its model; raise an error if the line names another one, whose options it does not have."""

    def compute_of_model(*arguments: Any, **given: Any) -> Answer:
        if given["model"] != reference:
            raise OtherModel(given["model"])
        if not given["claim"]:
            raise UsageError(f"{model.name} names no property to check", "give one: --property NAME")
        return compute(reference, model, *arguments, given)

    return compute_of_model


def build_option(name: str, kind: Any, default: Any, *flags: str, **settings: Any) -> inspect.Parameter:
    shown = default[0] if isinstance(default, list) else default
    if isinstance(shown, str) and make_printable(shown) != shown:
        settings["show_default"] = make_printable(shown)
    return _build_parameter(name, Annotated[kind, typer.Option(*flags, **settings)], default)


def _build_parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def list_model_options(
    model: Model, values: str, default: str | None, repeatable: bool = False
) -> list[inspect.Parameter]:
    """List the arguments for the model, its parameters, which take such ``values``, and its options."""
    argument = Annotated[str, typer.Argument(metavar="MODEL", help="the name of a shipped model, or file.py:NAME")]
    for name in [*(p.name for p in model.parameters), *(o.name for o in model.options)]:
        if not name.isidentifier() or iskeyword(name):
            raise UsageError(f"model {model.name} has an option {name!r}, which is not a Python identifier")
    options = [_build_parameter("model", argument, DEFAULT)]
    kind = str if default is not None else str | None
    for parameter in model.parameters:
        flag, meaning = f"--{parameter.name}", make_printable(parameter.meaning)
        options.append(build_option(parameter.name, kind, default, flag, metavar=values, help=meaning))
    return [*options, *(_build_model_option(each, repeatable) for each in model.options)]


def _build_model_option(option: Option, repeatable: bool) -> inspect.Parameter:
    name, meaning = option.name, make_printable(option.meaning)
    if isinstance(option.default, bool):
        return build_option(name, bool, option.default, f"--{name}/--no-{name}", help=meaning)
    settings = {"metavar": make_printable("|".join(option.choices) or option.metavar), "help": meaning}
    if repeatable:
        kind, default = (list[str] | None, None) if option.default is None else (list[str], [option.default])
        return build_option(name, kind, default, f"--{name}", **settings)
    return build_option(
        name, str if option.default is not None else str | None, option.default, f"--{name}", **settings
    )


def build_property_option(default: str | None) -> inspect.Parameter:
    return build_option("claim", str, default or "", "--property", metavar="NAME", help="the property to check")


def choose_examples(reference: str, examples: Sequence[str]) -> Sequence[str]:
    """Return the examples for the default model, and none for another model, which has other options."""
    return examples if reference == DEFAULT else ()


def parse_parameter(name: str, text: str) -> int | None:
    """Parse the value of a parameter's option; ``None`` means symbolic."""
    if text == SYMBOLIC:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--{name} must be a number or {SYMBOLIC}, got {text!r}") from None
