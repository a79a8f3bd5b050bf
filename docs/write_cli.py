"""Writes cli.md, or the file that is named: the reference of the command line, from the code (``make docs``).

Nothing in it depends on a terminal, a machine or the order of a dictionary, so a test can compare.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from fdverify.app import build_app, list_products
from fdverify.detectors.model_catalogue import DEFAULT, SHIPPED, find_model
from fdverify.models.model import Model
from fdverify.testing.plugin_options import add_options
from fdverify.verify_invariant import build_app as build_verify_invariant

HEAD = f"""# The command line

Written by `make docs` from the code that reads the options; do not edit it. `--help` shows the same of one command, and
for a model of your own, named as `file.py:NAME`, that model's parameters and options in place of those of `{DEFAULT}`.
All commands write data to stdout and all else to stderr; there is no colour when the output is no terminal, or with
`NO_COLOR`. An expression such as that of `--timeout` is made of integers, the parameters, `+ - * ( ) min max`, and `//`
and `%` by a positive literal.

## How a command ends

| code | when |
| --- | --- |
| 0 | proved, bounded, shown or written |
| 1 | violated or not inductive, and nothing else |
| 2 | bad input: an option, a file, a name that is too long; whatever a user's file raises; stdout is closed or full |
| 3 | unknown: a solver gave up, the time limit was reached, a process was killed or ended itself, no memory is left |
| 4 | vacuous |
| 70 | internal error |
| 130 | Ctrl-C |
| 141 | nobody reads stdout any more, as with `head` |
| 143, 129 | the command was told to end (SIGTERM), or its terminal is gone (SIGHUP) |

An error is one line on stderr, a verdict is on stdout.
What cannot be written to stderr is lost, and changes nothing.
What a user's file raises, `SystemExit`, `KeyboardInterrupt` and classes of its own included, is told with its place.
A process ends itself by `os._exit`, say. That the system gives no more processes or files is unknown, too.

A command runs in a process of its own, and another one watches over it.
So `--time-limit` holds from the first moment, whatever a user's file or a solver does.
A command says how far it came; if it does not, it is ended, 2 seconds after the limit at the latest.
The answer is then one line, or with `--json` one document (`fdverify schema unanswered` prints its schema).
Ctrl-C ends a command within 2 seconds, and all that it has started.
The limit of `map` is for each instance, and that of `verify-invariant --watch` for each check."""
EXAMPLES = "\b\nExamples:\n"


class Recorder:
    """Stands for pytest's parser, and notes what the plugin adds to it."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        self.ini: list[tuple[str, str, str]] = []

    def addini(self, name: str, help: str, type: str, default: list[str]) -> None:
        self.ini.append((name, _without_default(help), " ".join(default)))

    def getgroup(self, name: str, description: str) -> Recorder:
        return self

    def addoption(
        self, flag: str, *, help: str, metavar: str = "", default: str | None = None, action: str = ""
    ) -> None:
        self.rows.append((f"{flag} {metavar}".strip(), _without_default(help), default or ""))


def page() -> str:
    fdverify = typer.main.get_command(build_app(DEFAULT, list_products()))
    verify = typer.main.get_command(build_verify_invariant())
    parts = [HEAD, *_command("verify-invariant", verify), *_command("fdverify", fdverify), _pytest()]
    parts += ["## Models that ship", *(_model(find_model(name)) for name in SHIPPED)]
    return "\n\n".join(parts) + "\n"


def _command(path: str, command: Any) -> Iterator[str]:
    """A section for the command, and one for each command below it."""
    yield f"{'#' * (2 + path.count(' '))} {path}"
    usage = " ".join(["[OPTIONS]", *(_argument_usage(each) for each in command.params if _is_argument(each))])
    below = getattr(command, "commands", {})
    yield f"`{path} {usage}{' COMMAND' if below else ''}`"
    yield _escaped("\n\n".join(" ".join(part.split()) for part in command.help.split("\n\n")))
    arguments = [(each.metavar, each.help, _default(each)) for each in command.params if _is_argument(each)]
    options = [(_flags(each), _help(each), _default(each)) for each in command.params if not _is_argument(each)]
    if arguments or options:
        yield _table("argument or option" if arguments else "option", [*arguments, *options])
    yield from _ending(command.epilog or "")
    for name, each in below.items():
        yield from _command(f"{path} {name}", each)


def _ending(epilog: str) -> Iterator[str]:
    """The examples as a block of code, and the exit codes."""
    for part in epilog.split("\n\n"):
        lines = "\n".join(line.strip() for line in part.removeprefix(EXAMPLES).splitlines())
        yield f"```sh\n{lines}\n```" if part.startswith(EXAMPLES) else lines


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _argument_usage(argument: Any) -> str:
    name = str(argument.metavar)
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _flags(option: Any) -> str:
    shown = ", ".join(option.opts) + "".join(f" / {flag}" for flag in option.secondary_opts)
    return shown if option.is_flag else f"{shown} {option.metavar}"


def _find_declaration(option: Any) -> Any:
    """What was declared of an option's values: typer keeps it since 0.29, click's type before."""
    descriptor = getattr(option, "type_descriptor", None)
    return option.type if descriptor is None else descriptor.parameter_info


def _help(option: Any) -> str:
    least = getattr(_find_declaration(option), "min", None)
    again = "repeatable" if option.multiple and "repeatable" not in option.help else ""
    return "; ".join(filter(None, (option.help, again, "" if least is None else f"at least {least}")))


def _default(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        on, off = parameter.opts[0], [*parameter.secondary_opts, ""][0]
        return str(on if parameter.default else off)
    if parameter.default is None:
        return ""
    return " ".join(map(str, parameter.default)) if parameter.multiple else str(parameter.default)


def _pytest() -> str:
    recorder = Recorder()
    add_options(cast(pytest.Parser, recorder))
    return "\n\n".join(
        (
            "## pytest",
            "The plugin's options; [pytest.md](../how-to/pytest.md) tells what it does.",
            _table("option", recorder.rows),
            _table("in the ini file", recorder.ini),
        )
    )


def _without_default(help: str) -> str:
    """It has a column of its own."""
    return help.partition("; default: ")[0]


def _model(model: Model) -> str:
    rows = [(f"--{each.name}", f"{each.meaning}; at least {each.least}", "") for each in model.parameters]
    for each in model.options:
        if isinstance(each.default, bool):
            default = f"--{each.name}" if each.default else f"--no-{each.name}"
            rows.append((f"--{each.name} / --no-{each.name}", each.meaning, default))
        else:
            values = "|".join(each.choices) or each.metavar
            rows.append((f"--{each.name} {values}", each.meaning, each.default or ""))
    claims = f"Checked unless `--property` says otherwise: `{model.default_property}`"
    claims += f"; by `live`: `{model.default_liveness}`." if model.default_liveness else "."
    return f"### {model.name}\n\n{_sentence(model.summary)}. {claims}\n\n{_table('option', rows)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(first: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| {first} | meaning | default |", "| --- | --- | --- |"]
    lines += [f"| {_code(name)} | {_cell(meaning)} | {_code(default)} |" for name, meaning, default in rows]
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escaped(text: str) -> str:
    """Markdown would take these for emphasis."""
    return re.sub(r"([*_])", r"\\\1", text)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "reference" / "cli.md"
    target.write_text(page())
