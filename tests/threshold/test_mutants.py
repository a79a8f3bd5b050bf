"""Random automata and specifications: always the same, small, and some of each shape hold and some are broken."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.threshold.mutants import SPECIFICATIONS, mutants
from tests.threshold.mutants.bases import BASES
from tests.threshold.mutants.generate import LARGEST
from tests.threshold.oracle import broken_at_rest, holds
from tests.threshold.oracle.formulas import Always, Both, Claim, Either, Formula, Later
from tests.threshold.oracle.reader import Reader, read
from tests.threshold.oracle.tableau import pushed

FOUND = mutants(1, 300)


def test_mutants_are_small_and_differ() -> None:
    assert mutants(1, 300) == FOUND
    assert mutants(1, 20) == FOUND[:20]
    assert mutants(2, 300) != FOUND
    assert len({text for text, _ in FOUND}) == 300
    for text, values in FOUND:
        automaton = Reader(text).automaton()
        assert tuple(automaton.specifications) == SPECIFICATIONS
        assert len(automaton.locations) <= 5
        assert len(automaton.rules) <= 8
        assert all(values[name] <= most for name, most in LARGEST.items())


def test_in_some_automata_processes_walk_to_and_fro() -> None:
    assert all(automaton.is_well_made() for automaton in BASES)
    cycles = {automaton.name: automaton.on_quiet_cycles() for automaton in BASES}
    assert cycles["Swap"] == [("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")]
    assert cycles["Cycle"] == [("B", "C"), ("C", "B")]
    assert {name for name, pairs in cycles.items() if pairs} == {"Cycle", "Gaps", "Swap", "Rings"}


def test_some_of_each_shape_hold_and_some_are_broken() -> None:
    answers = Counter(
        (name, holds(text, name, values))
        for at, (text, values) in enumerate(FOUND)
        for name in SPECIFICATIONS[at % 3 :: 3]
    )
    for name in SPECIFICATIONS:
        assert min(answers[name, True], answers[name, False]) >= 10
        assert answers[name, None] < 15


def test_some_are_broken_only_by_runs_that_move_for_ever() -> None:
    broken = [(text, values) for text, values in FOUND[:120] if holds(text, "recur", values) is False]
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


@pytest.mark.parametrize(("name", "again", "kept"), [("recur", 2, 0), ("stay", 0, 2), ("recur_stay", 2, 2)])
def test_what_a_run_does_that_breaks_a_specification(name: str, again: int, kept: int) -> None:
    """So many things happen again and again, and so many claims hold for good."""
    for text, _ in FOUND:
        inside = list(parts(pushed(read(text).specifications[name], False, [])))
        always = [list(conjuncts(each.operand)) for each in inside if isinstance(each, Always)]
        assert all(isinstance(each, Later | Claim) for claims in always for each in claims)
        assert sum(isinstance(each, Later) for claims in always for each in claims) >= again
        assert sum(isinstance(each, Claim) for claims in always for each in claims) >= kept
