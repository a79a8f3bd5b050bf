"""Growing loops: runs that break a liveness property for ever, and in which no state comes back.

A model declares how a turn goes.  The solver proves that there is a turn for every value of the variable that grows,
fair and with a violation in it; and the interpreter goes round some times, from the initial state on.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from fdverify.engines import exact
from fdverify.engines.caps import integers
from fdverify.engines.parameters import smallest_state
from fdverify.engines.plans import in_words, interpreted_round, plan_in, well_formed
from fdverify.errors import InternalError, UsageError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.models.growing import GrowingLoop
from fdverify.models.interpret import Made, initial_state
from fdverify.models.system import Property, State, System
from fdverify.smt.solver import FreshSolver
from fdverify.symbolic.progress import planned_round
from fdverify.symbolic.unroll import Unrolling
from fdverify.symbolic.values import truth
from fdverify.traces.run import Run, rounds
from fdverify.verdict import Obligation, Result, Verdict

_TURNS = 10


def go_round(system: System, claim: Property, loop: GrowingLoop) -> Result:
    """Prove that the declared loop breaks the claim for ever, and show how it is entered and one turn."""
    start = perf_counter()
    values = system.fixed_values()
    if loop.grows not in integers(system):
        raise UsageError(f"the growing loop of {system.name} grows {loop.grows}, which is no integer variable")
    initial = initial_state(system)
    if not And(loop.within(initial), initial[loop.grows] >= loop.least):
        raise _wrong(system, "the initial state is within a turn")
    obligations = []
    for obligation in obligations_of(system, claim, loop):
        obligations.append(obligation)
        if obligation.verdict is Verdict.UNKNOWN:
            detail = f"the solver gave up on whether {obligation.name}: {obligation.detail}"
            return Result(Verdict.UNKNOWN, detail, obligations=tuple(obligations))
    first, turn, *others = _turns(system, claim, loop, initial)
    obligations.append(Obligation(claim.name, "liveness", Verdict.VIOLATED, perf_counter() - start))
    grows = loop.grows
    detail = (
        f"{claim.name} is violated again and again: a turn of {rounds(len(turn))}, begun after {rounds(len(first))}, "
        f"leads back but for {grows}, which is one higher; there is a turn for every {grows} >= {loop.least}, so it "
        f"can go on for ever, and {2 + len(others)} in a row were replayed"
    )
    statistics = {"turn": len(turn), "turns": 2 + len(others)}
    return Result(Verdict.VIOLATED, detail, statistics, tuple(obligations), Run(values, first + turn))


def obligations_of(system: System, claim: Property, loop: GrowingLoop) -> Iterator[Obligation]:
    """What makes the declaration a loop, each part proved or unknown; one that is wrong is refused."""
    unrolling = Unrolling(system, anywhere=True)
    unrolling.closure.reach_further(1)  # a round is built on its first state, in which messages grow older by one
    solver = FreshSolver()
    for name, demand in _demands(system, claim, loop, unrolling.states[0]):
        start = perf_counter()
        question = truth(Not(demand))
        answer = exact.ask(unrolling, solver, question)
        if answer.status == "sat":
            raise _wrong(system, name, f"not in {in_words(*smallest_state(unrolling, solver, answer, question))}")
        verdict = Verdict.PROVED if answer.status == "unsat" else Verdict.UNKNOWN
        yield Obligation(name, "growing-loop", verdict, perf_counter() - start, answer.reason)


def _demands(system: System, claim: Property, loop: GrowingLoop, before: State) -> list[tuple[str, Truth]]:
    """What must be so in every state, so that a run that is within a turn ends it, and the next one, and so on.

    The round that ends a turn is the one that changes the variable.  So it is enough that the claim is false right
    before it, and that all that is fair holds right before or right after it.
    """
    after, allowed = planned_round(system, before, plan_in(system, loop.plan, before))
    known = And(before[loop.grows] >= loop.least, well_formed(system, before))
    inside = And(known, loop.within(before))
    same, one_more = after[loop.grows] == before[loop.grows], after[loop.grows] == before[loop.grows] + 1
    goes_on, ends = And(inside, same), And(inside, Not(same))
    falls = And(loop.left(after) >= 0, loop.left(after) < loop.left(before))
    return [
        ("a turn begins within itself", Implies(And(known, loop.starts(before)), loop.within(before))),
        ("each of its rounds is allowed", Implies(inside, allowed)),
        (
            "a turn that goes on stays within itself",
            Implies(goes_on, And(loop.within(after), well_formed(system, after))),
        ),
        ("a turn comes to an end", Implies(goes_on, falls)),
        (
            f"a turn ends where the next one begins, with one more {loop.grows}",
            Implies(ends, And(one_more, loop.starts(after), well_formed(system, after))),
        ),
        (f"{claim.name} is false right before a turn ends", Implies(ends, Not(claim.holds(before)))),
        *(
            (f"{each.name} holds when a turn ends", Implies(ends, Or(each.holds(before), each.holds(after))))
            for each in system.fairness
        ),
    ]


def _turns(system: System, claim: Property, loop: GrowingLoop, state: State) -> list[tuple[Made, ...]]:
    """The choices of each turn from this state on, as the interpreter has gone through them."""
    turns = []
    for _ in range(_TURNS):
        made, states = _turn(system, loop, state)
        state = states[-1]
        if not And(loop.starts(state), state[loop.grows] == states[0][loop.grows] + 1):
            raise InternalError(f"the growing loop of {system.name} does not come back when it is replayed")
        if all(claim.holds(each) for each in states):
            raise InternalError(f"the growing loop of {system.name} does not violate {claim.name} when it is replayed")
        for fair in system.fairness:
            if not any(fair.holds(each) for each in states):
                raise InternalError(f"the growing loop of {system.name} is not fair when it is replayed: {fair.name}")
        turns.append(made)
    return turns


def _turn(system: System, loop: GrowingLoop, state: State) -> tuple[tuple[Made, ...], list[State]]:
    """The choices of one turn and all its states."""
    made: list[Made] = []
    states = [state]
    while states[-1][loop.grows] == state[loop.grows]:
        if len(made) > loop.left(state):
            raise InternalError(f"the growing loop of {system.name} does not end when it is replayed")
        choices, after = interpreted_round(system, loop.plan, states[-1])
        made.append(choices)
        states.append(after)
    return tuple(made), states


def _wrong(system: System, demand: str, hint: str | None = None) -> UsageError:
    return UsageError(f"in the growing loop of {system.name} it is not so that {demand}", hint)
