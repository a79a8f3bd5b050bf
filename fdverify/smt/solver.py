"""One way to ask Z3: facts that accumulate, questions about them, answers that carry a model or a reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import z3

from fdverify.smt.words import Words


@dataclass(frozen=True)
class Answer:
    status: Literal["sat", "unsat", "unknown"]
    reason: str = ""
    model: Any = None
    words: Words | None = None

    def value(self, term: Any) -> int | bool:
        """The value of a Boolean, integer or bit-vector term in the model."""
        if self.words is not None and z3.is_int(term):
            return int(self.model.eval(self.words.word(term).bits, model_completion=True).as_signed_long())
        if self.words is not None and z3.is_bool(term):
            term = self.words.truth(term)
        found = self.model.eval(term, model_completion=True)
        return z3.is_true(found) if z3.is_bool(found) else int(found.as_long())


class Solver(ABC):
    @abstractmethod
    def add(self, facts: Iterable[Any]) -> None: ...

    @abstractmethod
    def ask(self, *question: Any) -> Answer:
        """Can the facts and the question hold together?"""


class FreshSolver(Solver):
    """A new solver for every question.

    Z3 simplifies the whole problem only when it sees it whole: on linear arithmetic that saves far more than keeping
    what an incremental solver has learned.
    """

    def __init__(self) -> None:
        self._facts: list[Any] = []

    def add(self, facts: Iterable[Any]) -> None:
        self._facts.extend(facts)

    def ask(self, *question: Any) -> Answer:
        solver = z3.Solver()
        solver.add(*self._facts, *question)
        return _answer(solver, solver.check(), None)


class ArithmeticSolver(Solver):
    """One incremental solver, for linear arithmetic with many unknowns.

    Z3's older arithmetic is by far the faster one on flows.
    """

    def __init__(self) -> None:
        self._solver = z3.SimpleSolver()
        self._solver.set("arith.solver", 2)

    def add(self, facts: Iterable[Any]) -> None:
        self._solver.add(*facts)

    def ask(self, *question: Any) -> Answer:
        self.push()
        try:
            self._solver.add(*question)
            return _answer(self._solver, self._solver.check(), None)
        finally:
            self.pop()

    def push(self) -> None:
        """Facts that are added from here on are forgotten by the next ``pop``."""
        self._solver.push()

    def pop(self) -> None:
        self._solver.pop()


class WordSolver(Solver):
    """One incremental SAT solver, for facts whose integers are all bounded by definition."""

    def __init__(self) -> None:
        self._words = Words()
        self._solver = z3.SolverFor("QF_BV")
        self._questions = 0

    def add(self, facts: Iterable[Any]) -> None:
        for fact in facts:
            self._solver.add(self._words.fact(fact))

    def ask(self, *question: Any) -> Answer:
        literals = []
        for part in question:
            self._questions += 1
            literal = z3.Bool(f"question{self._questions}")
            self._solver.add(z3.Implies(literal, self._words.truth(part)))
            literals.append(literal)
        return _answer(self._solver, self._solver.check(*literals), self._words)


def _answer(solver: Any, status: Any, words: Words | None) -> Answer:
    if status == z3.sat:
        return Answer("sat", model=solver.model(), words=words)
    if status == z3.unsat:
        return Answer("unsat")
    return Answer("unknown", reason=solver.reason_unknown())
