"""The commands that check a property of a model, one for each engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fdverify.cli.commands import Command, Request
from fdverify.cli.options import (
    SYMBOLIC,
    bind_model,
    build_option,
    build_property_option,
    choose_examples,
    list_model_options,
    parse_parameter,
)
from fdverify.model_check.check_request import CheckRequest
from fdverify.model_check.memory_limit import parse_memory_limit
from fdverify.models.expression import parse_expression
from fdverify.models.model import Model
from fdverify.reports.outcome import Outcome
from fdverify.runs.run_table import list_shown_names, show_run
from fdverify.verdict import Progress


@dataclass(frozen=True)
class EngineOption:
    """An option that is passed to the engine as an argument."""

    flag: str
    argument: str
    default: Any
    meaning: str
    least: int | None = None
    is_file: bool = False
    parse: Callable[[str], Any] | None = None
    """Converts the text of an option that is neither a number nor a file, shown as ``metavar``."""
    metavar: str = "TEXT"


@dataclass(frozen=True)
class EngineCommand:
    """The command of an engine: its name, its help and its own options."""

    name: str
    help: str
    options: tuple[EngineOption, ...]
    examples: tuple[str, ...]
    shows_subrounds: bool = True
    is_liveness: bool = False
    """Whether its properties are liveness properties, about whole runs."""


ENGINE_COMMANDS = (
    EngineCommand(
        "explore",
        "Visit every reachable state for fixed parameters: proved, or a shortest counterexample.",
        (
            EngineOption(
                "--subrounds/--rounds", "subrounds", False, "take each phase as a step, as the TLA+ module does"
            ),
            EngineOption("--depth", "depth", None, "stop after this many steps; the verdict is then bounded", 0),
            EngineOption(
                "--memory-limit",
                "memory_limit",
                None,
                "keep states beyond this size, such as 2GB, in temporary files",
                parse=parse_memory_limit,
                metavar="SIZE",
            ),
        ),
        (
            "fdverify explore --delta 2 --phi 4",
            "fdverify explore examples/own_property.py:DETECTOR --delta 2 --phi 4 --property waits-3-phi",
        ),
        shows_subrounds=False,
    ),
    EngineCommand(
        "bmc",
        "Search runs of growing length for a violation; parameters may be symbolic.",
        (EngineOption("--depth", "depth", 100, "the largest number of rounds of a run", 0),),
        (
            "fdverify bmc --timeout 'phi+delta+2'",
            "fdverify bmc --delta 3 --phi symbolic --timeout '3*phi' --show timeout-waiting_time --itf run.itf.json",
        ),
    ),
    EngineCommand(
        "induct",
        "Prove by k-induction, from the property, the variables' ranges and the conjuncts of a proof file.",
        (
            EngineOption("--max-k", "max_k", 60, "the largest k to try", 1),
            EngineOption(
                "--lemmas", "lemmas", None, "a proof file whose conjuncts are proved with the property", is_file=True
            ),
        ),
        (
            "fdverify induct --delta 1 --phi 1",
            "fdverify induct --variant ivy --lemmas invariants/strong_accuracy.py",
        ),
    ),
    EngineCommand(
        "live",
        "Visit every reachable state for fixed parameters and search for a fair run that violates a property for ever.",
        (EngineOption("--unfair", "unfair", False, "also allow runs that starve a process or a message"),),
        (
            "fdverify live --delta 1 --phi 2 --timeout 1",
            "fdverify live --delta 1 --phi 1 --timeout 1 --crash --property strong-completeness",
        ),
        is_liveness=True,
    ),
    EngineCommand(
        "simulate",
        "Show one random run for fixed parameters.",
        (
            EngineOption("--depth", "rounds", 30, "the number of rounds", 0),
            EngineOption("--seed", "seed", 0, "the same seed gives the same run"),
        ),
        ("fdverify simulate --delta 2 --phi 2 --depth 10 --seed 7",),
    ),
)


def build_command(engine: EngineCommand, reference: str, model: Model) -> Command:
    """Build the command of an engine, with the options of a model."""
    return Command(
        name=engine.name,
        help=engine.help,
        compute=bind_model(reference, model, partial(_compute_check, engine)),
        examples=choose_examples(reference, engine.examples),
        options=[
            *list_model_options(model, "N|symbolic", SYMBOLIC),
            *map(_build_engine_option, engine.options),
            build_property_option(model.default_liveness if engine.is_liveness else model.default_property),
            build_option("show", list[str] | None, None, "--show", metavar="EXPR", help="add a column to the table"),
            *(
                [build_option("subrounds", bool, False, "--subrounds", help="show a row for each phase of a round")]
                if engine.shows_subrounds
                else []
            ),
        ],
        shows_runs=True,
        has_places=True,
        time_limit="stop after this time; the verdict is then unknown",
    )


def build_check_request(
    name: str, reference: str, model: Model, given: Mapping[str, Any], engine: EngineCommand | None = None
) -> CheckRequest:
    """Build a check request from the options of the command line."""
    return CheckRequest(
        command=name,
        model=reference,
        parameters={each.name: parse_parameter(each.name, given[each.name]) for each in model.parameters},
        options={each.name: given[each.name] for each in model.options},
        claim=given["claim"],
        settings={} if engine is None else {each.argument: _read_value(each, given) for each in engine.options},
    )


def _read_value(option: EngineOption, given: Mapping[str, Any]) -> Any:
    value = given[option.argument]
    return value if option.parse is None or value is None else option.parse(value)


def _build_engine_option(option: EngineOption) -> inspect.Parameter:
    if isinstance(option.default, bool):
        return build_option(option.argument, bool, option.default, option.flag, help=option.meaning)
    if option.is_file:
        return build_option(option.argument, Path | None, None, option.flag, metavar="FILE", help=option.meaning)
    if option.parse is not None:
        return build_option(option.argument, str | None, None, option.flag, metavar=option.metavar, help=option.meaning)
    kind = int if option.default is not None else int | None
    return build_option(
        option.argument, kind, option.default, option.flag, metavar="N", min=option.least, help=option.meaning
    )


def _compute_check(
    engine: EngineCommand, reference: str, model: Model, request: Request, given: Mapping[str, Any]
) -> Outcome:
    check = build_check_request(engine.name, reference, model, given, engine)
    system = check.build_system()
    claim = check.find_property(system)
    columns = [parse_expression(text, list_shown_names(system)) for text in given["show"] or ()]

    def show_progress(progress: Progress) -> None:
        states = "" if progress.states is None else f", {progress.states} states"
        request.progress.show(f"depth {progress.depth}{states}")

    result = check.run_in_worker(request.time_limit, show_progress)
    run = None if result.run is None else show_run(system, result.run, given["subrounds"], columns)
    from fdverify.model_check.report import report_check  # rich is slow to import, and --help does not need it

    return report_check(engine.name, system, claim, result, run, request.measure_seconds())
