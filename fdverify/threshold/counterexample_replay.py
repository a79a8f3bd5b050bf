"""Counterexamples: runs that violate a specification, replayed without a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fdverify.errors import InternalError
from fdverify.threshold.automaton import Automaton, Specification, UnderApproximation
from fdverify.threshold.counter_system import AcceleratedStep, is_initial, replay_rules
from fdverify.threshold.lasso_semantics import evaluate_on_lasso
from fdverify.threshold.runs.concretise import ConcreteRun
from fdverify.threshold.text.write import format_formula


@dataclass(frozen=True)
class CounterexampleStep:
    """A step, and the values of locations and shared variables after it."""

    step: AcceleratedStep
    after: Mapping[str, int]

    WRITTEN = ("rule", "guard", "source", "target", "processes", "after")

    @property
    def rule(self) -> int:
        return self.step.rule.number

    @property
    def guard(self) -> str:
        return format_formula(self.step.rule.guard)

    @property
    def source(self) -> str:
        return self.step.rule.source

    @property
    def target(self) -> str:
        return self.step.rule.target

    @property
    def processes(self) -> int:
        """How many processes take the rule, one after the other."""
        return self.step.processes


@dataclass(frozen=True)
class Counterexample:
    """A lasso: parameters, the initial configuration, and steps with the configuration after each.

    The steps from index ``loop`` on are repeated for ever.  If there are none, the run stays in its last configuration.
    """

    parameters: Mapping[str, int]
    start: Mapping[str, int]
    steps: tuple[CounterexampleStep, ...]
    loop: int


def replay_counterexample(automaton: Automaton, specification: Specification, run: ConcreteRun) -> Counterexample:
    """Replay a run and return it as a counterexample; raise an internal error unless it violates the specification."""
    if not is_initial(automaton, run.start):
        raise InternalError("the run that was found does not start in an initial configuration")
    configurations = replay_rules(run.rules, run.start)
    if run.loop < len(run.rules) and configurations[-1] != configurations[run.loop]:
        raise InternalError("the loop of the run that was found does not return to its first configuration")
    if evaluate_on_lasso(specification.formula, configurations, run.loop):
        raise InternalError(f"the run that was found does not violate {specification.name} when it is replayed")
    parameters = {name: run.start[name] for name in (*automaton.parameters, *automaton.unknowns)}

    def select_counts(values: Mapping[str, int]) -> dict[str, int]:
        return {name: value for name, value in values.items() if name not in parameters}

    stem = _merge_steps(run, configurations, 0, run.loop)
    steps = [*stem, *_merge_steps(run, configurations, run.loop, len(run.rules))]
    shown = tuple(CounterexampleStep(step, select_counts(after)) for step, after in steps)
    return Counterexample(parameters, select_counts(run.start), shown, len(stem))


def project_run(automaton: Automaton, approximation: UnderApproximation, run: ConcreteRun) -> ConcreteRun:
    """Project a run of an under-approximation onto the automaton: replace copies of rules by their originals."""
    originals = [approximation.originals[rule.number] for rule in run.rules]
    names = {
        *automaton.parameters,
        *automaton.unknowns,
        *automaton.shared,
        *(location.name for location in automaton.locations),
    }
    return ConcreteRun(
        {name: value for name, value in run.start.items() if name in names},
        tuple(automaton.rules[original] for original in originals if original is not None),
        sum(original is not None for original in originals[: run.loop]),
    )


def _merge_steps(
    run: ConcreteRun, configurations: Sequence[dict[str, int]], start: int, end: int
) -> list[tuple[AcceleratedStep, dict[str, int]]]:
    """Merge consecutive steps by the same rule into one accelerated step."""
    steps = []
    for rule, same in groupby(run.rules[start:end]):
        number = len(list(same))
        start += number
        steps.append((AcceleratedStep(rule, number), configurations[start]))
    return steps
