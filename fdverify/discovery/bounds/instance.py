"""Instances of a detector: one system at fixed parameters with a fixed initial timeout, visited to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fdverify.engines.conclusion import conclude
from fdverify.engines.explore import Exploration, explore_states
from fdverify.errors import FdverifyError, UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.detector import Detector
from fdverify.models.model import Model, OptionValue
from fdverify.models.system import Integers, Property, System
from fdverify.traces.run import Run
from fdverify.traces.steps import ShownRun, show_run
from fdverify.verdict import Progress, Verdict

MOST_STATES = 1_000_000
"""Where an instance is given up: one whose timeout grows for ever has no end."""
_MOST_ROUNDS = 10_000
"""So is one that has something new in every round, such as a counter."""

EVERY_STATE = Property("anything", lambda s: True, "nothing is claimed")


class NoBound(FdverifyError):
    """Why there is no number to tell: a verdict, a sentence, and a run that shows it if there is one."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.verdict = Verdict.UNKNOWN
        self.run: ShownRun | None = None

    def of(self, verdict: Verdict, run: ShownRun | None = None) -> NoBound:
        """The same with another verdict than unknown."""
        self.verdict, self.run = verdict, run
        return self


def instance(job: CheckRequest, parameters: Mapping[str, int], timeout: int) -> System:
    """The job's system at fixed parameters with a fixed initial timeout."""
    chosen = {**job.options, "timeout": str(timeout)}
    system = replace(job, parameters=dict(parameters), options=chosen).system()
    name = initial_timeout(job)
    if system.parameter_values(dict.fromkeys(system.arbitrary(), 0)).get(name) != timeout:
        raise UsageError(f"the option timeout of {system.name} does not set {name}", f"with {timeout} it is not so")
    return system


def initial_timeout(job: CheckRequest) -> str:
    """The parameter that the option sets: the one that is none of the model's own."""
    model = job.find_model()
    if "timeout" not in [option.name for option in model.options]:
        raise UsageError(f"{model.name} has no option timeout to be bounded")
    own = [parameter.name for parameter in model.parameters]
    others = [parameter.name for parameter in job.system().parameters if parameter.name not in own]
    if len(others) != 1:
        raise UsageError(f"{model.name} has not one parameter that its option timeout sets, but {len(others)}")
    return others[0]


def least_initial_timeout(job: CheckRequest) -> int:
    """The least value that the model allows the initial timeout to have."""
    name = initial_timeout(job)
    return next(parameter.least for parameter in job.system().parameters if parameter.name == name)


def in_place(numbers: Mapping[str, int]) -> str:
    """Where an instance is, for a report."""
    return ", ".join(f"{name} = {value}" for name, value in numbers.items())


def crashing(model: Model) -> dict[str, OptionValue]:
    """The option with which a sender may crash, of a model that has it."""
    return {"crash": True} if any(option.name == "crash" for option in model.options) else {}


def detector_of(system: System) -> Detector:
    """The parts of a detector whose sender may crash."""
    if system.detector is None:
        raise UsageError(f"{system.name} does not say what its detector is made of", "give its System a Detector")
    if system.detector.crash_clock not in [v.name for v in system.variables if isinstance(v.sort, Integers)]:
        raise UsageError(f"{system.name} has no clock {system.detector.crash_clock} that a crash starts")
    return system.detector


def visit(
    system: System, claim: Property, observed: Sequence[Property], report: Callable[[str], None]
) -> tuple[Exploration, Run | None]:
    """Every reachable state, or a run that breaks the claim; no bound where there is an end to neither."""

    where = in_place(system.fixed_values())

    def told(progress: Progress) -> None:
        if progress.depth > _MOST_ROUNDS:
            raise NoBound(f"no end of the states after {_MOST_ROUNDS} rounds, at {where}")
        report(f"depth {progress.depth}, {progress.states} states of an instance")

    exploration = explore_states(system, claim, observed, report=told, most_states=MOST_STATES)
    if exploration.violation is None and not exploration.complete:
        raise NoBound(f"{_given_up(exploration)}, at {where}")
    result = conclude(exploration, 0.0)
    if result.verdict is Verdict.VACUOUS:
        run = None if result.run is None else show_run(system, result.run)
        raise NoBound(f"{system.name} has {result.detail}, at {where}").of(Verdict.VACUOUS, run)
    return exploration, result.run


def _given_up(exploration: Exploration) -> str:
    """That the states have no end in sight, and whether the timeout may be why."""
    system, why = exploration.system, f"no end of the states after {exploration.states} of them"
    if system.detector is None:
        return why
    column = [variable.name for variable in exploration.batches.layout.owners()].index(system.detector.timeout)
    first = int(exploration.levels[0][column][0])
    largest = max(int(level[column].max(initial=first)) for level in exploration.levels)
    if largest <= first:
        return why
    return f"{why}; the timeout has grown from {first} to {largest}, and if it grows for ever, so do detection times"
