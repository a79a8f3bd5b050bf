"""Interfaces to Z3: facts accumulate, a query is decided under them, and the answer carries a model or a reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import z3

from fdverify.errors import InternalError
from fdverify.smt.bitvectors import BitvectorTranslator
from fdverify.smt.order_encoding import NoOrderEncoding, OrderTranslator


@dataclass(frozen=True)
class SolverAnswer:
    """Z3's answer to a query: a model if ``sat``, a reason if ``unknown``."""

    status: Literal["sat", "unsat", "unknown"]
    reason: str = ""
    model: Any = None
    translator: BitvectorTranslator | None = None

    def get_value(self, term: Any) -> int | bool:
        """Return the value of a Boolean, integer or bit-vector term in the model."""
        if self.translator is not None and z3.is_int(term):
            return int(
                self.model.eval(self.translator.translate_integer(term).bits, model_completion=True).as_signed_long()
            )
        if self.translator is not None and z3.is_bool(term):
            term = self.translator.translate_non_integer(term)
        result = self.model.eval(term, model_completion=True)
        return z3.is_true(result) if z3.is_bool(result) else int(result.as_long())


class Solver(ABC):
    """A set of facts that can be queried."""

    @abstractmethod
    def add(self, facts: Iterable[Any]) -> None: ...

    @abstractmethod
    def ask(self, *query: Any) -> SolverAnswer:
        """Decide whether the facts and the query are satisfiable together."""


class FreshSolver(Solver):
    """A new Z3 solver for every query.

    Z3 applies its full preprocessing only to a problem that it gets at once.  On linear arithmetic this saves far more
    than the lemmas that an incremental solver keeps.
    """

    def __init__(self) -> None:
        self._facts: list[Any] = []

    def add(self, facts: Iterable[Any]) -> None:
        self._facts.extend(facts)

    def ask(self, *query: Any) -> SolverAnswer:
        solver = z3.Solver()
        solver.add(*self._facts, *query)
        return _build_answer(solver, solver.check(), None)


class ArithmeticSolver(Solver):
    """One incremental solver for linear arithmetic with many unknowns.

    It uses Z3's older arithmetic solver, which is by far the faster one on flow constraints.
    """

    def __init__(self) -> None:
        self._solver = z3.SimpleSolver()
        self._solver.set("arith.solver", 2)

    def add(self, facts: Iterable[Any]) -> None:
        self._solver.add(*facts)

    def ask(self, *query: Any) -> SolverAnswer:
        self.push()
        try:
            self._solver.add(*query)
            return _build_answer(self._solver, self._solver.check(), None)
        finally:
            self.pop()

    def push(self) -> None:
        """Open a scope: the matching ``pop`` removes the facts added since."""
        self._solver.push()

    def pop(self) -> None:
        self._solver.pop()


class BitvectorSolver(Solver):
    """One incremental SAT solver, for facts in which every integer is bounded by its definition."""

    def __init__(self) -> None:
        self._translator = BitvectorTranslator()
        self._solver = z3.SolverFor("QF_BV")
        self._query_count = 0

    def add(self, facts: Iterable[Any]) -> None:
        for fact in facts:
            self._solver.add(self._translator.translate_fact(fact))

    def ask(self, *query: Any) -> SolverAnswer:
        literals = []
        for part in query:
            self._query_count += 1
            literal = z3.Bool(f"question{self._query_count}")
            self._solver.add(z3.Implies(literal, self._translator.translate_non_integer(part)))
            literals.append(literal)
        return _build_answer(self._solver, self._solver.check(*literals), self._translator)


class OrderSolver(Solver):
    """One incremental SAT solver, for facts over parameters without upper bounds and integers defined by them.

    Linear arithmetic decides what has no order encoding.  It also completes each model of the SAT solver, which has
    truth values but no integers: every truth value and every parameter is given, so there is nothing to search.
    """

    def __init__(self, least: Mapping[str, int]) -> None:
        """Take the least values of the parameters."""
        self._least = least
        self._translator = OrderTranslator(least)
        self._solver = z3.SolverFor("QF_BV")
        self._arithmetic = FreshSolver()
        self._is_encoded = True
        self._questions: list[Any] = []

    def add(self, facts: Iterable[Any]) -> None:
        for fact in facts:
            self._arithmetic.add([fact])
            if self._is_encoded:
                self._is_encoded = self._encode(self._translator.translate_fact, fact)

    def ask(self, *query: Any) -> SolverAnswer:
        question = z3.FreshBool("question")
        asked = z3.Implies(question, z3.And(query))
        if not self._is_encoded or not self._encode(self._translator.translate_truth, asked):
            return self._arithmetic.ask(*query)
        self._questions.append(question)
        answer = _build_answer(self._solver, self._solver.check(question), None)
        return self._complete_model(answer.model, query) if answer.status == "sat" else answer

    def _encode(self, translate: Callable[[Any], Any], fact: Any) -> bool:
        """Translate and add a fact; return whether there is an encoding."""
        try:
            translated = [translate(fact), *self._translator.take_definitions()]
        except NoOrderEncoding:
            return False
        self._solver.add(*translated)
        return True

    def _complete_model(self, model: Any, query: tuple[Any, ...]) -> SolverAnswer:
        answer = self._arithmetic.ask(*query, *self._list_values(model))
        if answer.status == "unsat":
            raise InternalError("linear arithmetic rejects a model of the order encoding")
        return answer

    def _list_values(self, model: Any) -> Iterator[Any]:
        """Yield the values of the parameters, and of all constants of the facts, in a model of the SAT solver."""
        literals = self._translator.literals
        for name, least in self._least.items():
            reached = (n for n in self._translator.list_numbers(name) if z3.is_true(model[literals[name, n].term]))
            yield z3.Int(name) == max(reached, default=least)
        own = {term.decl().name() for term in (*self._questions, *(literal.term for literal in literals.values()))}
        yield from (constant() == model[constant] for constant in model.decls() if constant.name() not in own)


def _build_answer(solver: Any, status: Any, words: BitvectorTranslator | None) -> SolverAnswer:
    if status == z3.sat:
        return SolverAnswer("sat", model=solver.model(), translator=words)
    if status == z3.unsat:
        return SolverAnswer("unsat")
    return SolverAnswer("unknown", reason=solver.reason_unknown())
