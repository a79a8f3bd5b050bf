"""The fixture ``verify``: claims about proofs and models, for tests written in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

import pytest

from fdverify.detectors.model_catalogue import is_file_reference
from fdverify.errors import FdverifyError, UsageError, check_interpreter
from fdverify.model_check.check_request import ParameterValue, build_request, split_values
from fdverify.models.model import Model
from fdverify.models.system import Property
from fdverify.printable import make_printable
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof import Proof
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.report import render_obligation
from fdverify.reports.step_table import print_steps, render_text
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.smt.solver_name import SOLVER
from fdverify.testing.plugin_options import OPTIONS_KEY
from fdverify.testing.terminal_summary import note_unknown, note_verdict
from fdverify.verdict import Result, Verdict, ignore_progress

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def _hide_traceback(method: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Wrap a method so that errors of this package are shown at the test's own line, without a traceback."""

    @wraps(method)
    def call_method(*arguments: Arguments.args, **values: Arguments.kwargs) -> Returned:
        __tracebackhide__ = True
        try:
            check_interpreter()
            return method(*arguments, **values)
        except FdverifyError as error:
            raise error.with_traceback(None) from None

    return call_method


class Verify:
    """Claims about proofs and models.  A method fails the test, and shows the counterexample, unless its claim holds.

    Keywords are the model's parameters, which are arbitrary unless a number is given, and its options, such as
    ``delta=4, phi=1, variant="tla"``.  Paths of files are relative to pytest's root folder.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._options = item.config.stash[OPTIONS_KEY]

    @_hide_traceback
    def proved(self, proof: Proof | Path | str, *, k: int = 1, **values: ParameterValue) -> ProofResult:
        """Require that the proof, given as a file or an object, is proved."""
        __tracebackhide__ = True
        if not isinstance(proof, Proof | Path | str):
            raise UsageError(f"a proof is a file or a Proof, got {proof!r}")
        source = proof if isinstance(proof, Proof) else self._resolve_path(proof)
        model = (source if isinstance(source, Proof) else load_proof(source)).model
        parameters, options = split_values(model, values)
        settings = replace(
            self._options.build_settings(),
            parameters=parameters,
            options=options,
            k=k,
            knows_outcomes=False,
        )
        (result,) = check_proofs([source], settings)
        if result.error is not None:
            raise result.error
        note_verdict(self._item, result.verdict, SOLVER, sum(checked.effort for checked in result.checked))
        if result.verdict is not Verdict.PROVED:
            failed = [entry.name for entry in result.obligations if entry.verdict is not Verdict.PROVED]
            texts = [render_obligation(result, name) for name in failed]
            self._raise_failure(result.verdict, f"{result.name} is not proved", result.detail, texts)
        return result

    @_hide_traceback
    def violated(
        self, model: Model | str, property: Property | str | None = None, *, depth: int = 100, **values: ParameterValue
    ) -> ShownRun:
        """Require that a run of at most ``depth`` rounds violates the property; return the shortest such run."""
        __tracebackhide__ = True
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
            raise UsageError(f"depth must be a number of rounds, got {depth!r}")
        about, result, steps = self._run_engine("bmc", model, property, {"depth": depth}, values)
        if result.verdict is not Verdict.VIOLATED or steps is None:
            self._raise_failure(result.verdict, f"{about} is not violated", result.detail, [])
        return steps

    @_hide_traceback
    def explored(
        self,
        model: Model | str,
        property: Property | str | None = None,
        *,
        subrounds: bool = False,
        **values: ParameterValue,
    ) -> Result:
        """Require that the property holds in every reachable state; all parameters must be numbers."""
        __tracebackhide__ = True
        about, result, steps = self._run_engine("explore", model, property, {"subrounds": subrounds}, values)
        if result.verdict is not Verdict.PROVED:
            tables = [] if steps is None else [render_text(partial(print_steps, run=steps), for_terminal=False)]
            self._raise_failure(result.verdict, f"{about} is not proved", result.detail, tables)
        return result

    def _run_engine(
        self,
        engine: str,
        model: Model | str,
        claim: Property | str | None,
        settings: Mapping[str, int | bool],
        values: Mapping[str, ParameterValue],
    ) -> tuple[str, Result, ShownRun | None]:
        """Run an engine; return a name for the claim, the result, and its run."""
        if isinstance(model, str) and is_file_reference(model):
            model = str(self._resolve_path(model))
        request = build_request(engine, model, claim, values, settings)
        system = request.build_system()
        about = f"{request.find_property(system).name} of {system.name}"
        result = request.run_in_worker(self._options.time_limit, ignore_progress)
        note_verdict(self._item, result.verdict, SOLVER, 0)
        return about, result, None if result.run is None else show_run(system, result.run)

    def _raise_failure(self, verdict: Verdict, head: str, detail: str, texts: list[str]) -> NoReturn:
        __tracebackhide__ = True
        if verdict is Verdict.UNKNOWN:
            note_unknown(self._item, detail, self._options.format_test_command(self._item.nodeid))
        raise AssertionError("\n".join([make_printable(f"{head}: {verdict}: {detail}"), *texts]).rstrip())

    def _resolve_path(self, file: Path | str) -> Path:
        return self._item.config.rootpath / file
