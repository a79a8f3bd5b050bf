"""``fdverify map``: check a property at every instance of a grid of parameters, and draw a map."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from fdverify.cli.commands import Command, Request
from fdverify.cli.options import bind_model, build_option, build_property_option, choose_examples, list_model_options
from fdverify.cli.output import check_report, write_file
from fdverify.errors import UsageError
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Parameter
from fdverify.reports.outcome import Outcome

HELP = """Check every instance of a grid of parameters, and draw where the property holds and where it is violated.

Parameters are given as ranges, two of them at most, or as single numbers.  An option of the model may be given several
times, such as --timeout: each value gets its own picture.  Instances are explored by worker processes, or by the
workers of a Dask cluster.  Every answer is stored, so an interrupted map resumes where it stopped.
"""
EXAMPLES = (
    "fdverify map --delta 0..3 --phi 1..2 --timeout '3*phi+delta'",
    "fdverify map --delta 0..12 --phi 1..8 --timeout '3*phi' --timeout '6*phi+delta' --svg map.svg",
)
EXITS = (
    "0 every instance is proved or violated, 2 bad input, 3 some are unknown, 4 some have a dead end, 70 internal error"
)
_RANGE = re.compile(r"\s*(-?[0-9]{1,15})(?:\s*\.\.\s*(-?[0-9]{1,15}))?\s*")


def build_map(reference: str, model: Model) -> Command:
    """Build the command, with options for this model."""
    return Command(
        name="map",
        help=HELP,
        compute=bind_model(reference, model, _compute_map),
        examples=choose_examples(reference, EXAMPLES),
        exits=EXITS,
        options=[
            *list_model_options(model, "A..B|N", None, repeatable=True),
            build_option("svg", Path | None, None, "--svg", metavar="FILE", help="write the pictures as an SVG file"),
            build_option("cache", bool, True, "--cache/--no-cache", help="reuse stored answers, and store new ones"),
            build_property_option(model.default_property),
        ],
        time_limit="stop each instance after this time; it is then unknown",
        fans_out=True,
    )


def _compute_map(reference: str, model: Model, request: Request, given: Mapping[str, Any]) -> Outcome:
    from fdverify.sweep.parameter_grid import build_grid
    from fdverify.sweep.report import report_map
    from fdverify.sweep.sweep import SweepRequest, SweepSettings, run_sweep

    grid = build_grid(
        {parameter.name: _parse_range(parameter, given[parameter.name]) for parameter in model.parameters}
    )
    question = SweepRequest(reference, given["claim"], grid, _list_pictures(model, given))
    if given["svg"] is not None:
        check_report(given["svg"])
    settings = SweepSettings(request.workers, request.time_limit, given["cache"])
    parameter_map = run_sweep(question, settings, lambda done, total: request.progress.show(f"{done} of {total} cells"))
    if given["svg"] is not None:
        from fdverify.sweep.map_svg import draw_map

        write_file(given["svg"], draw_map(parameter_map))
    return report_map(parameter_map, request.measure_seconds())


def _parse_range(parameter: Parameter, text: str | None) -> range:
    """Parse ``A..B``, both included, or a number."""
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


def _list_pictures(model: Model, given: Mapping[str, Any]) -> list[dict[str, OptionValue]]:
    """List the options of each picture: one for each combination of the given values."""
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
