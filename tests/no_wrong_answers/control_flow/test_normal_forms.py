"""A specification is decided in whatever way it is written, as far as valid equivalences reach."""

import random

import pytest

from fdverify.errors import UsageError
from fdverify.threshold.claims.run_shapes import list_violating_shapes
from fdverify.threshold.ltl_formula import Not
from fdverify.threshold.runs.run_problem import TOO_MANY_PHASES
from fdverify.verdict import Verdict
from tests.sampling import every
from tests.threshold.oracle.expressions import ExpressionReader, truth
from tests.threshold.oracle.formulas import Formula, true_at
from tests.threshold.oracle.tableau import pushed, some_run
from tests.threshold.small import QUIET, found, one

EQUIVALENT = [
    ("!(<>[](A == 0 || <>(B == 0)))", "!(<>[](A == 0) || []<>(B == 0))"),
    ("!(<>[](A == 0 && <>(B == 0)))", "!(<>[](A == 0) && []<>(B == 0))"),
    ("!(<>[](A == 0 || [](B == 0)))", "!(<>[](A == 0) || <>[](B == 0))"),
    ("!(<>([](A == 0 || <>(B == 0)) && [](C == 0)))", "!((<>[](A == 0) || []<>(B == 0)) && <>[](C == 0))"),
    ("!(<>(C != 0 || [](A == 0 || <>(B == 0))))", "!(<>(C != 0) || <>[](A == 0) || []<>(B == 0))"),
    ("!([]<>(A == 0 && [](B == 0)))", "!([]<>(A == 0) && <>[](B == 0))"),
    ("!([]<>(A == 0 && <>(B == 0)))", "!([]<>(A == 0) && []<>(B == 0))"),
    ("!([](A == 0 || <>(A == 0)))", "!([]<>(A == 0))"),
    ("!([](A == 0 || [](A == 0)))", "!([](A == 0))"),
    ("!([](<>(A == 0) || [](A == 0)))", "!([]<>(A == 0))"),
    ("!(<><><>[][](A == 0 || <>(B == 0)))", "!(<>[](A == 0) || []<>(B == 0))"),
    ("!(<>[]<>[](A == 0 || <>(B == 0)))", "!(<>[](A == 0) || []<>(B == 0))"),
    ("!(<>([](A == 0) && []<>(B == 0)))", "!(<>[](A == 0) && []<>(B == 0))"),
    ("[]<>(A != 0 && [](B != 0))", "[]<>(A != 0) && <>[](B != 0)"),
    ("!(<>[](A == 0 || <>(B == 0 && [](C == 0))))", "!(<>[](A == 0) || ([]<>(B == 0) && <>[](C == 0)))"),
]
LOOP = (f"A -> B when (true) {QUIET}", f"B -> A when (true) {QUIET}", f"B -> C when (true) {QUIET}")


def parsed(text: str, positive: bool, claims: list[Formula]) -> Formula:
    return pushed(truth(ExpressionReader(text).implication()), positive, claims)


@pytest.mark.parametrize(("text", "other"), EQUIVALENT)
def test_both_say_the_same_of_every_run_of_random_graphs(text: str, other: str) -> None:
    """By a tableau that shares nothing with the engine: no run satisfies the one and not the other."""
    source = random.Random(text)
    for _ in range(12):
        size = source.randint(1, 4)
        graph = [sorted(set(source.choices(range(size), k=2))) for _ in range(size)]
        values = [{name: source.randrange(2) for name in "ABC"} for _ in range(size)]
        for one_way, other_way in ((text, other), (other, text)):
            claims: list[Formula] = []
            both = parsed(f"({one_way}) && !({other_way})", True, claims)
            true = [frozenset(at for at, claim in enumerate(claims) if true_at(claim, each)) for each in values]
            assert not some_run(both, graph, true, range(size))


@pytest.mark.parametrize(("text", "other"), EQUIVALENT)
def test_both_are_decided_alike(text: str, other: str) -> None:
    for rules in every(2, (LOOP, LOOP[:1])):
        verdicts = [found(one(*rules, spec=each)).verdict for each in (text, other)]
        assert verdicts[0] is verdicts[1]
        assert verdicts[0] in (Verdict.PROVED, Verdict.VIOLATED)


def test_the_tableau_tells_what_is_not_equivalent() -> None:
    """<> does not distribute over &&: the test above can fail."""
    claims: list[Formula] = []
    both = parsed("(<>(A == 0) && <>(B == 0)) && !(<>(A == 0 && B == 0))", True, claims)
    values = [{"A": 0, "B": 1}, {"A": 1, "B": 0}]
    true = [frozenset(at for at, claim in enumerate(claims) if true_at(claim, each)) for each in values]
    assert some_run(both, [[1], [1]], true, [0])


OUTSIDE = {
    "<>(A == 0 && <>(B == 0))": "[]((A != 0) || [](B != 0))",
    "!([](A == 0 || <>(B == 0)))": "[]((A == 0) || <>(B == 0))",
    "<>(A != 0 && [](B != 0 || C == 0))": "[]((A == 0) || <>((B == 0) && (C != 0)))",
}


@pytest.mark.parametrize(("spec", "part"), OUTSIDE.items())
def test_what_is_outside_is_named(spec: str, part: str) -> None:
    automaton = one(LOOP[0], spec=spec)
    with pytest.raises(UsageError) as raised:
        list_violating_shapes("s", automaton.specifications[0].formula)
    assert part in str(raised.value)


def test_a_premise_and_its_twin_are_the_same() -> None:
    """The negation of a negation is read as the formula itself."""
    (specification,) = one(LOOP[0], spec="[](A == 0) -> <>(B == 0)").specifications
    assert list_violating_shapes("s", Not(Not(specification.formula))) == list_violating_shapes(
        "s", specification.formula
    )


def test_the_limit_of_phases_is_said() -> None:
    assert TOO_MANY_PHASES == "to keep several sets of locations inhabited may take more than 32 phases"
