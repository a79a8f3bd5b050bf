"""``fdverify map``: one property at every instance of a grid of parameters, drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

from fdverify.cli.options import action, json_option, model_options, option, property_option, time_limit_option
from fdverify.cli.output import check_report, check_time_limit, print_out, write_file
from fdverify.cli.progress import CellLine
from fdverify.errors import UsageError
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Parameter

HELP = """Check every instance of a grid of parameters, and draw where the property holds and where it is violated.

Parameters are given as ranges, two of them at most, or as single numbers.  An option of the model may be given several
times, such as --timeout: each value gets a picture of its own.  Instances are explored by worker processes, or by the
workers of a Dask cluster; every answer is kept, so that a map that was stopped goes on where it was.
"""
EXAMPLES = (
    "fdverify map --delta 0..3 --phi 1..2 --timeout '3*phi+delta'",
    "fdverify map --delta 0..12 --phi 1..8 --timeout '3*phi' --timeout '6*phi+delta' --svg map.svg",
)
EXITS = (
    "0 every instance is proved or violated, 2 bad input, 3 some are unknown, 4 some have a dead end, 70 internal error"
)
_RANGE = re.compile(r"\s*(-?[0-9]{1,15})(?:\s*\.\.\s*(-?[0-9]{1,15}))?\s*")


def map_action(reference: str, model: Model) -> Any:
    """What the command does, with options for this model."""
    own = [
        option(
            "svg", Path | None, None, "--svg", metavar="FILE", help="write the pictures as Scalable Vector Graphics"
        ),
        option("jobs", int | None, None, "--jobs", "-j", metavar="N", min=1, help="worker processes; one a core"),
        option(
            "scheduler", str | None, None, "--scheduler", metavar="ADDRESS", help="let a Dask cluster do it instead"
        ),
        option("cache", bool, True, "--cache/--no-cache", help="reuse what was found before, and keep what is found"),
        property_option(model.default_property),
        time_limit_option("for each instance; then it is unknown"),
        json_option(),
    ]
    options = [*model_options(model, "A..B|N", None, repeatable=True), *own]
    return action(reference, model, options, lambda given: _map(reference, model, given))


def _map(reference: str, model: Model, given: Mapping[str, Any]) -> int:
    start = perf_counter()
    from fdverify.discovery.map.grid import grid_of
    from fdverify.discovery.map.survey import Question, Settings, survey

    if given["jobs"] is not None and given["scheduler"] is not None:
        raise UsageError("--jobs is for worker processes and --scheduler for a cluster", "give one of them")
    grid = grid_of({parameter.name: _range(parameter, given[parameter.name]) for parameter in model.parameters})
    question = Question(reference, given["claim"], grid, _pictures(model, given))
    check_time_limit(given["time_limit"])
    if given["svg"] is not None:
        check_report(given["svg"])
    settings = Settings(
        scheduler=given["scheduler"],
        time_limit=given["time_limit"],
        cache=given["cache"],
        **({} if given["jobs"] is None else {"jobs": given["jobs"]}),
    )
    line = CellLine()
    try:
        found = survey(question, settings, line)
    finally:
        line.close()
    if given["svg"] is not None:
        from fdverify.reports.map_svg import map_svg

        write_file(given["svg"], map_svg(found))
    seconds = perf_counter() - start
    if given["json"]:
        from fdverify.reports.map_document import map_document

        print_out(map_document(found, seconds))
    else:
        from fdverify.reports.map_text import map_text

        print_out(map_text(found, seconds))
    return found.exit_code


def _range(parameter: Parameter, text: str | None) -> range:
    """``A..B``, both included, or a number."""
    flag = f"--{parameter.name}"
    if text is None:
        raise UsageError(f"{flag} is needed", f"a range such as {flag} {parameter.least}..8, or a number")
    match = _RANGE.fullmatch(text)
    if match is None:
        raise UsageError(f"{flag} must be a range A..B or a number, got {text!r}")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    if last < first:
        raise UsageError(f"{flag} {text} is empty", f"write {last}..{first}")
    if first < parameter.least:
        raise UsageError(f"{flag} must be at least {parameter.least}, got {first}")
    return range(first, last + 1)


def _pictures(model: Model, given: Mapping[str, Any]) -> list[dict[str, OptionValue]]:
    """The choices of options: one for each combination of what was given."""
    several: list[list[OptionValue]] = []
    for each in model.options:
        chosen = given[each.name]
        values = [chosen] if isinstance(chosen, bool) else list(chosen or [each.default])
        twice = [value for value in values if values.count(value) > 1]
        if twice:
            raise UsageError(f"--{each.name} {twice[0]} is given twice")
        several.append(values)
    names = [each.name for each in model.options]
    return [dict(zip(names, choice, strict=True)) for choice in product(*several)]
