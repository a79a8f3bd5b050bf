"""Growing loops: runs that violate a liveness property again and again although no state recurs.

A model declares the plan of one turn.  The solver proves that, for every value of the growing variable, there is a turn
that is fair and contains a violation.  The interpreter then replays several turns from the initial state.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from fdverify.engines import exact_ages
from fdverify.engines.caps import list_integer_variables
from fdverify.engines.instances import find_smallest_state
from fdverify.engines.plans import describe_state, evaluate_plan, interpret_planned_round, is_well_formed
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.planned_runs import GrowingLoop
from fdverify.models.system import Property, State, System
from fdverify.runs.concrete_interpreter import ChoiceValues, build_initial_state
from fdverify.runs.run import Run, format_rounds
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.next_round import run_planned_round
from fdverify.symbolic.unrolling import Unrolling
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Obligation, Result, Verdict

_TURNS = 10


def verify_growing_loop(system: System, claim: Property, loop: GrowingLoop) -> Result:
    """Prove that the declared loop violates the claim again and again; show how it is entered, and one turn."""
    start = perf_counter()
    values = system.compute_fixed_parameters()
    if loop.grows not in list_integer_variables(system):
        raise UsageError(f"the growing loop of {system.name} grows {loop.grows}, which is not an integer variable")
    initial = build_initial_state(system)
    if not And(loop.within(initial), initial[loop.grows] >= loop.least):
        raise _build_error(system, "the initial state is within a turn")
    obligations = []
    for obligation in decide_loop_obligations(system, claim, loop):
        obligations.append(obligation)
        if obligation.verdict is Verdict.UNKNOWN:
            detail = f"the solver gave up on whether {obligation.name}: {obligation.detail}"
            return Result(Verdict.UNKNOWN, detail, obligations=tuple(obligations))
    first, turn, *others = _interpret_turns(system, claim, loop, initial)
    obligations.append(Obligation(claim.name, "liveness", Verdict.VIOLATED, perf_counter() - start))
    grows = loop.grows
    detail = (
        f"{claim.name} is violated again and again: "
        f"a turn of {format_rounds(len(turn))}, begun after {format_rounds(len(first))}, "
        f"returns to its start with {grows} one higher; there is a turn for every {grows} >= {loop.least}, so it "
        f"can go on for ever, and {2 + len(others)} in a row were replayed"
    )
    statistics = {"turn": len(turn), "turns": 2 + len(others)}
    return Result(Verdict.VIOLATED, detail, statistics, tuple(obligations), Run(values, first + turn))


def decide_loop_obligations(system: System, claim: Property, loop: GrowingLoop) -> Iterator[Obligation]:
    """Decide each condition that makes the declaration a loop: proved or unknown; refuse one that is false."""
    unrolling = Unrolling(system, anywhere=True)
    unrolling.closure.extend_reach(1)  # messages grow older by one in the round that is built on this state
    solver = FreshSolver()
    for name, condition in _build_conditions(system, claim, loop, unrolling.states[0]):
        start = perf_counter()
        question = lift_truth(Not(condition))
        answer = exact_ages.ask_exactly(unrolling, solver, question)
        if answer.status == "sat":
            raise _build_error(
                system,
                name,
                f"it is false in {describe_state(*find_smallest_state(unrolling, solver, answer, question))}",
            )
        verdict = Verdict.PROVED if answer.status == "unsat" else Verdict.UNKNOWN
        yield Obligation(name, "growing-loop", verdict, perf_counter() - start, answer.reason)


def _build_conditions(system: System, claim: Property, loop: GrowingLoop, before: State) -> list[tuple[str, Truth]]:
    """Build the conditions on every state that make a run within a turn end it, then end the next turn, and so on.

    The round that changes the variable ends a turn.  So it is enough that the claim is false right before this round,
    and that each fairness condition holds right before or right after it.
    """
    after, allowed = run_planned_round(system, before, evaluate_plan(system, loop.plan, before))
    known = And(before[loop.grows] >= loop.least, is_well_formed(system, before))
    inside = And(known, loop.within(before))
    same, one_more = after[loop.grows] == before[loop.grows], after[loop.grows] == before[loop.grows] + 1
    goes_on, ends = And(inside, same), And(inside, Not(same))
    falls = And(loop.left(after) >= 0, loop.left(after) < loop.left(before))
    return [
        ("a turn begins within itself", Implies(And(known, loop.starts(before)), loop.within(before))),
        ("each of its rounds is allowed", Implies(inside, allowed)),
        (
            "a turn that goes on stays within itself",
            Implies(goes_on, And(loop.within(after), is_well_formed(system, after))),
        ),
        ("a turn comes to an end", Implies(goes_on, falls)),
        (
            f"a turn ends where the next one begins, with one more {loop.grows}",
            Implies(ends, And(one_more, loop.starts(after), is_well_formed(system, after))),
        ),
        (f"{claim.name} is false right before a turn ends", Implies(ends, Not(claim.holds(before)))),
        *(
            (f"{fair.name} holds when a turn ends", Implies(ends, Or(fair.holds(before), fair.holds(after))))
            for fair in system.fairness
        ),
    ]


def _interpret_turns(
    system: System, claim: Property, loop: GrowingLoop, state: State
) -> list[tuple[ChoiceValues, ...]]:
    """Interpret several turns from this state on, check each of them, and return their choices."""
    turns = []
    for _ in range(_TURNS):
        choices, states = _interpret_turn(system, loop, state)
        state = states[-1]
        if not And(loop.starts(state), state[loop.grows] == states[0][loop.grows] + 1):
            raise InternalError(f"the growing loop of {system.name} does not come back when it is replayed")
        if all(claim.holds(visited) for visited in states):
            raise InternalError(f"the growing loop of {system.name} does not violate {claim.name} when it is replayed")
        for fair in system.fairness:
            if not any(fair.holds(visited) for visited in states):
                raise InternalError(f"the growing loop of {system.name} is not fair when it is replayed: {fair.name}")
        turns.append(choices)
    return turns


def _interpret_turn(system: System, loop: GrowingLoop, state: State) -> tuple[tuple[ChoiceValues, ...], list[State]]:
    """Interpret one turn; return its choices and all its states."""
    turn: list[ChoiceValues] = []
    states = [state]
    while states[-1][loop.grows] == state[loop.grows]:
        if len(turn) > loop.left(state):
            raise InternalError(f"the growing loop of {system.name} does not end when it is replayed")
        choices, after = interpret_planned_round(system, loop.plan, states[-1])
        turn.append(choices)
        states.append(after)
    return tuple(turn), states


def _build_error(system: System, condition: str, hint: str | None = None) -> UsageError:
    return UsageError(f"the growing loop of {system.name} is wrong: it is not true that {condition}", hint)
