"""The symbolic engine and the explicit-state checker, which shares nothing with it, on random automata."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from fdverify.errors import UsageError
from fdverify.smt.solver import ArithmeticSolver
from fdverify.threshold.automaton import Automaton, Specification
from fdverify.threshold.check_specification import (
    SpecificationResult,
    ThresholdSettings,
    check,
    refuse_undecided,
)
from fdverify.threshold.claims.run_shapes import list_violating_shapes
from fdverify.threshold.claims.thresholds import Threshold
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.ltl_formula import Not, extract_premise
from fdverify.threshold.runs.concretise import ConcreteRun, concretise_run
from fdverify.threshold.runs.run_encoding import RunEncoding
from fdverify.threshold.runs.run_problem import RunProblem, build_run_problem, has_enough_phases
from fdverify.threshold.text.read import parse_automaton
from fdverify.threshold.text.write import format_formula
from fdverify.verdict import Verdict
from tests.sampling import choose
from tests.threshold.mutants import SPECIFICATIONS, mutants
from tests.threshold.oracle import holds
from tests.threshold.oracle.lasso import is_broken_by

PARTS = range(6)
"""Tests are in so many parts, to be run beside each other."""

COUNT = choose(full=400, sample=20)
"""Of mutants in a part."""

EXPECTED = {None: Verdict.VACUOUS, True: Verdict.PROVED, False: Verdict.VIOLATED}
Parameters = dict[str, int]


def named(text: str, name: str) -> tuple[Automaton, Specification]:
    automaton = parse_automaton(text, "mutant.ta")
    (specification,) = (each for each in automaton.specifications if each.name == name)
    return automaton, specification


def shows_a_run(text: str, checked: SpecificationResult) -> bool:
    """Whether the checker, too, finds that the run shown breaks the specification."""
    example = checked.trace
    assert example is not None
    steps = [(step.source, step.target, step.processes, step.after) for step in example.steps]
    return is_broken_by(text, checked.name, {**example.parameters, **example.start}, steps, example.loop)


def never_begins(text: str, specification: Specification, parameters: Parameters) -> bool:
    """Whether the checker finds no run that meets the specification's premise."""
    denied = f"specifications (1) {{ premise: {format_formula(Not(extract_premise(specification.formula)))}; "
    return holds(text.replace("specifications (", f"{denied}}} specifications (", 1), "premise", parameters) is True


def outcome(text: str, parameters: Parameters, name: str, settings: ThresholdSettings) -> str:
    """Whether both say the same, and what; or why the engine does not say."""
    automaton, specification = named(text, name)
    expected = EXPECTED[holds(text, name, parameters)]
    try:
        found = check(fix_parameters(automaton, parameters), specification, settings)
    except UsageError as error:
        refused = "not admissible" not in error.message or expected is Verdict.VACUOUS
        return "refused" if refused else f"{error.message}\n{text}"
    if found.verdict is expected and (expected is not Verdict.VIOLATED or shows_a_run(text, found)):
        return str(expected)
    # A premise that no run meets makes a specification true, of which the engine says that it is vacuous.
    if (found.verdict, expected) == (Verdict.VACUOUS, Verdict.PROVED) and never_begins(text, specification, parameters):
        return "vacuous"
    return f"{name} at {parameters} is {expected}, not {found}\n{text}"


def each_mutant(seed: int, count: int) -> list[tuple[str, Parameters, str]]:
    """Mutants, each with one of its specifications, of every shape equally often."""
    return [
        (text, parameters, SPECIFICATIONS[at % len(SPECIFICATIONS)])
        for at, (text, parameters) in enumerate(mutants(seed, count))
    ]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("driver", ["auto", "query", "search"])
def test_the_engine_says_what_the_explicit_checker_says(driver: str, part: int) -> None:
    outcomes = Counter(outcome(*each, ThresholdSettings(driver)) for each in each_mutant(seed=1100 + part, count=COUNT))
    assert set(outcomes) <= {"proved", "violated", "vacuous", "refused"}
    assert outcomes["violated"] >= COUNT // 5
    assert outcomes["proved"] >= COUNT // 20
    assert outcomes.total() - outcomes["refused"] >= 3 * COUNT // 4


