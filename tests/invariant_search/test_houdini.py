"""The Houdini algorithm finds the largest inductive part, and nothing else, whatever rounds it knows."""

from itertools import combinations

import pytest

from fdverify.invariant_search.clause import AtMost, Clause, LinearSum
from fdverify.invariant_search.houdini import Houdini
from fdverify.invariant_search.summarised_round import build_summarised_round
from fdverify.models.system import Property
from tests.engines.small import counter, up_to_limit

SYSTEM = counter(up_to_limit, lambda s: s.x <= s.limit, limit=None)


def at_most(times: int, constant: int) -> Clause:
    """The variable x is at most a multiple of the limit and a constant."""
    return Clause(
        (), AtMost(LinearSum.from_coefficients({"x": 1}), LinearSum.from_coefficients({"limit": times}, constant))
    )


NOT_NEGATIVE = Clause((), AtMost(LinearSum(()), LinearSum.from_coefficients({"x": 1})))
INDUCTIVE = [at_most(1, 0), at_most(1, 2), at_most(2, 0), NOT_NEGATIVE]
BROKEN = [at_most(0, 1), at_most(0, 5), at_most(0, 0)]


def test_the_largest_inductive_part_is_found() -> None:
    houdini = Houdini(build_summarised_round(SYSTEM), [*BROKEN, *INDUCTIVE])
    assert [houdini.candidates[index] for index in houdini.find_inductive()] == INDUCTIVE


def test_a_part_that_is_not_inductive_is_never_sufficient() -> None:
    """Even if it is said to be inductive, and whether or not a round that breaks it is known."""
    goal = Property("small", lambda s: s.x <= 5, "x is at most 5")
    houdini = Houdini(build_summarised_round(SYSTEM), [*BROKEN, *INDUCTIVE])
    everything = range(len(houdini.candidates))
    assert houdini.find_sufficient(everything, goal) is None
    houdini.find_inductive()
    assert houdini.find_sufficient(everything, goal) is None


@pytest.mark.parametrize("size", [1, 2])
def test_answers_do_not_depend_on_earlier_ones(size: int) -> None:
    """What the solver has learned from other questions changes no answer."""
    goal = Property("claim", lambda s: s.x <= s.limit + 1, "x is at most one more than the limit")
    asked = Houdini(build_summarised_round(SYSTEM), [*BROKEN, *INDUCTIVE])
    for some in combinations(range(len(asked.candidates)), size):
        fresh = Houdini(build_summarised_round(SYSTEM), asked.candidates)
        assert asked.find_sufficient(some, goal) == fresh.find_sufficient(some, goal)
        assert asked.find_inductive() == fresh.find_inductive()


def test_rounds_that_are_known_change_no_answer() -> None:
    goal = Property("claim", lambda s: s.x <= s.limit + 1, "x is at most one more than the limit")
    for knows in (False, True):
        houdini = Houdini(build_summarised_round(SYSTEM), [*BROKEN, *INDUCTIVE])
        if knows:
            houdini.find_inductive()
        assert houdini.find_sufficient([3, 4, 5, 6], goal) == [at_most(1, 0)]
