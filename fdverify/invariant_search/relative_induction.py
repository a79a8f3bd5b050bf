"""Induction relative to a proof, for clauses that are added to it, over summarised rounds.

Products of two unknowns are abstracted by fresh unknowns with lemmas about them, so every query is in linear
arithmetic.  The abstraction is sound: what is implied here is implied for the model itself.  It is incomplete: what is
refuted here may still be true of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from time import monotonic
from typing import Any

import z3

from fdverify.invariant_search.clause import Clause
from fdverify.invariant_search.summarised_round import build_any_state, build_summarised_round
from fdverify.logic import Not, Or, Truth
from fdverify.models.system import Ages, Flags, State, StepProperty
from fdverify.obligations.inductive import Invariant
from fdverify.smt.product_lemmas import build_order_lemmas, build_sign_lemmas
from fdverify.symbolic.buffer_summary import SummaryBuffer
from fdverify.symbolic.values import Value, lift_truth

_LONGEST_QUESTION = 10_000
"""Milliseconds."""
_SMALL_FACTORS = 3


class SolverGaveUp(Exception):
    """The solver gave up, or the deadline was reached."""


class RelativeInduction:
    """One round from a state in which the proof's conjuncts and the assumed clauses hold."""

    def __init__(self, invariant: Invariant, small: Mapping[str, Sequence[int]]) -> None:
        self._system = invariant.system
        self._step = step = build_summarised_round(invariant.system)
        parameters = {p.name: step.before[p.name] for p in invariant.system.parameters}
        self._after = build_any_state(invariant.system, parameters, "!")
        self._solver = z3.SimpleSolver()
        self._solver.set("arith.solver", 2)
        self._solver.set("timeout", _LONGEST_QUESTION)
        self._products = _ProductAbstraction()
        self._moves, self._small = z3.Bool("moves!"), z3.Bool("small!")
        self._assert_formulas(*step.parameter_facts, *step.list_buffer_constraints(step.before))
        self._assert_formulas(*(lift_truth(conjunct.holds(step.before)) for conjunct in invariant.conjuncts))
        same = [
            part for v in invariant.system.variables for part in _equate_values(self._after[v.name], step.after[v.name])
        ]
        self._assert_formulas(z3.Implies(self._moves, z3.And(*step.allowed, *same)))
        is_small = [lift_truth(Or(*(step.before[name] == value for value in values))) for name, values in small.items()]
        self._assert_formulas(*(z3.Implies(self._small, condition) for condition in is_small))
        self._start = z3.Solver()
        self._start.set("timeout", _LONGEST_QUESTION)
        self._start.add(*step.parameter_facts)
        self.clauses: list[Clause] = []
        self._places: dict[Clause, int] = {}
        self._assumed: list[Any] = []
        self._preserved: list[Any] = []
        of_rounds = [lift_truth(conjunct.holds(self._after)) for conjunct in invariant.conjuncts]
        of_states: list[Any] = []
        for claim in invariant.conclusions:
            if isinstance(claim, StepProperty):
                of_rounds.append(lift_truth(claim.holds(step.before, step.choices, self._after)))
            else:
                of_states.append(lift_truth(claim.holds(step.before)))
        self._of_rounds = [self._define_constant(f"round{index}!", claim) for index, claim in enumerate(of_rounds)]
        self._of_states = [self._define_constant(f"state{index}!", claim) for index, claim in enumerate(of_states)]

    def _assert_formulas(self, *formulas: Any) -> None:
        for formula in formulas:
            replaced, lemmas = self._products.abstract_products(formula)
            self._solver.add(*lemmas, replaced)

    def _define_constant(self, name: str, formula: Any) -> Any:
        """Define a truth constant that is equivalent to the formula."""
        constant = z3.Bool(name)
        self._assert_formulas(constant == formula)
        return constant

    def add_clause(self, clause: Clause) -> bool:
        """Add a clause if it is new and holds initially; return whether it was added."""
        if clause in self._places:
            return False
        self._places[clause] = -1
        if self._start.check(lift_truth(Not(clause.holds(self._step.initial)))) != z3.unsat:
            return False
        index = self._places[clause] = len(self.clauses)
        self.clauses.append(clause)
        self._assumed.append(z3.Bool(f"assumed{index}!"))
        self._assert_formulas(z3.Implies(self._assumed[index], lift_truth(clause.holds(self._step.before))))
        self._preserved.append(self._define_constant(f"preserved{index}!", lift_truth(clause.holds(self._after))))
        return True

    def find_inductive(self, kept: Iterable[int], deadline: float) -> tuple[list[int], dict[int, State]]:
        """Return the largest inductive subset of the clauses, and for each other one a state from which it is broken.

        Raise ``SolverGaveUp`` at the deadline.
        """
        left, broken = list(kept), dict[int, State]()
        while left:
            if monotonic() > deadline:
                raise SolverGaveUp
            model = self._find_model([self._preserved[index] for index in left], left, moves=True)
            if model is None:
                break
            state = self._read_state(model)
            for index in left:
                if not z3.is_true(model.eval(self._preserved[index], model_completion=True)):
                    broken[index] = state
            left = [index for index in left if index not in broken]
        return left, broken

    def find_breaking_state(self, index: int, kept: Sequence[int]) -> State | None:
        """Find a state in which a clause and the kept ones hold, and from which a round breaks the clause."""
        model = self._find_model([self._preserved[index]], [*kept, index], moves=True)
        return None if model is None else self._read_state(model)

    def find_failing_state(self, kept: Sequence[int]) -> State | None:
        """Find a state in which the proof's conjuncts and these clauses hold, and from which the proof fails."""
        for claims, moves in ((self._of_rounds, True), (self._of_states, False)):
            model = self._find_model(claims, kept, moves) if claims else None
            if model is not None:
                return self._read_state(model)
        return None

    def is_sufficient(self, kept: Sequence[int]) -> bool:
        """Return whether the proof succeeds with these clauses and no others."""
        claims = [*self._of_rounds, *(self._preserved[index] for index in kept)]
        if self._find_model(claims, kept, moves=True, small=False) is not None:
            return False
        return not self._of_states or self._find_model(self._of_states, kept, moves=False, small=False) is None

    def find_needed(self, kept: Sequence[int]) -> list[int]:
        """Find a part of the clauses with which the proof succeeds, given that it succeeds with all of them."""
        needed: dict[int, None] = {}
        waiting = [(claim, True) for claim in self._of_rounds] + [(claim, False) for claim in self._of_states]
        while waiting:
            claim, moves = waiting.pop(0)
            # Clauses that are needed already come first: the solver tends to use the first assumptions.
            ordered = sorted(kept, key=lambda index: (index not in needed, len(self.clauses[index].to_source()), index))
            for index in self._find_core(claim, ordered, moves):
                if index not in needed:
                    needed[index] = None
                    waiting.append((self._preserved[index], True))
        return list(needed)

    def _find_core(self, claim: Any, kept: Sequence[int], moves: bool) -> list[int]:
        """Find an unsatisfiable core: clauses that imply the claim, none of which the solver can do without."""
        extra = [z3.Not(claim), *([self._moves] if moves else [])]
        literals = {str(self._assumed[index]): index for index in kept}
        core = kept
        for index in [None, *reversed(kept)]:
            if index is not None and index not in core:
                continue
            fewer = [other for other in core if other != index]
            if self._solver.check(*extra, *(self._assumed[other] for other in fewer)) == z3.unsat:
                used = {str(literal) for literal in self._solver.unsat_core()}
                core = [literals[name] for name in literals if name in used]
            elif index is None:
                raise SolverGaveUp
        return list(core)

    def _find_model(self, claims: Sequence[Any], kept: Sequence[int], moves: bool, small: bool = True) -> Any:
        """Find a model in which one of the claims is false, preferably with small parameters."""
        assumed = [*([self._moves] if moves else []), *(self._assumed[index] for index in kept)]
        self._solver.push()
        try:
            self._solver.add(z3.Or(*(z3.Not(claim) for claim in claims)))
            if small and self._solver.check(self._small, *assumed) == z3.sat:
                return self._solver.model()
            status = self._solver.check(*assumed)
            if status == z3.unknown:
                raise SolverGaveUp
            return self._solver.model() if status == z3.sat else None
        finally:
            self._solver.pop()

    def _read_state(self, model: Any) -> State:
        """Read the state before the round; only the oldest and the youngest message are in transit."""
        before = self._step.before

        def read_number(value: Any) -> int:
            return int(model.eval(value.term, model_completion=True).as_long() if isinstance(value, Value) else value)

        values: dict[str, Any] = {p.name: read_number(before[p.name]) for p in self._system.parameters}
        for variable in self._system.variables:
            value = before[variable.name]
            match variable.sort:
                case Flags():
                    values[variable.name] = z3.is_true(model.eval(value.term, model_completion=True))
                case Ages(bound=bound):
                    values[variable.name] = TwoAges(
                        values[bound], read_number(value.oldest), read_number(value.youngest)
                    )
                case _:
                    values[variable.name] = read_number(value)
        return State(values)


