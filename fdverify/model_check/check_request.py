"""Requests to check a property of a model with an engine, in a worker process that can be killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fdverify.detectors.model_catalogue import find_model, is_file_reference
from fdverify.errors import UsageError, suggest_name
from fdverify.models.loading import allow_neighbour_imports, blame_errors_on
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Property, System
from fdverify.verdict import Progress, Report, Result, Verdict, ignore_progress
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker

if TYPE_CHECKING:
    from fdverify.proofs.proof import Proof

Returned = TypeVar("Returned")
ParameterValue: TypeAlias = int | OptionValue
"""The value of a parameter (``None``: arbitrary) or of an option."""
_ENGINES = {
    "explore": ("fdverify.engines.explore", "explore"),
    "bmc": ("fdverify.engines.bmc", "bmc"),
    "induct": ("fdverify.engines.kinduction", "k_induction"),
    "simulate": ("fdverify.engines.simulate", "simulate"),
    "live": ("fdverify.engines.live", "live"),
}


@dataclass(frozen=True)
class CheckRequest:
    """A system, a property, and the engine to check it with; ``settings`` are the engine's own arguments.

    Both the model and the property are given as objects or by name.
    """

    command: str
    model: str | Model
    parameters: Mapping[str, int | None]
    options: Mapping[str, OptionValue]
    claim: str | Property
    settings: Mapping[str, Any] = field(default_factory=dict)

    def build_system(self) -> System:
        return self.blame_file(lambda: self.find_model().instantiate(self.parameters, self.options))

    def find_property(self, system: System) -> Property:
        if isinstance(self.claim, Property):
            return self.claim
        return system.find_liveness_property(self.claim) if self.command == "live" else system.find_property(self.claim)

    def run_in_worker(self, time_limit: float | None, report: Report) -> Result:
        """Compare and decide in a worker process; the verdict is unknown if there is no answer in time."""
        last: list[Progress] = []

        def receive_progress(progress: Progress) -> None:
            last[:] = [progress]
            report(progress)

        try:
            return run_in_worker(self.compare_and_decide, time_limit, receive_progress)
        except (TimeLimitReached, WorkerDied) as end:
            why = _describe_lost_worker(end, time_limit)
            if not last:
                return Result(Verdict.UNKNOWN, f"{why}; no depth was completed")
            (done,) = last
            statistics = {"depth": done.depth} | ({} if done.states is None else {"states": done.states})
            return Result(Verdict.UNKNOWN, f"{why}; depth {done.depth} was completed", statistics)

    def compare_and_decide(self, report: Report) -> Result:
        """Compare the author's functions, then run the engine."""
        notes = self.compare_author_code(report)
        result = self.run_engine(report)
        return replace(result, notes=(*notes, *result.notes))

    def run_engine(self, report: Report) -> Result:
        """Run the engine, without checking that the author's functions mean the same to all engines."""
        engine = _import_engine(self.command)
        system, settings = self._add_lemmas()
        return self.blame_file(lambda: engine(system, self.find_property(system), report=report, **settings))

    def compare_author_code(self, report: Report) -> tuple[str, ...]:
        """Refuse functions that do not mean the same to all engines; return notes about the others."""
        from fdverify.author_code.author_check import build_claim_calls, build_plan_calls, check_author_code

        def compare_functions() -> tuple[str, ...]:
            system, settings = self._add_lemmas()
            claims = build_claim_calls("property", (self.find_property(system),))
            claims += build_claim_calls("lemma", settings.get("lemmas", ()))
            plans = build_plan_calls(system) if self.command in ("live", "bounds") else []
            return check_author_code(system, [*claims, *plans]).format_notes()

        return self.blame_file(compare_functions)

    def compare_in_worker(self, time_limit: float | None) -> str | None:
        """Compare the author's functions in a worker process; return the reason if that did not finish."""
        try:
            run_in_worker(self.compare_author_code, time_limit, ignore_progress)
        except (TimeLimitReached, WorkerDied) as end:
            return f"the author's functions were not compared: {_describe_lost_worker(end, time_limit)}"
        return None

    def _add_lemmas(self) -> tuple[System, dict[str, Any]]:
        """Add the assumptions of the proof that provides lemmas to the system, and the lemmas to the settings."""
        system, settings = self.build_system(), dict(self.settings)
        if settings.get("lemmas") is not None:
            proof = self._load_lemmas(settings["lemmas"])
            system, settings["lemmas"] = proof.add_assumptions(system), proof.get_lemmas()
        elif "lemmas" in settings:
            settings["lemmas"] = ()
        return system, settings

    def _load_lemmas(self, file: Path) -> Proof:
        from fdverify.proofs.proof_files import load_proof

        proof, model = load_proof(file), self.find_model()
        if proof.model.name != model.name:
            raise UsageError(f"{file} is about {proof.model.name}, not about {model.name}")
        return proof

    def find_model(self) -> Model:
        return find_model(self.model) if isinstance(self.model, str) else self.model

    def blame_file(self, work: Callable[[], Returned]) -> Returned:
        """Do the work; report an exception that a user's model raises as bad input, with the place in their file."""
        if not isinstance(self.model, str) or not is_file_reference(self.model):
            return work()
        path = Path(self.model.rpartition(":")[0])
        with allow_neighbour_imports(path), blame_errors_on(path):
            return work()


def _describe_lost_worker(end: Exception, time_limit: float | None) -> str:
    limit = "" if time_limit is None else f" of {time_limit:g} s"
    return f"the time limit{limit} was reached" if isinstance(end, TimeLimitReached) else str(end)


def _import_engine(command: str) -> Callable[..., Result]:
    # Imported here, because engines import a solver or numpy, and --help needs neither.
    module, name = _ENGINES[command]
    engine: Callable[..., Result] = getattr(import_module(module), name)
    return engine


def build_request(
    engine: str,
    model: Model | str,
    claim: Property | str | None,
    values: Mapping[str, ParameterValue],
    settings: Mapping[str, Any],
) -> CheckRequest:
    """Build a request from the values of parameters and options by name; the property is the model's own by default."""
    if not isinstance(model, Model | str) or not isinstance(claim, Property | str | None):
        raise UsageError("a model is a name or a Model, a property is a name or a Property")
    resolved = find_model(model) if isinstance(model, str) else model
    parameters, options = split_values(resolved, values)
    default = resolved.default_liveness if engine == "live" else resolved.default_property
    if claim is None and not default:
        raise UsageError(f"{resolved.name} names no property to check", "give one")
    return CheckRequest(
        command=engine,
        model=model,
        parameters={parameter.name: parameters.get(parameter.name) for parameter in resolved.parameters},
        options={option.name: options.get(option.name, option.default) for option in resolved.options},
        claim=default or "" if claim is None else claim,
        settings=settings,
    )


def split_values(model: Model, values: Mapping[str, ParameterValue]) -> tuple[dict[str, int], dict[str, OptionValue]]:
    """Split values into those of parameters and those of options; a parameter that is ``None`` is arbitrary."""
    parameters: dict[str, int] = {}
    options: dict[str, OptionValue] = {}
    names = {parameter.name for parameter in model.parameters}
    known = [*sorted(names), *(option.name for option in model.options)]
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{model.name} has no parameter or option {name}", suggest_name(name, known))
        if name not in names:
            # A number is an expression, too; the model checks which values an option takes.
            options[name] = value if isinstance(value, bool | str | None) else str(value)
        elif value is not None:
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name} must be a number or None, got {value!r}")
            parameters[name] = value
    return parameters, options
