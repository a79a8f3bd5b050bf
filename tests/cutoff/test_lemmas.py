"""The lemmas of the cutoff: proved of the class, and refuted of rounds that are not of it."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from fdverify.cutoff import lemma_check
from fdverify.cutoff.chandra_toueg_template import chandra_toueg
from fdverify.cutoff.concrete_interpretation import ConcreteInterpretation
from fdverify.cutoff.detector_lemmas import check_simulation
from fdverify.cutoff.function_vocabulary import SymbolicVocabulary, Vocabulary, list_buffer_laws
from fdverify.cutoff.lemma_check import LemmaResult, check_lemma, check_lemmas
from fdverify.cutoff.lemmas import Lemma, list_lemmas
from fdverify.cutoff.rounds import CONSTRAINTS, ComputationModel, Rounds, Step, SubRound
from fdverify.errors import UsageError
from fdverify.logic import And, Not
from fdverify.smt.script import Decision
from fdverify.symbolic.values import lift_truth
from fdverify.verdict import Verdict
from tests.cutoff.broken import BROKEN
from tests.sampling import every

LEMMAS = {lemma.name: lemma for lemma in list_lemmas()}


def checked_lemmas(rounds: Rounds, second: str | None = None) -> dict[str, LemmaResult]:
    found: list[LemmaResult] = []
    check_lemmas(rounds, second, found.append)
    return {each.name: each for each in found}


def test_every_lemma_is_proved_and_the_second_solver_agrees() -> None:
    found = checked_lemmas(Rounds(), "cvc5")
    assert {each.verdict for each in found.values()} == {Verdict.PROVED}
    assert {each.second_opinion for each in found.values()} == {"agrees"}


def test_there_is_a_lemma_for_the_start_every_sub_round_and_every_constraint() -> None:
    kinds = {name.partition(".")[0] for name in LEMMAS}
    assert kinds == {"symmetry", "projection-2", "extension-2", "projection-1", "extension-1"}
    for kind in kinds:
        for part in ("start", *SubRound):
            assert f"{kind}.{part}" in LEMMAS
        for constraint in CONSTRAINTS:
            assert sum(name.startswith(kind) and name.endswith(f".{constraint}") for name in LEMMAS) == 1
    imposed = {constraint for computation in ComputationModel for constraint in computation.constraints}
    assert imposed == set(CONSTRAINTS)


@pytest.mark.parametrize("lemma", LEMMAS.values(), ids=list(LEMMAS))
def test_no_lemma_has_a_quantifier(lemma: Lemma) -> None:
    claimed = lemma.build_statement(Rounds(), SymbolicVocabulary())
    terms = [lift_truth(each) for each in (*claimed.hypotheses, *claimed.conclusions.values())]
    assert not any(_quantified(term) for term in terms)


def _quantified(term: Any) -> bool:
    return z3.is_quantifier(term) or any(_quantified(child) for child in term.children())


@pytest.mark.parametrize("rounds", BROKEN, ids=lambda rounds: rounds.__name__)
def test_rounds_that_are_not_of_the_class_are_refuted(rounds: type[Rounds]) -> None:
    for name in sorted(BROKEN[rounds]):
        found = check_lemma(LEMMAS[name], rounds())
        assert found.verdict is Verdict.VIOLATED
        shown = found.disagreement
        assert shown is not None
        assert shown.differ
        assert shown.processes <= 3
        big, other = shown.systems
        assert len(big.processes) == shown.processes**2
        assert all(row.before for row in (*big.processes, *other.processes))


def test_a_lemma_whose_hypotheses_cannot_be_is_vacuous() -> None:
    class NobodyReceives(Rounds):
        def enabled(self, *arguments: Any) -> Any:
            return False

    found = check_lemma(LEMMAS["projection-2.receive"], NobodyReceives())
    assert found.verdict is Verdict.VACUOUS


def test_what_the_second_solver_does_not_know_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        lemma_check, "decide_with_solver", lambda script, solver: Decision("unknown", reason="too hard")
    )
    found = check_lemma(list_lemmas()[0], Rounds(), "cvc5")
    assert (found.verdict, found.detail) == (Verdict.UNKNOWN, "cvc5 does not know: too hard")
    simulated = check_simulation("tla", "send", "idle", True, Rounds(), "cvc5")
    assert simulated.verdict is Verdict.UNKNOWN


def test_a_rule_of_another_sub_round_is_refused() -> None:
    class Misnamed(Rounds):
        def compute(self, *arguments: Any) -> Step:
            return Step(super().compute(*arguments).after, {"ps1": lambda p, q: p == 1})

    with pytest.raises(UsageError, match="ps1 is a rule of receive, and compute has it"):
        check_lemma(LEMMAS["symmetry.compute"], Misnamed())


class Drawn(Vocabulary):
    """Functions of small numbers, drawn when they are first asked."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self._known: dict[tuple[Any, ...], Any] = {}

    def make_number_function(self, name: str, arity: int) -> Callable[..., int]:
        low, high = (2, 3) if name == "N" else (1, 3) if name in ("i", "j", "p", "q") else (0, 3)
        return lambda *arguments: self._value(name, arguments, st.integers(low, high))

    def make_truth_function(self, name: str, arity: int) -> Callable[..., bool]:
        return lambda *arguments: self._value(name, arguments, st.booleans())

    def some(self, processes: int, claim: Callable[[int], Any]) -> bool:
        return any(claim(process) for process in range(1, processes + 1))

    def _value(self, name: str, arguments: tuple[int, ...], values: Any) -> Any:
        key = (name, *arguments)
        if key not in self._known:
            self._known[key] = self._draw(values)
        return self._known[key]


