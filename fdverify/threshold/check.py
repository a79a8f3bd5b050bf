"""Does a specification hold for all admissible parameters?  A run that breaks it is replayed before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic, perf_counter
from typing import Any

import networkx as nx
import z3

from fdverify.errors import InternalError, UsageError
from fdverify.smt.script import Script, printed
from fdverify.smt.solver import Answer, FreshSolver
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.threshold.automaton import Automaton, Rule, Specification
from fdverify.threshold.encode import Leg, Runs, linear, truth
from fdverify.threshold.formula import Comparison, Constant, Formula, Implies, Linear, Not, holds, names
from fdverify.threshold.interpret import Step, starts
from fdverify.threshold.schedule import ordered, replayed, walks
from fdverify.threshold.specification import Lasting, Shape, lasting, shapes
from fdverify.threshold.temporal import holds_of_run
from fdverify.threshold.thresholds import thresholds
from fdverify.verdict import Verdict

_NOT_HERE = "that is not decided here: one such set is"


@dataclass(frozen=True)
class Counterexample:
    """Parameters, the values at the start, and steps with the values after each; then nothing moves any more."""

    parameters: dict[str, int]
    start: dict[str, int]
    steps: tuple[tuple[Step, dict[str, int]], ...]


@dataclass(frozen=True)
class Checked:
    specification: str
    verdict: Verdict
    detail: str
    seconds: float
    counterexample: Counterexample | None = None


def with_parameters(automaton: Automaton, values: Mapping[str, int]) -> Automaton:
    """The same automaton for certain parameters, which must exist and be admissible."""
    known = (*automaton.parameters, *automaton.unknowns)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{automaton.name} has no parameter {name}", f"there are {', '.join(known)}")
        if value < 0:
            raise UsageError(f"{name} must be at least 0, got {value}")
    for claim in automaton.assumptions:
        if names(claim) <= set(values) and not holds(claim, values):
            shown = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise UsageError(f"{shown} is not admissible: an assumption of {automaton.name} does not hold")
    fixed = tuple(Comparison(Linear.of({name: 1}), "==", Linear(constant=value)) for name, value in values.items())
    return replace(automaton, assumptions=(*automaton.assumptions, *fixed))


def check(automaton: Automaton, specification: Specification, second: str | None = None) -> Checked:
    """Decide a specification; every answer is also asked of the solver called ``second``, if there is one."""
    start = perf_counter()

    def checked(verdict: Verdict, detail: str, found: Counterexample | None = None) -> Checked:
        return Checked(specification.name, verdict, detail, perf_counter() - start, found)

    for formula, needs_rules, vacuous in _needed(specification.formula):
        some = automaton if needs_rules else replace(automaton, rules=())
        possible = _possible(some, specification.name, formula)
        if possible == "unsat":
            return checked(Verdict.VACUOUS, f"{vacuous} for any admissible parameters")
        if possible == "unknown":
            return checked(Verdict.UNKNOWN, "the solver gave up on whether there is a run to speak of")
    for shape in shapes(specification.name, specification.formula):
        runs = _runs(automaton, specification.name, shape)
        solver = FreshSolver()
        solver.add(runs.facts)
        answer = solver.ask()
        if answer.status == "unknown":
            return checked(Verdict.UNKNOWN, f"the solver gave up: {answer.reason}")
        doubt = None if second is None else _doubt(specification.name, runs, answer, second)
        if doubt is not None:
            return checked(Verdict.UNKNOWN, doubt)
        if answer.status == "sat":
            found = _counterexample(automaton, specification, runs, shape, _smallest(runs, solver, answer))
            return checked(Verdict.VIOLATED, f"{specification.name} is broken by the run shown", found)
    return checked(Verdict.PROVED, f"{specification.name} holds for all admissible parameters")


def _doubt(name: str, runs: Runs, answer: Answer, second: str) -> str | None:
    """Why another solver does not confirm an answer; none if it does, and an error if it contradicts."""
    from fdverify.smt.second import second_opinion  # pysmt is slow to import and seldom wanted

    *facts, last = printed(runs.facts)
    opinion = second_opinion(Script(name, tuple(facts), (), last), second)
    if opinion.status == "unknown":
        return f"{second} does not know: {opinion.reason}"
    if opinion.status != answer.status:
        raise InternalError(f"two solvers disagree on {name}: z3 says {answer.status}, {second} {opinion.status}")
    return None


def check_all(
    automaton: Automaton,
    specifications: Sequence[Specification],
    time_limit: float | None = None,
    second: str | None = None,
) -> list[Checked]:
    """Each specification, in a worker process that can be given up; the time limit is for all of them."""
    # What is not decided is refused before anything is.
    refuse_unbounded(automaton)
    for specification in specifications:
        for shape in shapes(specification.name, specification.formula):
            _lasting(automaton, specification.name, shape)
    end = None if time_limit is None else monotonic() + time_limit
    return [_in_worker(automaton, specification, end, second) for specification in specifications]


def _in_worker(automaton: Automaton, specification: Specification, end: float | None, second: str | None) -> Checked:
    def work(report: Callable[[Any], None]) -> Checked:
        return check(automaton, specification, second)

    try:
        return run_in_worker(work, None if end is None else end - monotonic(), lambda event: None)
    except TimeLimitReached:
        return Checked(specification.name, Verdict.UNKNOWN, "the time limit was reached", 0.0)
    except WorkerDied as death:
        return Checked(specification.name, Verdict.UNKNOWN, str(death), 0.0)


def _needed(formula: Formula) -> list[tuple[Formula, bool, str]]:
    """What some run must satisfy for the specification to say something; whether it need move; and what else is so."""
    premise = [(formula.left, True, "no run meets its premise")] if isinstance(formula, Implies) else []
    return [(Constant(True), False, "no run starts"), *premise]


def _possible(automaton: Automaton, name: str, formula: Formula) -> str:
    """Whether some run satisfies a formula."""
    statuses = set()
    for shape in shapes(name, Not(formula)):
        solver = FreshSolver()
        solver.add(_runs(automaton, name, shape).facts)
        statuses.add(solver.ask().status)
    return next((status for status in ("sat", "unknown") if status in statuses), "unsat")


def _runs(automaton: Automaton, name: str, shape: Shape) -> Runs:
    return Runs(automaton, shape, _lasting(automaton, name, shape))


def _lasting(automaton: Automaton, name: str, shape: Shape) -> list[list[Lasting]]:
    """For each moment what holds from it on."""
    claims = [
        [claim for formula in moment.for_good for claim in lasting(automaton, name, formula)]
        for moment in shape.moments
    ]
    several = {some for each in claims for claim in each for some in claim.inhabited if some}
    if len(several) > 1:
        raise UsageError(f"{name}: to break it, several sets of locations must each be inhabited for good", _NOT_HERE)
    return claims


def refuse_unbounded(automaton: Automaton) -> None:
    """Refuse a rule that processes can take again and again to count without an end."""
    graph: Any = nx.DiGraph([(rule.source, rule.target) for rule in automaton.rules])
    circles = [component for component in nx.strongly_connected_components(graph) if len(component) > 1]
    for rule in automaton.rules:
        on_circle = rule.source == rule.target or any({rule.source, rule.target} <= each for each in circles)
        if rule.adds and on_circle and not _is_bounded(automaton, rule):
            raise UsageError(
                f"{automaton.name}: rule {rule.number} is on a cycle and counts without a bound",
                "guard it by x < … for a variable that it adds to",
            )


def _is_bounded(automaton: Automaton, rule: Rule) -> bool:
    """Whether its guard is false once all thresholds that it counts towards have been reached."""
    values = {name: z3.Int(name) for name in (*automaton.shared, *automaton.parameters, *automaton.unknowns)}
    reached = [
        linear(each.reached, values) >= linear(each.needed, values)
        for each in thresholds(automaton)
        if each.reached.names() & set(rule.added())
    ]
    solver = FreshSolver()
    solver.add([value >= 0 for value in values.values()])
    return solver.ask(truth(rule.guard, values), *reached).status == "unsat"


def _smallest(runs: Runs, solver: FreshSolver, answer: Answer) -> Answer:
    """The run with the fewest processes, and then with the smallest parameters."""
    processes = z3.Sum([runs.start[location.name] for location in runs.automaton.locations])
    for measure in (processes, z3.Sum([z3.IntVal(0), *runs.parameters.values()])):
        low, high = 0, int(answer.value(measure))
        while low < high:
            middle = (low + high) // 2
            smaller = solver.ask(measure <= middle)
            if smaller.status == "sat":
                answer, high = smaller, int(smaller.value(measure))
            else:
                low = middle + 1
        solver.add([measure <= high])
    return answer


def _counterexample(
    automaton: Automaton, specification: Specification, runs: Runs, shape: Shape, answer: Answer
) -> Counterexample:
    start = {name: int(answer.value(term)) for name, term in runs.start.items()}
    if not starts(automaton, start):
        raise InternalError("the solver's run starts where none does")
    rules: list[Rule] = []
    values = start
    for at, leg in enumerate(runs.legs):
        taken = _order_of(automaton, runs, shape, answer, at, leg, values)
        rules += taken
        values = replayed(taken, values)[-1]
        if values != {name: int(answer.value(term)) for name, term in leg.after.items()}:
            raise InternalError("interpreter and encoding disagree on where a stretch leads")
    configurations = replayed(rules, start)
    if holds_of_run(specification.formula, configurations):
        raise InternalError(f"the run that was found does not break {specification.name} when it is replayed")
    return Counterexample({name: start[name] for name in runs.parameters}, start, _in_steps(rules, configurations))


def _order_of(
    automaton: Automaton, runs: Runs, shape: Shape, answer: Answer, at: int, leg: Leg, values: Mapping[str, int]
) -> list[Rule]:
    times = {rule: int(answer.value(number)) for rule, number in runs.taken(leg)}
    kept = [
        some
        for place, claims in enumerate(runs.lasting)
        if _is_over(answer, place, at)
        for claim in claims
        if not holds(claim.unless, values)
        for some in claim.inhabited
    ]
    return ordered(walks(times, values), values, kept)


def _is_over(answer: Answer, moment: int, at: int) -> bool:
    """Whether a moment is not after a configuration."""
    return moment == 0 or int(answer.value(z3.Int(f"moment{moment}"))) <= at


def _in_steps(rules: list[Rule], configurations: list[dict[str, int]]) -> tuple[tuple[Step, dict[str, int]], ...]:
    """Processes that take the same rule one after the other are one step."""
    found = []
    at = 0
    for rule, same in groupby(rules):
        number = len(list(same))
        at += number
        found.append((Step(rule, number), configurations[at]))
    return tuple(found)
