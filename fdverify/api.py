"""The functions of the public API: each does what a command does, and returns a report.

A report prints as the command does, and renders in a notebook.  The author's functions run in worker processes, which
are forked: they need not be importable, so models and proofs may be defined in a script or a notebook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from fdverify.bounds.bounds_search import find_bounds as search_bounds
from fdverify.bounds.detector_configuration import configure_detector as compute_configuration
from fdverify.bounds.report import report_bounds, report_configuration
from fdverify.errors import UsageError
from fdverify.invariant_search.inference import infer_invariant as search_invariant
from fdverify.model_check.check_request import CheckRequest, ParameterValue, build_request, split_values
from fdverify.model_check.memory_limit import parse_memory_limit
from fdverify.model_check.report import report_check
from fdverify.models.model import Model
from fdverify.models.system import Property
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.report import ProofsReport
from fdverify.reports.documents import Document
from fdverify.reports.formats import FORMATS
from fdverify.reports.outcome import Outcome
from fdverify.reports.step_table import render_html, render_text
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check_specification import ThresholdSettings, check_specifications
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.report import report_specifications
from fdverify.threshold.text.read import read_automaton
from fdverify.verdict import Result, Verdict, ignore_progress


class Report:
    """What came of a check.  It prints as a table, and renders in a notebook."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    @property
    def verdict(self) -> Verdict:
        """The verdict; of several claims, the most serious one."""
        parts = (self.document, *getattr(self.document, "proofs", ()), *getattr(self.document, "specifications", ()))
        verdicts = [getattr(part, "verdict", None) for part in parts]
        known = [verdict for verdict in verdicts if isinstance(verdict, Verdict)]
        return next((each for each in known if each.exit_code == self._outcome.exit_code), Verdict.UNKNOWN)

    @property
    def document(self) -> Document:
        """The same as data: the fields of the JSON document."""
        return self._outcome.document

    @property
    def runs(self) -> tuple[ShownRun, ...]:
        """The runs that are shown, step by step."""
        return self._outcome.runs

    def write(self, path: Path | str, format: str = "html") -> None:
        """Write the report to a file, in one of the formats of the command line."""
        known = {each.name: each for each in FORMATS}
        if format not in known:
            raise UsageError(f"there is no format {format}", f"there are {', '.join(known)}")
        text = known[format].write(self._outcome)
        if text is None:
            raise UsageError(f"there is nothing to write as {format}")
        Path(path).write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return render_text(self._outcome.render).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return render_html(self._outcome.render)


def check_proof(
    proof: Proof | Path | str,
    *,
    k: int = 1,
    time_limit: float | None = None,
    second_opinion: str | None = None,
    cache: bool = True,
    witness: bool = False,
    **values: ParameterValue,
) -> Report:
    """Check an inductive proof, as ``verify-invariant`` does; parameters are arbitrary unless they are given."""
    started = perf_counter()
    source = Path(proof) if isinstance(proof, str) else proof
    model = (load_proof(source) if isinstance(source, Path) else source).model
    parameters, options = split_values(model, values)
    settings = ProofSettings(
        parameters=parameters,
        options=options,
        k=k,
        time_limit=time_limit,
        second_opinion=second_opinion,
        cache=cache,
        knows_outcomes=False,
    )
    (result,) = check_proofs([source], settings)
    if result.error is not None:
        raise result.error
    return Report(ProofsReport([result], perf_counter() - started, witness).build_outcome())