@pytest.mark.parametrize(("driver", "count"), [("query", COUNT), ("search", COUNT // 5)])
def test_a_second_solver_agrees(driver: str, count: int) -> None:
    """The search asks it of every node."""
    outcomes = Counter(outcome(*each, ThresholdSettings(driver, "cvc5")) for each in each_mutant(seed=12, count=count))
    assert set(outcomes) <= {"proved", "violated", "vacuous", "refused"}
    assert outcomes["violated"] >= count // 6
    assert outcomes["proved"] >= count // 12


def verdict_for_all(text: str, parameters: Parameters, name: str) -> str:
    """What is said of all parameters, if the checker finds nothing against it."""
    automaton, specification = named(text, name)
    try:
        found = {
            driver: check(automaton, specification, ThresholdSettings(driver)) for driver in ("auto", "query", "search")
        }
    except UsageError:
        return "refused"
    (verdict,) = {each.verdict for each in found.values()}
    if verdict is Verdict.VIOLATED:
        places = [location.name for location in automaton.locations]
        examples = [each.trace for each in found.values() if each.trace is not None]
        sizes = {sum(example.start[place] for place in places) for example in examples}
        agreed = len(sizes) == 1 and all(shows_a_run(text, each) for each in found.values())
    else:
        agreed = holds(text, name, parameters) is not False
    return str(verdict) if agreed else f"{name} is not {found}\n{text}"


@pytest.mark.parametrize("part", PARTS)
def test_what_is_said_of_all_parameters_is_so_of_some(part: int) -> None:
    outcomes = Counter(verdict_for_all(*each) for each in each_mutant(seed=1300 + part, count=COUNT))
    assert set(outcomes) <= {"proved", "violated", "vacuous", "refused"}
    assert outcomes["violated"] >= COUNT // 4
    assert outcomes["proved"] >= COUNT // 20


def some_runs(problem: RunProblem, tracked: Sequence[Threshold], phases: int) -> bool:
    """Whether the formula has a run; with everything tracked and so many phases, it can be put into an order."""
    runs = RunEncoding(problem, tracked, phases)
    solver = ArithmeticSolver()
    solver.add(runs.facts)
    answer = solver.ask()
    assert answer.status != "unknown"
    if answer.status == "sat" and len(tracked) == len(problem.thresholds) and (phases or not problem.inhabited_sets):
        assert isinstance(concretise_run(runs, answer), ConcreteRun)
    return answer.status == "sat"


def forced(text: str, parameters: Parameters, name: str, source: random.Random) -> str:
    """What formulas say that track more than they need: with all it takes, the truth; with less, nothing less."""
    automaton, specification = named(text, name)
    try:
        fixed = fix_parameters(automaton, parameters)
        refuse_undecided(fixed, specification)
        problems = [
            build_run_problem(fixed, name, shape) for shape in list_violating_shapes(name, specification.formula)
        ]
    except UsageError:
        return "refused"
    broken = holds(text, name, parameters) is False
    for each in problems:
        some = source.sample(list(each.thresholds), source.randint(0, len(each.thresholds)))
        if broken and not any(some_runs(other, some if other is each else (), 0) for other in problems):
            return f"{name} at {parameters} is broken by no run that tracks {some}\n{text}"
    phases = [
        next((p for p in (1, 3, 5, 7) if has_enough_phases(each, p)), None) if each.inhabited_sets else 0
        for each in problems
    ]
    if None in phases:
        return "too many phases"
    found = any(some_runs(each, list(each.thresholds), p or 0) for each, p in zip(problems, phases, strict=True))
    return str(broken) if found == broken else f"{name} at {parameters} is {broken}, not {found}\n{text}"


@pytest.mark.parametrize("part", PARTS)
def test_formulas_that_track_everything_are_exact(part: int) -> None:
    source = random.Random(part)
    outcomes = Counter(forced(*each, source) for each in each_mutant(seed=1400 + part, count=COUNT))
    assert set(outcomes) <= {"True", "False", "refused", "too many phases"}
    assert min(outcomes["True"], outcomes["False"]) >= COUNT // 5
