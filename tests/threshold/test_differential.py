"""The symbolic engine and the explicit-state checker, which shares nothing with it, on random automata."""

from collections import Counter

from fdverify.errors import UsageError
from fdverify.threshold.check import check
from fdverify.threshold.instance import with_parameters
from fdverify.threshold.read import read
from fdverify.verdict import Verdict
from tests.sampling import FULL
from tests.threshold.mutants import SPECIFICATIONS, mutants
from tests.threshold.oracle import holds

COUNT = 2000 if FULL else 100


def outcome(text: str, parameters: dict[str, int], name: str) -> str:
    """Whether both say the same, and what; or why the engine does not say."""
    automaton = read(text, "mutant.ta")
    (specification,) = (each for each in automaton.specifications if each.name == name)
    expected = {None: Verdict.VACUOUS, True: Verdict.PROVED, False: Verdict.VIOLATED}[holds(text, name, parameters)]
    try:
        found = check(with_parameters(automaton, parameters), specification).verdict
    except UsageError as error:
        inadmissible = "not admissible" in error.message
        return "refused" if not inadmissible or expected is Verdict.VACUOUS else f"{error.message}\n{text}"
    # A premise that no run meets makes a specification true, of which the engine says that it is vacuous.
    if found is expected or (found is Verdict.VACUOUS and expected is Verdict.PROVED):
        return str(found)
    return f"{name} at {parameters} is {expected}, not {found}\n{text}"


def test_the_engine_says_what_the_explicit_checker_says() -> None:
    outcomes = Counter(
        outcome(text, parameters, SPECIFICATIONS[at % len(SPECIFICATIONS)])
        for at, (text, parameters) in enumerate(mutants(seed=11, count=COUNT))
    )
    assert set(outcomes) <= {"proved", "violated", "vacuous", "refused"}
    assert outcomes["violated"] >= COUNT // 4
    assert outcomes["proved"] >= COUNT // 10
    assert outcomes.total() - outcomes["refused"] >= 5 * COUNT // 6
