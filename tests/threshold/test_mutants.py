"""Random automata and specifications: always the same, small, and of every kind that engines are to decide."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.threshold.mutants import SPECIFICATIONS, mutants
from tests.threshold.mutants.bases import BASES
from tests.threshold.mutants.generate import LARGEST
from tests.threshold.oracle import broken_at_rest, holds
from tests.threshold.oracle.formulas import Always, Both, Claim, Compared, Either, Formula, Later, true_at
from tests.threshold.oracle.graph import graph_of
from tests.threshold.oracle.reader import Automaton, Rule, read
from tests.threshold.oracle.tableau import pushed


@cache
def found_mutants() -> list[tuple[str, dict[str, int]]]:
    return mutants(1, 300)


@cache
def found_automata() -> list[Automaton]:
    return [read(text) for text, _ in found_mutants()]


@pytest.mark.slow
def test_mutants_are_small_and_differ() -> None:
    assert mutants(1, 300) == found_mutants()
    assert mutants(1, 20) == found_mutants()[:20]
    assert mutants(2, 300) != found_mutants()
    assert len({text for text, _ in found_mutants()}) == 300
    for automaton, (text, values) in zip(found_automata(), found_mutants(), strict=True):
        assert tuple(automaton.specifications) == SPECIFICATIONS
        assert len(automaton.locations) <= 5
        assert len(automaton.rules) <= 8
        assert all(values[name] <= most for name, most in LARGEST.items())
        assert len(graph_of(text, tuple(sorted(values.items()))).configurations) <= 2000


def test_in_some_automata_processes_walk_to_and_fro() -> None:
    assert all(automaton.is_well_made() for automaton in BASES)
    cycles = {automaton.name: automaton.on_quiet_cycles() for automaton in BASES}
    assert cycles["Swap"] == [("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")]
    assert cycles["Cycle"] == [("B", "C"), ("C", "B")]
    assert {name for name, pairs in cycles.items() if pairs} == {"Cycle", "Gaps", "Swap", "Rings"}


def test_guards_and_cycles_of_each_kind() -> None:
    counted = Counter(kind for automaton in found_automata() for kind in kinds(automaton))
    assert set(counted) == {
        *("<", "<=", ">", ">=", "==", "!="),
        *("either", "sum", "factor", "quiet cycle", "counting cycle", "adds to two", "adds two"),
    }
    assert min(counted.values()) >= 15


def kinds(automaton: Automaton) -> set[str]:
    """What guards are made of, and what rules on cycles do."""
    found = set()
    for rule in automaton.rules:
        for part in parts(rule.guard):
            match part:
                case Compared(difference, operator):
                    factors = [factor for name, factor in difference.factors if name in automaton.shared]
                    found |= {operator} | ({"sum"} if len(factors) > 1 else set())
                    found |= {"factor"} if max(factors, default=1) > 1 else set()
                case Either():
                    found.add("either")
        if rule.source in reached(automaton.rules, rule.target):
            found |= {"counting cycle"} if any(rule.adds.values()) else set()
        quiet = [each for each in automaton.rules if not any(each.adds.values())]
        if rule.source != rule.target and rule in quiet and rule.source in reached(quiet, rule.target):
            found.add("quiet cycle")
        found |= {"adds to two"} if sum(growth > 0 for growth in rule.adds.values()) > 1 else set()
        found |= {"adds two"} if 2 in rule.adds.values() else set()
    return found


def reached(rules: list[Rule], start: str) -> set[str]:
    found = {start}
    for _ in rules:
        found |= {rule.target for rule in rules if rule.source in found}
    return found


@pytest.mark.slow
def test_some_of_each_shape_hold_and_some_are_broken() -> None:
    answers = Counter(
        (name, holds(text, name, values))
        for at, (text, values) in enumerate(found_mutants())
        for name in SPECIFICATIONS[at % 3 :: 3]
    )
    for name in SPECIFICATIONS:
        assert min(answers[name, True], answers[name, False]) >= 10
        assert answers[name, None] < 15


@pytest.mark.slow
def test_some_are_broken_only_by_runs_that_move_for_ever() -> None:
    broken = [(text, values) for text, values in found_mutants()[:120] if holds(text, "recur", values) is False]
    moving = [1 for text, values in broken if not broken_at_rest(text, "recur", values)]
    assert 4 <= len(moving) < len(broken) - 4


def parts(formula: Formula) -> Iterator[Formula]:
    """The formula and all that is inside."""
    yield formula
    match formula:
        case Both(left, right) | Either(left, right):
            yield from parts(left)
            yield from parts(right)
        case Later(operand) | Always(operand):
            yield from parts(operand)


def conjuncts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, Both):
        yield from conjuncts(formula.left)
        yield from conjuncts(formula.right)
    else:
        yield formula


def skeleton(formula: Formula) -> str:
    """How <> and [] are arranged; each claim about one configuration is a dot."""
    match formula:
        case Later(operand):
            return f"<>{skeleton(operand)}"
        case Always(operand):
            return f"[]{skeleton(operand)}"
        case Both():
            return f"({' && '.join(map(skeleton, conjuncts(formula)))})"
        case Either(left, right):
            return f"({skeleton(left)} || {skeleton(right)})"
        case _:
            return "."


def broken(automaton: Automaton, name: str) -> tuple[Formula, list[Formula]]:
    """What a run does that breaks a specification, and the claims that are in it."""
    claims: list[Formula] = []
    return pushed(automaton.specifications[name], False, claims), claims


SKELETONS = {
    "from_start": "(. && <>.)",
    "safe": "<>.",
    "fair_reach": "(<>[]. && . && [].)",
    "fair_response": "(<>[]. && <>(. && [].))",
    "response": "<>(. && [].)",
    "reach": "[].",
    "settle": "[]<>.",
}
"""What breaks specifications of the plain shapes."""


@pytest.mark.parametrize("name", SKELETONS)
def test_what_breaks_a_specification_of_a_plain_shape(name: str) -> None:
    assert {skeleton(broken(automaton, name)[0]) for automaton in found_automata()} == {SKELETONS[name]}


def test_other_shapes_are_many() -> None:
    nested, odd = ({skeleton(broken(each, name)[0]) for each in found_automata()} for name in ("nested", "odd"))
    assert len(nested) >= 60
    assert set(SKELETONS.values()) < odd


@pytest.mark.parametrize(("name", "again", "kept"), [("recur", 2, 0), ("stay", 0, 2), ("recur_stay", 2, 2)])
def test_what_is_done_again_and_again_and_what_is_kept(name: str, again: int, kept: int) -> None:
    """So many things happen again and again; and mostly so many sets of locations are inhabited for good."""
    enough = 0
    for automaton, (_, values) in zip(found_automata(), found_mutants(), strict=True):
        formula, claims = broken(automaton, name)
        inside = [list(conjuncts(each.operand)) for each in parts(formula) if isinstance(each, Always)]
        lasting = [each for conjunction in inside for each in conjunction]
        assert all(isinstance(each, Later | Claim) for each in lasting)
        assert sum(isinstance(each, Later) for each in lasting) >= again
        always = {claims[each.place] for each in lasting if isinstance(each, Claim)}
        enough += sum(is_that_some_place_is_inhabited(automaton, values, claim) for claim in always) >= kept
    assert enough >= 9 * len(found_mutants()) // 10


def is_that_some_place_is_inhabited(automaton: Automaton, values: Mapping[str, int], claim: Formula) -> bool:
    """Whether it holds if a process is everywhere but not if nobody is anywhere, at some values of variables."""
    everywhere, nowhere = dict.fromkeys(automaton.locations, 1), dict.fromkeys(automaton.locations, 0)
    heres = [{**values, **dict.fromkeys(automaton.shared, number)} for number in range(10)]
    return any(true_at(claim, here | everywhere) and not true_at(claim, here | nowhere) for here in heres)
