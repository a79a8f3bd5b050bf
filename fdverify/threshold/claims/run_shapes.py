"""Shapes of runs: the negation of a specification as a disjunction of temporal normal forms.

A shape has partially ordered *moments*.  At each moment some claims hold, and from it on some claims hold for good.
In addition, some claims hold eventually always (``<>[]``) and some infinitely often (``[]<>``).  These are prefix
independent: a finite prefix of the run does not affect them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

from fdverify.errors import UsageError
from fdverify.logic import shorten_value
from fdverify.threshold.claims.nnf import conjoin_all, disjoin_all, negate_to_nnf
from fdverify.threshold.ltl_formula import And, Eventually, Formula, Globally, Or, is_temporal
from fdverify.threshold.text.write import format_formula

_MOST_CASES = 500


@dataclass(frozen=True)
class Moment:
    """A point of a run that does not precede the moment with index ``after`` (None for the start of the run)."""

    holds: tuple[Formula, ...]
    """Claims that hold at this moment."""
    globally: tuple[Formula, ...]
    """Claims that hold from this moment on for ever."""
    after: int | None = None


@dataclass(frozen=True)
class RunShape:
    """What a run must satisfy; the first moment is the start of the run."""

    moments: tuple[Moment, ...]
    eventually_always: tuple[Formula, ...]
    """Claims under ``<>[]``."""
    infinitely_often: tuple[Formula, ...]
    """Claims under ``[]<>``, which need not hold at the same time."""


def list_violating_shapes(specification: str, formula: Formula) -> list[RunShape]:
    """List the shapes whose runs are exactly those that violate a formula; refuse a formula outside the fragment."""
    cases = _CaseBuilder(specification).build_cases(negate_to_nnf(formula))
    return list(dict.fromkeys(_build_shape(case) for case in cases))


@dataclass(frozen=True)
class _ShapeCase:
    """A conjunction of claims that hold now, from now on, at later moments, eventually always, and infinitely often."""

    now: tuple[Formula, ...] = ()
    globally: tuple[Formula, ...] = ()
    later: tuple[_ShapeCase, ...] = ()
    eventually_always: tuple[Formula, ...] = ()
    infinitely_often: tuple[Formula, ...] = ()

    def conjoin(self, other: _ShapeCase) -> _ShapeCase:
        return _ShapeCase(
            self.now + other.now,
            self.globally + other.globally,
            self.later + other.later,
            self.eventually_always + other.eventually_always,
            self.infinitely_often + other.infinitely_often,
        )

    def apply_eventually(self) -> _ShapeCase:
        """Apply ``<>`` to the case; its prefix-independent claims are not affected."""
        later = (_ShapeCase(self.now, self.globally, self.later),) if self.now or self.globally else self.later
        if self.globally and not self.now and not self.later:
            return _ShapeCase(
                eventually_always=self.eventually_always + self.globally, infinitely_often=self.infinitely_often
            )
        return _ShapeCase(later=later, eventually_always=self.eventually_always, infinitely_often=self.infinitely_often)


class _CaseBuilder:
    """Converts formulas in negation normal form to disjunctions of cases."""

    def __init__(self, specification: str) -> None:
        self._name = specification

    def build_cases(self, formula: Formula) -> list[_ShapeCase]:
        if not is_temporal(formula):
            return [_ShapeCase(now=(formula,))]
        match formula:
            case Or():
                return self._join_cases([self.build_cases(part) for part in _list_operands(Or, formula)])
            case And():
                return self._multiply_cases([self.build_cases(part) for part in _list_operands(And, formula)])
            case Eventually(operand):
                return self._join_cases(
                    [self._build_eventually(alternative) for alternative in self._list_alternatives(operand)]
                )
            case Globally(operand):
                return self._multiply_cases([self._build_globally(clause) for clause in self._list_clauses(operand)])
            case _:
                raise AssertionError("the formula is not in negation normal form")

    def _build_eventually(self, alternative: Sequence[Formula]) -> list[_ShapeCase]:
        """Build the cases of ``<>`` over a conjunction.

        If every part is ``[]`` or prefix independent, ``<>`` distributes over the conjunction.
        """
        if all(isinstance(part, Globally) or _is_prefix_independent(part) for part in alternative):
            return self._multiply_cases([self._build_prefix_independent(part) for part in alternative])
        return [
            case.apply_eventually() for case in self._multiply_cases([self.build_cases(part) for part in alternative])
        ]

    def _build_globally(self, clause: Sequence[Formula]) -> list[_ShapeCase]:
        """Build the cases of ``[]`` over a disjunction.

        A prefix-independent part is true at all times or at none, so ``[]`` distributes over it.  The other parts are
        supported if all of them are non-temporal, all are ``<>``, or all are ``[]``.
        """
        independent = [part for part in clause if _is_prefix_independent(part)]
        others = _absorb_disjuncts([part for part in clause if not _is_prefix_independent(part)])
        present = [part for part in others if not is_temporal(part)]
        eventual = [part.operand for part in others if isinstance(part, Eventually)]
        lasting = [part for part in others if isinstance(part, Globally)]
        alternatives = [self._build_prefix_independent(part) for part in independent]
        if len(present) == len(others):
            alternatives.append([_ShapeCase(globally=(disjoin_all(present),))] if present else [])
        elif len(eventual) == len(others):
            alternatives.append(self._build_infinitely_often(disjoin_all(eventual)))
        elif len(lasting) == len(others):
            alternatives += [self.build_cases(part) for part in lasting]
        else:
            raise UsageError(
                f"{self._name}: [] over a disjunction of different temporal formulas is not supported:"
                f" {shorten_value(format_formula(Globally(disjoin_all(clause))))}",
                "write fairness as <>[](…) or []<>(…)",
            )
        return self._join_cases(alternatives)

    def _build_prefix_independent(self, formula: Formula) -> list[_ShapeCase]:
        """Build the cases of ``[]<>p`` for ``<>p``, and of ``<>[]p`` for ``[]p``."""
        match formula:
            case Eventually(operand):
                return self._build_infinitely_often(operand)
            case Globally(operand):
                return self._build_eventually_always(operand)
            case _:
                raise AssertionError("a formula without a temporal operator at its root is not prefix independent")

    def _build_infinitely_often(self, formula: Formula) -> list[_ShapeCase]:
        """Build the cases of ``[]<>``: ``[]<>(p && []q)`` is ``[]<>p && <>[]q``, for each alternative."""
        cases = []
        for alternative in self._list_alternatives(formula):
            present = [part for part in alternative if not is_temporal(part)]
            now = [[_ShapeCase(infinitely_often=(conjoin_all(present),))]] if present else []
            cases.append(
                self._multiply_cases(
                    [*now, *(self._build_prefix_independent(part) for part in alternative if is_temporal(part))]
                )
            )
        return self._join_cases(cases)

    def _build_eventually_always(self, formula: Formula) -> list[_ShapeCase]:
        """Build the cases of ``<>[]``: ``<>[](p || <>q)`` is ``<>[]p || []<>q``, for each clause."""
        cases = []
        for clause in self._list_clauses(formula):
            present = [part for part in clause if not is_temporal(part)]
            now = [[_ShapeCase(eventually_always=(disjoin_all(present),))]] if present else []
            cases.append(
                self._join_cases(
                    [*now, *(self._build_prefix_independent(part) for part in clause if is_temporal(part))]
                )
            )
        return self._multiply_cases(cases)

    def _list_clauses(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """Convert to conjunctive normal form, with non-temporal, ``<>`` and ``[]`` formulas as atoms."""
        return self._distribute_operators(And, Or, formula)

    def _list_alternatives(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """Convert to disjunctive normal form, with the same atoms."""
        return self._distribute_operators(Or, And, formula)

    def _distribute_operators(
        self, outer: type[And] | type[Or], inner: type[And] | type[Or], formula: Formula
    ) -> list[tuple[Formula, ...]]:
        if not is_temporal(formula) or isinstance(formula, Eventually | Globally):
            return [(formula,)]
        if isinstance(formula, outer):
            return [
                each
                for part in _list_operands(outer, formula)
                for each in self._distribute_operators(outer, inner, part)
            ]
        choices = [self._distribute_operators(outer, inner, part) for part in _list_operands(inner, formula)]
        self._refuse_too_many(choices)
        return [sum(chosen, ()) for chosen in product(*choices)]

    def _join_cases(self, lists: Iterable[list[_ShapeCase]]) -> list[_ShapeCase]:
        return [case for cases in lists for case in cases]

    def _multiply_cases(self, lists: Sequence[list[_ShapeCase]]) -> list[_ShapeCase]:
        self._refuse_too_many(lists)
        return [reduce(_ShapeCase.conjoin, chosen, _ShapeCase()) for chosen in product(*lists)]

    def _refuse_too_many(self, choices: Sequence[Sequence[object]]) -> None:
        if reduce(lambda number, each: number * len(each), choices, 1) > _MOST_CASES:
            raise UsageError(
                f"{self._name}: there are more than {_MOST_CASES} ways to break it, which are not all tried"
            )


def _absorb_disjuncts(parts: Sequence[Formula]) -> list[Formula]:
    """Drop disjuncts that imply another one: p || <>p is <>p, p || []p is p, and <>p || []p is <>p."""
    eventual = {each for part in parts if isinstance(part, Eventually) for each in _list_operands(Or, part.operand)}
    present = {each for part in parts if not is_temporal(part) for each in _list_operands(Or, part)}
    return [
        part
        for part in parts
        if not set(_list_operands(Or, part)) <= eventual
        and not (isinstance(part, Globally) and set(_list_operands(Or, part.operand)) <= eventual | present)
    ]


def _is_prefix_independent(formula: Formula) -> bool:
    """Return whether a formula is prefix independent by its syntax, and so holds at all times of a run or at none."""
    match formula:
        case Eventually(operand):
            return _is_made_of(Globally, operand)
        case Globally(operand):
            return _is_made_of(Eventually, operand)
        case _:
            return False


def _is_made_of(kind: type[Eventually] | type[Globally], formula: Formula) -> bool:
    if isinstance(formula, And | Or):
        return _is_made_of(kind, formula.left) and _is_made_of(kind, formula.right)
    return isinstance(formula, kind) or _is_prefix_independent(formula)


def _list_operands(kind: type[And] | type[Or], formula: Formula) -> list[Formula]:
    """List the operands of a nested conjunction or disjunction."""
    operands: list[Formula] = []
    pending = [formula]
    while pending:
        part = pending.pop()
        if isinstance(part, kind):
            pending += [part.right, part.left]
        else:
            operands.append(part)
    return operands


def _build_shape(case: _ShapeCase) -> RunShape:
    moments: list[Moment] = []

    def add_moment(case: _ShapeCase, after: int | None) -> None:
        index = len(moments)
        moments.append(Moment(case.now, case.globally, after))
        for later in case.later:
            add_moment(later, index)

    add_moment(case, None)
    return RunShape(
        tuple(moments), _remove_duplicates(case.eventually_always), _remove_duplicates(case.infinitely_often)
    )


def _remove_duplicates(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple(dict.fromkeys(formulas))