@pytest.mark.parametrize("name", [name for name in LEMMAS if name.startswith("symmetry")])
@given(data=st.data())
def test_a_lemma_is_true_of_random_systems(name: str, data: st.DataObject) -> None:
    claimed = LEMMAS[name].build_statement(Rounds(), Drawn(data.draw))
    if all(claimed.hypotheses):
        assert all(claimed.conclusions.values()), claimed.conclusions


@pytest.mark.parametrize("delta", every(2, [0, 1, 2]))
@pytest.mark.parametrize("forgets", [True, False])
@given(data=st.data())
def test_the_buffers_that_are_explored_obey_the_laws(delta: int, forgets: bool, data: st.DataObject) -> None:
    running = ConcreteInterpretation(chandra_toueg(), delta, 1, forgets)
    pairs = st.tuples(st.sampled_from(["alive", "other"]), st.integers(0, delta + 1))
    buffer = data.draw(st.frozensets(pairs))
    assert all(list_buffer_laws(running, buffer, "alive").values())


def test_messages_to_the_crashed_are_in_transit_after_send() -> None:
    """Point (2) in the proof of Proposition 5.18, that nothing is, contradicts point (6) in every round that sends."""
    claimed = LEMMAS["extension-2.send"].build_statement(Rounds(), SymbolicVocabulary())
    i, p = claimed.marked["i"], claimed.marked["p"]
    after = claimed.systems[0].after
    assert after is not None
    solver = z3.Solver()
    solver.add(*(lift_truth(each) for each in claimed.hypotheses))
    solver.add(lift_truth(And(claimed.marked["q"] == i, Not(p == i), Not(p == claimed.marked["j"]))))
    assert solver.check(lift_truth(Not(after.buffer(i, p) == claimed.interpretation.no_transit))) == z3.sat


def test_ages_as_printed_would_forbid_rounds_with_a_message() -> None:
    """Constraints (i) and (ii) of section 3.3: of a finite buffer, the oldest message would need an older one."""

    def follows(before: frozenset[int], after: frozenset[int]) -> bool:
        return all(age + 1 in after for age in before) and all(age + 1 in before for age in after)

    buffers = [frozenset(ages) for size in range(4) for ages in combinations(range(4), size)]
    assert [(a, b) for a in buffers for b in buffers if follows(a, b)] == [(frozenset(), frozenset())]
