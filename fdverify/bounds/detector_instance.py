"""Instances of a detector: systems at fixed parameters with a fixed initial timeout, whose states are all visited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fdverify.engines.explore import Exploration, conclude_exploration, explore_states
from fdverify.errors import FdverifyError, UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Detector
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Integers, Property, System
from fdverify.runs.run import Run
from fdverify.runs.run_table import ShownRun, show_run
from fdverify.verdict import Progress, Verdict

MOST_STATES = 1_000_000
"""The number of states at which an instance is given up: a timeout that grows for ever gives infinitely many."""
_MOST_ROUNDS = 10_000
"""The number of rounds at which an instance is given up: a counter gives new states in every round."""

EVERY_STATE = Property("anything", lambda s: True, "nothing is claimed")


class NoBound(FdverifyError):
    """The reason why there is no bound: a verdict, a sentence, and a run that shows it if there is one."""

    verdict = Verdict.UNKNOWN
    run: ShownRun | None = None

    def with_verdict(self, verdict: Verdict, run: ShownRun | None = None) -> NoBound:
        """Set another verdict than unknown, and a run; return the error itself."""
        self.verdict, self.run = verdict, run
        return self


def build_instance(request: CheckRequest, parameters: Mapping[str, int], timeout: int) -> System:
    """Build the system at fixed parameters with a fixed initial timeout."""
    chosen = {**request.options, "timeout": str(timeout)}
    system = replace(request, parameters=dict(parameters), options=chosen).build_system()
    name = find_initial_timeout(request)
    if system.compute_parameters(dict.fromkeys(system.list_arbitrary(), 0)).get(name) != timeout:
        raise UsageError(
            f"the option timeout of {system.name} does not set {name}", f"with {timeout} it has another value"
        )
    return system


def find_initial_timeout(request: CheckRequest) -> str:
    """Return the name of the parameter that the option timeout sets: the one that the model does not declare."""
    model = request.find_model()
    if "timeout" not in [option.name for option in model.options]:
        raise UsageError(f"{model.name} has no option timeout to be bounded")
    own = [parameter.name for parameter in model.parameters]
    others = [parameter.name for parameter in request.build_system().parameters if parameter.name not in own]
    if len(others) != 1:
        raise UsageError(f"the option timeout of {model.name} must set exactly one parameter, got {len(others)}")
    return others[0]


def find_least_initial_timeout(request: CheckRequest) -> int:
    """Return the least initial timeout that the model allows."""
    name = find_initial_timeout(request)
    return next(parameter.least for parameter in request.build_system().parameters if parameter.name == name)


def format_parameters(numbers: Mapping[str, int]) -> str:
    """Format the parameters of an instance for a message."""
    return ", ".join(f"{name} = {value}" for name, value in numbers.items())


def build_crash_options(model: Model) -> dict[str, OptionValue]:
    """Return the option with which a sender may crash; nothing if the model has no such option."""
    return {"crash": True} if any(option.name == "crash" for option in model.options) else {}


def require_detector(system: System) -> Detector:
    """Return the system's detector; refuse a system without a detector or without its crash clock."""
    if system.detector is None:
        raise UsageError(f"{system.name} does not say what its detector is made of", "give its System a Detector")
    if system.detector.crash_clock not in [v.name for v in system.variables if isinstance(v.sort, Integers)]:
        raise UsageError(f"{system.name} has no clock {system.detector.crash_clock} that a crash starts")
    return system.detector


def visit_states(
    system: System,
    claim: Property,
    observed: Sequence[Property],
    report: Callable[[str], None],
    most_states: int = MOST_STATES,
    most_rounds: int = _MOST_ROUNDS,
) -> tuple[Exploration, Run | None]:
    """Visit every reachable state, or find a run that violates the claim; raise ``NoBound`` if neither ends."""
    where = format_parameters(system.compute_fixed_parameters())

    def report_progress(progress: Progress) -> None:
        if progress.depth > most_rounds:
            raise NoBound(f"the exploration did not end after {most_rounds} rounds, at {where}")
        report(f"depth {progress.depth}, {progress.states} states of an instance")

    exploration = explore_states(system, claim, observed, report=report_progress, most_states=most_states)
    if exploration.violation is None and not exploration.complete:
        raise NoBound(f"{_explain_giving_up(exploration)}, at {where}")
    result = conclude_exploration(exploration, 0.0)
    if result.verdict is Verdict.VACUOUS:
        run = None if result.run is None else show_run(system, result.run)
        raise NoBound(f"{system.name} has {result.detail}, at {where}").with_verdict(Verdict.VACUOUS, run)
    return exploration, result.run


def _explain_giving_up(exploration: Exploration) -> str:
    """Say that the exploration did not end, and whether a growing timeout may be the reason."""
    system, why = exploration.system, f"the exploration did not end after {exploration.states} states"
    if system.detector is None:
        return why
    column = [variable.name for variable in exploration.batches.layout.list_column_owners()].index(
        system.detector.timeout
    )
    first = int(exploration.get_level(0)[column][0])
    largest = int(exploration.get_all_states()[column].max())
    if largest <= first:
        return why
    return f"{why}; the timeout has grown from {first} to {largest}, and if it grows for ever, so do detection times"
