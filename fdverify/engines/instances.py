"""Instances of a system: check arbitrary parameters, and choose small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from fdverify.errors import ResourcesExhausted, UsageError
from fdverify.logic import And, Number, Truth
from fdverify.models.system import State, System, build_minimum_error
from fdverify.smt.solver import FreshSolver, Solver, SolverAnswer
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import Value, lift_truth
from fdverify.symbolic.witness import read_parameters, read_state
from fdverify.verdict import Verdict


def check_parameters(system: System) -> None:
    """Refuse a defined parameter that can be below its least value for some choice of the arbitrary ones."""
    if not system.list_arbitrary():
        system.compute_fixed_parameters()
        return
    unrolling = Unrolling(system)
    facts = unrolling.take_new_facts()
    for parameter in system.parameters:
        value = unrolling.parameters[parameter.name]
        if isinstance(value, int):
            if value < parameter.least:
                raise build_minimum_error(parameter, value)
            continue
        if parameter.value is None:
            continue
        solver = FreshSolver()
        solver.add(facts)
        answer = solver.ask(lift_truth(value < parameter.least))
        if answer.status == "sat":
            values = read_parameters(unrolling, answer.get_value)
            where = ", ".join(f"{name}={values[name]}" for name in system.list_arbitrary())
            raise UsageError(f"{build_minimum_error(parameter, values[parameter.name])} at {where}")
        if answer.status == "unknown":
            if "memory" in answer.reason:
                raise ResourcesExhausted(
                    f"whether {parameter.name} is always at least {parameter.least}: {answer.reason}"
                )
            raise UsageError(
                f"cannot show that {parameter.name} = {parameter.value} is always at least {parameter.least}",
                "fix the parameters it depends on, or simplify its expression",
            )


def diagnose_assumptions(system: System) -> tuple[Verdict, str] | None:
    """Return a verdict and its reason if no parameters satisfy the assumptions, or if the solver cannot tell."""
    if not system.assumptions:
        return None
    names = ", ".join(assumption.name for assumption in system.assumptions)
    solver = FreshSolver()
    solver.add(Unrolling(system).take_new_facts())
    answer = solver.ask()
    if answer.status == "unsat":
        return Verdict.VACUOUS, f"no parameters satisfy the assumptions: {names}"
    if answer.status == "unknown":
        return Verdict.UNKNOWN, f"the solver gave up on whether the assumptions can hold: {names}: {answer.reason}"
    return None


def find_smallest_instance(system: System, above: Mapping[str, int] | None = None) -> System | None:
    """Return the system at the smallest parameters that satisfy its assumptions, if the solver finds some.

    The parameters in ``above`` must be larger than the numbers there.
    """
    unrolling = Unrolling(system)
    solver = FreshSolver()
    solver.add(unrolling.take_new_facts())
    solver.add([lift_truth(unrolling.parameters[name] > number) for name, number in (above or {}).items()])
    answer = solver.ask()
    if answer.status != "sat":
        return None
    answer = minimise_parameters(unrolling, answer, lambda condition: solver.ask(lift_truth(condition)))
    values = read_parameters(unrolling, answer.get_value)
    return system.fix_parameters({name: values[name] for name in system.list_arbitrary()})


def list_small_instances(system: System) -> list[System]:
    """Return the system at small parameters that satisfy its assumptions; itself if all are fixed."""
    arbitrary = [parameter for parameter in system.parameters if parameter.value is None]
    choices = [list(enumerate(parameter.list_small_values())) for parameter in arbitrary]
    # Smallest first: all parameters at their first values, then one of them at its second value, and so on.
    ordered = sorted(product(*choices), key=lambda picked: sum(place for place, _ in picked))
    values = ({p.name: value for p, (_, value) in zip(arbitrary, picked, strict=True)} for picked in ordered)
    return list_admissible_instances(system, values)


def find_larger_instances(system: System, known: Sequence[System]) -> list[System]:
    """Find instances with one parameter, or all, larger than in every known instance; then twice as large.

    A solver finds them, since the assumptions may exclude most choices of numbers.
    """
    arbitrary = system.list_arbitrary()
    if not known or not arbitrary:
        return []
    values = [instance.compute_parameters() for instance in known]
    most = {name: max(known_values[name] for known_values in values) for name in arbitrary}
    larger: dict[tuple[int, ...], System] = {}
    for factor in (1, 2):
        beyond = {name: factor * max(number, 1) if factor > 1 else number for name, number in most.items()}
        for names in (*([name] for name in arbitrary), arbitrary):
            instance = find_smallest_instance(system, {name: beyond[name] for name in names})
            if instance is not None:
                larger.setdefault(tuple(instance.compute_parameters().values()), instance)
    return list(larger.values())


def list_admissible_instances(system: System, values: Iterable[Mapping[str, int]]) -> list[System]:
    """Return the system at those of these parameters that are in their ranges and satisfy its assumptions."""
    return [
        system.fix_parameters(chosen)
        for chosen in values
        if _is_admissible(system, State(system.compute_parameters(chosen)))
    ]


def _is_admissible(system: System, numbers: State) -> bool:
    in_range = all(numbers[parameter.name] >= parameter.least for parameter in system.parameters)
    return in_range and all(assumption.holds(numbers) for assumption in system.assumptions)


def minimise_parameters(
    unrolling: Unrolling, answer: SolverAnswer, ask: Callable[[Truth], SolverAnswer]
) -> SolverAnswer:
    """Return an answer to the same question in which the arbitrary parameters are minimised, one after the other."""
    pinned: Truth = True
    for parameter in unrolling.system.parameters:
        if parameter.value is None:
            value = unrolling.parameters[parameter.name]
            answer, known = minimise_value(value, parameter.least, answer, _add_assumption(ask, pinned))
            pinned = And(pinned, value == known)
    return answer


def find_smallest_state(
    unrolling: Unrolling, solver: Solver, answer: SolverAnswer, *question: Any
) -> tuple[System, State]:
    """Return the first state of an answer at the smallest parameters; those that the solver finds may be too large."""
    answer = minimise_parameters(unrolling, answer, lambda condition: solver.ask(*question, lift_truth(condition)))
    return read_state(unrolling, answer.get_value)


def _add_assumption(ask: Callable[[Truth], SolverAnswer], fact: Truth) -> Callable[[Truth], SolverAnswer]:
    return lambda condition: ask(And(fact, condition))


def minimise_value(
    value: Number, least: int, answer: SolverAnswer, ask: Callable[[Truth], SolverAnswer]
) -> tuple[SolverAnswer, int]:
    """Return an answer with the least value of one number, and this value.

    Bounds are tried from below and doubled: the least value is usually small, but the solver's may be huge.
    """
    known = _read_number(answer, value)
    bound, step = least, 1
    while least < known:
        better = ask(value <= min(bound, known - 1))
        if better.status == "sat":
            answer, known = better, _read_number(better, value)
            bound = (least + known) // 2
        else:
            least = min(bound, known - 1) + 1
            bound, step = least + step, 2 * step
    return answer, known


def _read_number(answer: SolverAnswer, value: Number) -> int:
    return int(answer.get_value(value.term)) if isinstance(value, Value) else value
