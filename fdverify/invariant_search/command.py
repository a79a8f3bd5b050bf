"""``fdverify infer``: an inductive invariant with no help, as a proof file."""

from __future__ import annotations

from collections.abc import Mapping
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
)
from fdverify.cli.output import check_writable, write_file
from fdverify.errors import UsageError
from fdverify.model_check.command import build_check_request
from fdverify.models.model import Model
from fdverify.reports.outcome import Outcome
from fdverify.workers.atomic_files import is_taken

HELP = """Find an inductive invariant that proves a property, for arbitrary parameters unless they are given.

Two searches run beside each other: templates over the model's variables that hold in explored states, and Z3's Spacer.
What they find is made small and written as a proof file, which is then checked as verify-invariant checks every proof;
only if it passes is the property called proved.  The file is printed, or written to --output.
"""
EXAMPLES = (
    "fdverify infer --timeout '3*phi' --time-limit 60",
    "fdverify infer --timeout '3*phi+delta' --output proof_accuracy.py",
)
_METHODS = {"auto": ("templates", "spacer"), "templates": ("templates",), "spacer": ("spacer",)}


def build_infer(reference: str, model: Model) -> Command:
    """Build the command, with options for this model."""
    return Command(
        name="infer",
        help=HELP,
        compute=bind_model(reference, model, _compute_inference),
        examples=choose_examples(reference, EXAMPLES),
        options=[
            *list_model_options(model, "N|symbolic", SYMBOLIC),
            build_option(
                "output", Path | None, None, "--output", "-o", metavar="FILE", help="where to write the proof file"
            ),
            build_option("by", str, "auto", "--by", metavar="|".join(_METHODS), help="who searches"),
            build_option("seed", int, 0, "--seed", metavar="N", min=0, help="the solvers' seed"),
            build_property_option(model.default_property),
        ],
        shows_runs=True,
        has_places=True,
        time_limit="then the verdict is unknown",
    )


def _compute_inference(reference: str, model: Model, request: Request, given: Mapping[str, Any]) -> Outcome:
    output: Path | None = given["output"]
    if given["by"] not in _METHODS:
        raise UsageError(f"--by must be {', '.join(_METHODS)}, got {given['by']}")
    if output is not None:
        check_writable(output)
        if is_taken(output):
            raise UsageError(f"{output} exists", "name another file")
    check = build_check_request("infer", reference, model, given)
    system = check.build_system()
    claim = check.find_property(system)
    from fdverify.engines.instances import check_parameters
    from fdverify.invariant_search.inference import infer_invariant
    from fdverify.model_check.report import report_check
    from fdverify.runs.run_table import show_run

    check_parameters(system)
    inferred = infer_invariant(check, _METHODS[given["by"]], given["seed"], request.time_limit, request.progress.show)
    if output is not None and inferred.text is not None:
        write_file(output, inferred.text)
    run = None if inferred.result.run is None else show_run(system, inferred.result.run)
    return report_check(
        "infer",
        system,
        claim,
        inferred.result,
        run,
        request.measure_seconds(),
        proof=inferred.text,
        prints_proof=output is None,
    )