class TwoAges(SummaryBuffer):
    """A summary in which only messages of the oldest and of the youngest age are in transit."""

    def _answer_unknown(self, *question: Any) -> Truth:
        return False


def _equate_values(named: Any, value: Any) -> list[Any]:
    if isinstance(named, SummaryBuffer):
        return [lift_truth(named.oldest == value.oldest), lift_truth(named.youngest == value.youngest)]
    return [lift_truth(named == value)]


class _ProductAbstraction:
    """Products of two unknowns, abstracted by fresh constants, with lemmas about them."""

    def __init__(self) -> None:
        self._cofactors: dict[str, dict[str, str]] = {}
        self._known: dict[tuple[str, str], Any] = {}
        self._factors: dict[int, tuple[Any, Any]] = {}

    def abstract_products(self, formula: Any) -> tuple[Any, list[Any]]:
        """Return the formula with its products abstracted, and lemmas about the products that are new."""
        pairs, facts, lemmas = [], list[Any](), list[str]()
        for term in _collect_products(formula):
            names = []
            for factor in term.children():
                if not z3.is_const(factor) and factor.get_id() not in self._factors:
                    # Keep the term with its name: Z3 may reuse the identity of a dead term for another one.
                    self._factors[factor.get_id()] = factor, z3.Int(f"factor{len(self._factors)}!")
                    facts.append(self._factors[factor.get_id()][1] == factor)
                names.append((factor if z3.is_const(factor) else self._factors[factor.get_id()][1]).decl().name())
            first, second = names
            if (first, second) not in self._known:
                self._known[first, second] = z3.Int(f"{first}*{second}")
                lemmas += self._build_lemmas(first, second)
            pairs.append((term, self._known[first, second]))
        facts += self._parse_lemmas(lemmas)
        return (z3.substitute(formula, *pairs) if pairs else formula), facts

    def _build_lemmas(self, first: str, second: str) -> list[str]:
        product, lemmas = f"|{first}*{second}|", list[str]()
        for factor, other in ((first, second), (second, first)):
            others = self._cofactors.setdefault(factor, {})
            others[other] = product
            lemmas += build_sign_lemmas(f"|{factor}|", f"|{other}|", product)
            lemmas += [f"(=> (= |{factor}| {k}) (= {product} (* {k} |{other}|)))" for k in range(1, _SMALL_FACTORS + 1)]
            for (a, fa), (b, fb) in permutations(others.items(), 2):
                if other in (a, b):
                    lemmas += build_order_lemmas(f"|{factor}|", f"|{a}|", fa, f"|{b}|", fb)
        return lemmas

    def _parse_lemmas(self, lemmas: Sequence[str]) -> list[Any]:
        if not lemmas:
            return []
        names = {name for pair in self._known for name in (*pair, "*".join(pair))}
        declared = "".join(f"(declare-const |{name}| Int)" for name in sorted(names))
        return list(z3.parse_smt2_string(declared + "".join(f"(assert {lemma})" for lemma in lemmas)))


def _collect_products(formula: Any) -> list[Any]:
    """Collect the outermost products of two unknowns in a formula."""
    products, seen, waiting = list[Any](), set[int](), [formula]
    while waiting:
        term = waiting.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        children = term.children()
        if z3.is_mul(term) and len(children) == 2 and not any(z3.is_int_value(child) for child in children):
            products.append(term)
        else:
            waiting += children
    return products
