"""``fdverify infer``: an inductive invariant with no help, as a proof file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from fdverify.cli.options import action, json_option, model_options, option, property_option, time_limit_option
from fdverify.cli.output import (
    SYMBOLIC,
    check_time_limit,
    check_writable,
    number_or_symbolic,
    print_out,
    write_file,
)
from fdverify.cli.progress import TextLine
from fdverify.errors import UsageError
from fdverify.files import is_taken
from fdverify.job import Job
from fdverify.models.model import Model

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


def infer_action(reference: str, model: Model) -> Any:
    """What the command does, with options for this model."""
    own = [
        option("output", Path | None, None, "--output", "-o", metavar="FILE", help="where to write the proof file"),
        option("by", str, "auto", "--by", metavar="|".join(_METHODS), help="who searches"),
        option("seed", int, 0, "--seed", metavar="N", min=0, help="the solvers' seed"),
        property_option(model.default_property),
        time_limit_option("then the verdict is unknown"),
        json_option(),
    ]
    options = [*model_options(model, "N|symbolic", SYMBOLIC), *own]
    return action(reference, model, options, lambda given: _infer(reference, model, given))


def _infer(reference: str, model: Model, given: Mapping[str, Any]) -> int:
    start = perf_counter()
    output: Path | None = given["output"]
    check_time_limit(given["time_limit"])
    if given["by"] not in _METHODS:
        raise UsageError(f"--by must be {', '.join(_METHODS)}, got {given['by']}")
    if output is not None:
        check_writable(output)
        if is_taken(output):
            raise UsageError(f"{output} exists", "name another file")
    job = Job(
        command="infer",
        model=reference,
        parameters={p.name: number_or_symbolic(p.name, given[p.name]) for p in model.parameters},
        options={each.name: given[each.name] for each in model.options},
        claim=given["claim"],
    )
    system = job.system()
    claim = job.property_of(system)
    from fdverify.discovery.infer.inference import infer
    from fdverify.engines.parameters import check_parameters
    from fdverify.traces.steps import shown

    check_parameters(system)
    line = TextLine("infer")
    try:
        found = infer(job, _METHODS[given["by"]], given["seed"], given["time_limit"], line)
    finally:
        line.close()
    if output is not None and found.text is not None:
        write_file(output, found.text)
    result, seconds = found.result, perf_counter() - start
    trace = None if result.run is None else shown(system, result.run)
    if given["json"]:
        from fdverify.reports.document import document

        print_out(document("infer", system, claim, result, trace, seconds, proof=found.text))
        return result.verdict.exit_code
    from fdverify.reports.table import result_text

    if output is None and found.text is not None:
        print_out(f"{found.text}\n")
    print_out(result_text(system, claim, result, trace, seconds))
    return result.verdict.exit_code