def explore_states(
    model: Model | str,
    property: Property | str | None = None,
    *,
    subrounds: bool = False,
    depth: int | None = None,
    memory_limit: str | None = None,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Visit every reachable state, as ``fdverify explore`` does; all parameters must be numbers.

    States that take more than ``memory_limit``, such as ``"2GB"``, go to temporary files.
    """
    limit = None if memory_limit is None else parse_memory_limit(memory_limit)
    settings = {"subrounds": subrounds, "depth": depth, "memory_limit": limit}
    return _run_engine("explore", model, property, values, settings, time_limit, subrounds)


def search_runs(
    model: Model | str,
    property: Property | str | None = None,
    *,
    depth: int = 100,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Search runs of growing length for a violation, as ``fdverify bmc`` does."""
    return _run_engine("bmc", model, property, values, {"depth": depth}, time_limit)


def prove_by_induction(
    model: Model | str,
    property: Property | str | None = None,
    *,
    max_k: int = 60,
    lemmas: Path | str | None = None,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Prove by k-induction, as ``fdverify induct`` does; the conjuncts of a proof file help as lemmas."""
    settings = {"max_k": max_k, "lemmas": None if lemmas is None else Path(lemmas)}
    return _run_engine("induct", model, property, values, settings, time_limit)


def check_liveness(
    model: Model | str,
    property: Property | str | None = None,
    *,
    unfair: bool = False,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Search for a fair run that violates a property for ever, as ``fdverify live`` does."""
    return _run_engine("live", model, property, values, {"unfair": unfair}, time_limit)


def simulate_run(
    model: Model | str,
    property: Property | str | None = None,
    *,
    rounds: int = 30,
    seed: int = 0,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Show one random run, as ``fdverify simulate`` does."""
    return _run_engine("simulate", model, property, values, {"rounds": rounds, "seed": seed}, time_limit)


def infer_invariant(
    model: Model | str,
    property: Property | str | None = None,
    *,
    methods: Sequence[str] = ("templates", "spacer"),
    seed: int = 0,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Search for an inductive invariant, as ``fdverify infer`` does; ``document.proof`` is the proof file."""
    started = perf_counter()
    request = build_request("infer", model, property, values, {})
    inferred = search_invariant(request, tuple(methods), seed, time_limit, _ignore)
    return _report_result(request, inferred.result, started, inferred.text)


def find_bounds(
    model: Model | str,
    quantity: Literal["accuracy", "detection"] = "accuracy",
    property: Property | str | None = None,
    *,
    proof: Path | str | None = None,
    time_limit: float | None = None,
    **values: ParameterValue,
) -> Report:
    """Find a formula for the least safe timeout or the worst detection time, as ``fdverify bounds`` does."""
    started = perf_counter()
    request = build_request("bounds", model, property, values, {})
    own = None if proof is None else load_proof(Path(proof))
    deadline = None if time_limit is None else started + time_limit
    search = request.blame_file(lambda: search_bounds(quantity, request, own, deadline, _ignore))
    return Report(report_bounds(quantity, search, perf_counter() - started))


def configure_detector(
    model: Model | str,
    property: Property | str | None = None,
    *,
    longest: int | None = None,
    **values: ParameterValue,
) -> Report:
    """Find the least safe timeout and the worst detection time at given numbers, as ``fdverify bounds`` does."""
    started = perf_counter()
    request = build_request("bounds", model, property, values, {})
    numbers = {name: value for name, value in request.parameters.items() if value is not None}
    missing = [name for name in request.parameters if name not in numbers]
    if missing:
        raise UsageError(f"{missing[0]} must be a number", "or use find_bounds")
    configuration = request.blame_file(lambda: compute_configuration(request, numbers, _ignore, longest))
    return Report(report_configuration(numbers, None, configuration, perf_counter() - started))


def check_automaton(
    automaton: Automaton | Path | str,
    specifications: Sequence[str] = (),
    *,
    parameters: Mapping[str, int] | None = None,
    driver: str = "auto",
    second_opinion: str | None = None,
    time_limit: float | None = None,
) -> Report:
    """Check the specifications of a threshold automaton, as ``fdverify threshold check`` does."""
    file = Path(automaton.name) if isinstance(automaton, Automaton) else Path(automaton)
    read = automaton if isinstance(automaton, Automaton) else read_automaton(file)
    wanted = [each for each in read.specifications if not specifications or each.name in specifications]
    missing = [name for name in specifications if name not in [each.name for each in wanted]]
    if missing or not wanted:
        raise UsageError(f"{file} has no specification {missing[0] if missing else ''}".rstrip())
    fixed = dict(parameters or {})
    settings = ThresholdSettings(driver, second_opinion)
    checks = check_specifications(fix_parameters(read, fixed), wanted, settings, time_limit)
    outcome = report_specifications(file, read, checks, fixed=fixed, driver=driver, second_opinion=second_opinion)
    return Report(outcome)


def _run_engine(
    engine: str,
    model: Model | str,
    claim: Property | str | None,
    values: Mapping[str, ParameterValue],
    settings: Mapping[str, Any],
    time_limit: float | None,
    subrounds: bool = False,
) -> Report:
    started = perf_counter()
    request = build_request(engine, model, claim, values, settings)
    return _report_result(request, request.run_in_worker(time_limit, ignore_progress), started, subrounds=subrounds)


def _report_result(
    request: CheckRequest, result: Result, started: float, proof: str | None = None, subrounds: bool = False
) -> Report:
    system = request.build_system()
    run = None if result.run is None else show_run(system, result.run, subrounds)
    claim, seconds = request.find_property(system), perf_counter() - started
    return Report(report_check(request.command, system, claim, result, run, seconds, proof, prints_proof=True))


def _ignore(text: str) -> None:
    """Report progress to nobody."""
