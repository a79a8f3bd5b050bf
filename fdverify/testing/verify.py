"""The fixture ``verify``: claims about proofs and models in tests that are written in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

import pytest

from fdverify.errors import FdverifyError, UsageError, check_interpreter, did_you_mean
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.catalogue import find_model, is_file_reference
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Property
from fdverify.printable import printable
from fdverify.proofs.check import check
from fdverify.proofs.files import load_proof
from fdverify.proofs.proof import Proof
from fdverify.proofs.report import render_obligation
from fdverify.proofs.result import ProofResult
from fdverify.reports.step_table import print_steps, render_text
from fdverify.smt.decide import SOLVER
from fdverify.testing.options import KEY
from fdverify.testing.properties import note_unknown, note_verdict
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Result, Verdict, silent

Value = int | OptionValue
"""A number for a parameter (``None``: arbitrary), or what an option takes."""


Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


def _errors_told(method: Callable[Arguments, Found]) -> Callable[Arguments, Found]:
    """An error of this package is shown at the test's own line, without the way it took."""

    @wraps(method)
    def told(*arguments: Arguments.args, **values: Arguments.kwargs) -> Found:
        __tracebackhide__ = True
        try:
            check_interpreter()
            return method(*arguments, **values)
        except FdverifyError as error:
            raise error.with_traceback(None) from None

    return told


class Verify:
    """Each method fails the test unless what it says is so, and shows the steps that tell otherwise.

    Keywords are the model's parameters, which are arbitrary unless a number is given, and its options, such as
    ``delta=4, phi=1, variant="tla"``.  Files are looked for from pytest's root folder.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._options = item.config.stash[KEY]

    @_errors_told
    def proved(self, proof: Proof | Path | str, *, k: int = 1, **values: Value) -> ProofResult:
        """The proof, of a file or at hand, is one."""
        __tracebackhide__ = True
        if not isinstance(proof, Proof | Path | str):
            raise UsageError(f"a proof is a file or a Proof, got {proof!r}")
        source = proof if isinstance(proof, Proof) else self._below_root(proof)
        model = (source if isinstance(source, Proof) else load_proof(source)).model
        parameters, options = _split(model, values)
        settings = replace(self._options.settings(self._jobs()), parameters=parameters, options=options, k=k)
        (result,) = check([source], settings)
        if result.error is not None:
            raise result.error
        note_verdict(self._item, result.verdict, SOLVER, sum(checked.effort for checked in result.checked))
        if result.verdict is not Verdict.PROVED:
            bad = [each.name for each in result.obligations if each.verdict is not Verdict.PROVED]
            texts = [render_obligation(result, name) for name in bad]
            self._fail(result.verdict, f"{result.name} is not proved", result.detail, texts)
        return result

    @_errors_told
    def violated(
        self, model: Model | str, property: Property | str | None = None, *, depth: int = 100, **values: Value
    ) -> ShownRun:
        """A run of at most so many rounds breaks the property; the shortest one, step by step."""
        __tracebackhide__ = True
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
            raise UsageError(f"depth must be a number of rounds, got {depth!r}")
        about, result, steps = self._checked("bmc", model, property, {"depth": depth}, values)
        if result.verdict is not Verdict.VIOLATED or steps is None:
            self._fail(result.verdict, f"{about} is not violated", result.detail, [])
        return steps

    @_errors_told
    def explored(
        self, model: Model | str, property: Property | str | None = None, *, subrounds: bool = False, **values: Value
    ) -> Result:
        """The property holds in every reachable state; all parameters must be numbers."""
        __tracebackhide__ = True
        about, result, steps = self._checked("explore", model, property, {"subrounds": subrounds}, values)
        if result.verdict is not Verdict.PROVED:
            tables = [] if steps is None else [render_text(partial(print_steps, run=steps), for_terminal=False)]
            self._fail(result.verdict, f"{about} is not proved", result.detail, tables)
        return result

    def _checked(
        self,
        engine: str,
        model: Model | str,
        claim: Property | str | None,
        settings: Mapping[str, int | bool],
        values: Mapping[str, Value],
    ) -> tuple[str, Result, ShownRun | None]:
        """What the claim is called, what the engine found, and the run of that."""
        if not isinstance(model, Model | str) or not isinstance(claim, Property | str | None):
            raise UsageError("a model is a name or a Model, a property is a name or a Property")
        if isinstance(model, str) and is_file_reference(model):
            model = str(self._below_root(model))
        found = find_model(model) if isinstance(model, str) else model
        parameters, options = _split(found, values)
        job = CheckRequest(
            command=engine,
            model=model,
            parameters={parameter.name: parameters.get(parameter.name) for parameter in found.parameters},
            options={option.name: options.get(option.name, option.default) for option in found.options},
            claim=found.default_property if claim is None else claim,
            settings=settings,
        )
        system = job.system()
        about = f"{job.property_of(system).name} of {found.name}"
        result = job.result(self._options.time_limit, silent)
        note_verdict(self._item, result.verdict, SOLVER, 0)
        return about, result, None if result.run is None else show_run(system, result.run)

    def _fail(self, verdict: Verdict, head: str, detail: str, texts: list[str]) -> NoReturn:
        __tracebackhide__ = True
        if verdict is Verdict.UNKNOWN:
            note_unknown(self._item, detail, self._options.test_command(self._item.nodeid))
        raise AssertionError("\n".join([printable(f"{head}: {verdict}: {detail}"), *texts]).rstrip())

    def _jobs(self) -> int:
        # Under pytest-xdist other workers have the other cores.
        return 1 if hasattr(self._item.config, "workerinput") else len(os.sched_getaffinity(0))

    def _below_root(self, file: Path | str) -> Path:
        return self._item.config.rootpath / file


def _split(model: Model, values: Mapping[str, Value]) -> tuple[dict[str, int], dict[str, OptionValue]]:
    """The values of parameters, and those of options; a parameter that is ``None`` is arbitrary."""
    parameters: dict[str, int] = {}
    options: dict[str, OptionValue] = {}
    names = {parameter.name for parameter in model.parameters}
    known = [*sorted(names), *(option.name for option in model.options)]
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{model.name} has no parameter or option {name}", did_you_mean(name, known))
        if name not in names:
            # A number is an expression, too; which values an option takes, the model knows.
            options[name] = value if isinstance(value, bool | str | None) else str(value)
        elif value is not None:
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name} must be a number or None, got {value!r}")
            parameters[name] = value
    return parameters, options
