"""The sub-rounds mean the same to the explorer and to the solver, and bounds are what the paper's constraints say."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.cutoff.chandra_toueg_template import LOCATIONS, PeerWatch, chandra_toueg
from fdverify.cutoff.function_vocabulary import KINDS, SymbolicVocabulary, UninterpretedTemplate
from fdverify.cutoff.rounds import OF_ONE, OF_TWO, Choices, Configuration, SubRound
from fdverify.cutoff.small_system import SmallSystem, StoredConfiguration
from fdverify.cutoff.template import CRASHED
from fdverify.symbolic.values import Int, Value
from tests.sampling import every

WATCHES = st.builds(PeerWatch, st.integers(1, 2), st.booleans(), st.integers(0, 2))
TRANSIT = st.frozensets(st.tuples(st.just("alive"), st.integers(0, 2)), max_size=2)


def states(processes: int) -> st.SearchStrategy[StoredConfiguration]:
    def of(each: st.SearchStrategy[Any], number: int) -> st.SearchStrategy[Any]:
        return st.tuples(*[each] * number)

    pairs = processes**2
    return st.builds(
        StoredConfiguration,
        of(st.sampled_from([*LOCATIONS, CRASHED]), processes),
        of(st.booleans(), processes),
        of(st.integers(0, 2), processes),
        of(st.frozensets(st.just("alive")), pairs),
        of(WATCHES, pairs),
        of(TRANSIT, pairs),
    )


def evaluated(term: Any, functions: dict[str, Callable[..., Any]]) -> Any:
    """A Z3 term in Python's values, the functions in it being these; what is not needed is not asked."""
    kind, parts = term.decl().kind(), term.children()

    def at(part: Any) -> Any:
        return evaluated(part, functions)

    match kind:
        case z3.Z3_OP_TRUE | z3.Z3_OP_FALSE:
            return z3.is_true(term)
        case z3.Z3_OP_ANUM:
            return term.as_long()
        case z3.Z3_OP_ITE:
            return at(parts[1]) if at(parts[0]) else at(parts[2])
        case z3.Z3_OP_AND:
            return all(at(part) for part in parts)
        case z3.Z3_OP_OR:
            return any(at(part) for part in parts)
        case z3.Z3_OP_NOT:
            return not at(parts[0])
        case z3.Z3_OP_EQ:
            return at(parts[0]) == at(parts[1])
        case z3.Z3_OP_LE:
            return at(parts[0]) <= at(parts[1])
        case z3.Z3_OP_ADD:
            return sum(at(part) for part in parts)
        case z3.Z3_OP_UNINTERPRETED:
            return functions[term.decl().name()](*(at(part) for part in parts))
    raise AssertionError(f"no meaning for {term.decl()}")


def value_of(found: Any, functions: dict[str, Callable[..., Any]]) -> Any:
    return evaluated(found.term, functions) if isinstance(found, Value) else found


def meanings(instance: SmallSystem, c: Configuration, chosen: Choices) -> dict[str, Callable[..., Any]]:
    of = instance.interpretation

    def kind(location: str) -> int:
        return next(number for number, each in enumerate(KINDS) if of.is_kind(location, each))

    def constant(name: str) -> Callable[[], Any]:
        return lambda: getattr(of, name)

    names = ("start", "crashed", "start_value", "no_messages", "no_transit", "longest_rest")
    operations = ("next_location", "generate_message", "next_value", "joined", "aged", "with_fresh", "without")
    asked = ("contents", "may_take", "within", "overdue")
    return {
        **{name: constant(name) for name in names},
        "kind": kind,
        **{name: getattr(of, name) for name in (*operations, *asked)},
        **{f"c.{part}": getattr(c, part) for part in (*OF_ONE, *OF_TWO)},
        **{f"chosen.{part}": getattr(chosen, part) for part in ("crash", "schedule", "delivered")},
    }


@pytest.mark.parametrize("sub_round", every(4, SubRound))
@given(data=st.data())
def test_a_sub_round_is_the_same_for_the_explorer_and_the_solver(sub_round: SubRound, data: st.DataObject) -> None:
    processes = data.draw(st.integers(1, 2))
    instance = SmallSystem(chandra_toueg(), processes, delta=1, phi=2)
    c = instance.restore_configuration(data.draw(states(processes)))
    flags, parts = st.tuples(*[st.booleans()] * processes), st.tuples(*[TRANSIT] * processes**2)
    crash, schedule, delivered = data.draw(flags), data.draw(flags), data.draw(parts)
    chosen = Choices(
        crash=lambda p: crash[p - 1],
        schedule=lambda p: schedule[p - 1],
        delivered=lambda s, r: delivered[(s - 1) * processes + r - 1],
    )
    rounds = instance.template.rounds
    concrete = rounds.step(sub_round, instance.interpretation, c, chosen)
    v = SymbolicVocabulary()
    symbolic = rounds.step(
        sub_round, UninterpretedTemplate(v), v.make_configuration("c", lambda claim: False), v.make_choices("chosen")
    )
    functions = meanings(instance, c, chosen)
    for p, q in product(instance.indexes, repeat=2):
        at = Int(z3.IntVal(p)), Int(z3.IntVal(q))
        for part in OF_ONE:
            found = getattr(symbolic.after, part)(at[0])
            assert value_of(found, functions) == getattr(concrete.after, part)(p), part
        for part in OF_TWO:
            found = getattr(symbolic.after, part)(*at)
            assert value_of(found, functions) == getattr(concrete.after, part)(p, q), part
        assert symbolic.rules.keys() == concrete.rules.keys()
        for name, rule in symbolic.rules.items():
            assert value_of(rule(*at), functions) == concrete.rules[name](p, q), name


@given(active=st.lists(st.booleans(), max_size=12), longest=st.integers(0, 3))
def test_an_idle_counter_says_what_windows_say(active: list[bool], longest: int) -> None:
    """(PS2): in every ``longest`` + 1 rounds in a row a process is active; the counter never exceeds ``longest``."""
    windows = [active[at : at + longest + 1] for at in range(len(active) - longest)]
    idle, most = 0, 0
    for acts in active:
        idle = 0 if acts else idle + 1
        most = max(most, idle)
    assert all(any(window) for window in windows) == (most <= longest)
