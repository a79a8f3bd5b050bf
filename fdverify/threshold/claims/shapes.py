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
from fdverify.logic import shortened
from fdverify.threshold.claims.normal import all_of, any_of, negated
from fdverify.threshold.formula import And, Eventually, Formula, Globally, Or, is_temporal
from fdverify.threshold.text.write import formula_text

_MOST_CASES = 500


@dataclass(frozen=True)
class Moment:
    """A point of a run that does not precede the moment with index ``after`` (None for the start of the run)."""

    holds: tuple[Formula, ...]
    """Claims that hold at this moment."""
    for_good: tuple[Formula, ...]
    """Claims that hold from this moment on for ever."""
    after: int | None = None


@dataclass(frozen=True)
class Shape:
    """What a run must satisfy; the first moment is the start of the run."""

    moments: tuple[Moment, ...]
    at_last: tuple[Formula, ...]
    """Claims under ``<>[]``."""
    again: tuple[Formula, ...]
    """Claims under ``[]<>``, which need not hold at the same time."""


def shapes(specification: str, formula: Formula) -> list[Shape]:
    """List the shapes whose runs are exactly those that violate a formula; refuse a formula outside the fragment."""
    cases = _Cases(specification).of(negated(formula))
    return list(dict.fromkeys(_shape(case) for case in cases))


@dataclass(frozen=True)
class _Case:
    """A conjunction of claims that hold now, from now on, at later moments, eventually always, and infinitely often."""

    now: tuple[Formula, ...] = ()
    for_good: tuple[Formula, ...] = ()
    later: tuple[_Case, ...] = ()
    at_last: tuple[Formula, ...] = ()
    again: tuple[Formula, ...] = ()

    def and_also(self, other: _Case) -> _Case:
        return _Case(
            self.now + other.now,
            self.for_good + other.for_good,
            self.later + other.later,
            self.at_last + other.at_last,
            self.again + other.again,
        )

    def some_time(self) -> _Case:
        """Apply ``<>`` to the case; its prefix-independent claims are not affected."""
        later = (_Case(self.now, self.for_good, self.later),) if self.now or self.for_good else self.later
        if self.for_good and not self.now and not self.later:
            return _Case(at_last=self.at_last + self.for_good, again=self.again)
        return _Case(later=later, at_last=self.at_last, again=self.again)


class _Cases:
    """Converts formulas in negation normal form to disjunctions of cases."""

    def __init__(self, specification: str) -> None:
        self._name = specification

    def of(self, formula: Formula) -> list[_Case]:
        if not is_temporal(formula):
            return [_Case(now=(formula,))]
        match formula:
            case Or():
                return self._some([self.of(part) for part in _spread(Or, formula)])
            case And():
                return self._all([self.of(part) for part in _spread(And, formula)])
            case Eventually(operand):
                return self._some([self._some_time(alternative) for alternative in self._alternatives(operand)])
            case Globally(operand):
                return self._all([self._always(clause) for clause in self._clauses(operand)])
            case _:
                raise AssertionError("the formula is not in negation normal form")

    def _some_time(self, alternative: Sequence[Formula]) -> list[_Case]:
        """Build the cases of ``<>`` over a conjunction.

        If every part is ``[]`` or prefix independent, ``<>`` distributes over the conjunction.
        """
        if all(isinstance(part, Globally) or _is_of_the_end(part) for part in alternative):
            return self._all([self._in_the_end(part) for part in alternative])
        return [case.some_time() for case in self._all([self.of(part) for part in alternative])]

    def _always(self, clause: Sequence[Formula]) -> list[_Case]:
        """Build the cases of ``[]`` over a disjunction.

        A prefix-independent part is true at all times or at none, so ``[]`` distributes over it.  The other parts are
        supported if all of them are non-temporal, all are ``<>``, or all are ``[]``.
        """
        independent = [part for part in clause if _is_of_the_end(part)]
        others = _absorbed([part for part in clause if not _is_of_the_end(part)])
        present = [part for part in others if not is_temporal(part)]
        eventual = [part.operand for part in others if isinstance(part, Eventually)]
        lasting = [part for part in others if isinstance(part, Globally)]
        alternatives = [self._in_the_end(part) for part in independent]
        if len(present) == len(others):
            alternatives.append([_Case(for_good=(any_of(present),))] if present else [])
        elif len(eventual) == len(others):
            alternatives.append(self._again_and_again(any_of(eventual)))
        elif len(lasting) == len(others):
            alternatives += [self.of(part) for part in lasting]
        else:
            raise UsageError(
                f"{self._name}: [] over a disjunction of different temporal formulas is not supported:"
                f" {shortened(formula_text(Globally(any_of(clause))))}",
                "write fairness as <>[](…) or []<>(…)",
            )
        return self._some(alternatives)

    def _in_the_end(self, formula: Formula) -> list[_Case]:
        """Build the cases of ``[]<>p`` for ``<>p``, and of ``<>[]p`` for ``[]p``."""
        match formula:
            case Eventually(operand):
                return self._again_and_again(operand)
            case Globally(operand):
                return self._at_last(operand)
            case _:
                raise AssertionError("a formula without a temporal operator at its root is not prefix independent")

    def _again_and_again(self, formula: Formula) -> list[_Case]:
        """Build the cases of ``[]<>``: ``[]<>(p && []q)`` is ``[]<>p && <>[]q``, for each alternative."""
        cases = []
        for alternative in self._alternatives(formula):
            present = [part for part in alternative if not is_temporal(part)]
            now = [[_Case(again=(all_of(present),))]] if present else []
            cases.append(self._all([*now, *(self._in_the_end(part) for part in alternative if is_temporal(part))]))
        return self._some(cases)

    def _at_last(self, formula: Formula) -> list[_Case]:
        """Build the cases of ``<>[]``: ``<>[](p || <>q)`` is ``<>[]p || []<>q``, for each clause."""
        cases = []
        for clause in self._clauses(formula):
            present = [part for part in clause if not is_temporal(part)]
            now = [[_Case(at_last=(any_of(present),))]] if present else []
            cases.append(self._some([*now, *(self._in_the_end(part) for part in clause if is_temporal(part))]))
        return self._all(cases)

    def _clauses(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """Convert to conjunctive normal form, with non-temporal, ``<>`` and ``[]`` formulas as atoms."""
        return self._combined(And, Or, formula)

    def _alternatives(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """Convert to disjunctive normal form, with the same atoms."""
        return self._combined(Or, And, formula)

    def _combined(
        self, outer: type[And] | type[Or], inner: type[And] | type[Or], formula: Formula
    ) -> list[tuple[Formula, ...]]:
        if not is_temporal(formula) or isinstance(formula, Eventually | Globally):
            return [(formula,)]
        if isinstance(formula, outer):
            return [each for part in _spread(outer, formula) for each in self._combined(outer, inner, part)]
        choices = [self._combined(outer, inner, part) for part in _spread(inner, formula)]
        self._refuse_too_many(choices)
        return [sum(chosen, ()) for chosen in product(*choices)]

    def _some(self, lists: Iterable[list[_Case]]) -> list[_Case]:
        return [case for cases in lists for case in cases]

    def _all(self, lists: Sequence[list[_Case]]) -> list[_Case]:
        self._refuse_too_many(lists)
        return [reduce(_Case.and_also, chosen, _Case()) for chosen in product(*lists)]

    def _refuse_too_many(self, choices: Sequence[Sequence[object]]) -> None:
        if reduce(lambda number, each: number * len(each), choices, 1) > _MOST_CASES:
            raise UsageError(
                f"{self._name}: there are more than {_MOST_CASES} ways to break it, which are not all tried"
            )


def _absorbed(parts: Sequence[Formula]) -> list[Formula]:
    """Drop disjuncts that imply another one: p || <>p is <>p, p || []p is p, and <>p || []p is <>p."""
    eventual = {each for part in parts if isinstance(part, Eventually) for each in _spread(Or, part.operand)}
    present = {each for part in parts if not is_temporal(part) for each in _spread(Or, part)}
    return [
        part
        for part in parts
        if not set(_spread(Or, part)) <= eventual
        and not (isinstance(part, Globally) and set(_spread(Or, part.operand)) <= eventual | present)
    ]


def _is_of_the_end(formula: Formula) -> bool:
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
    return isinstance(formula, kind) or _is_of_the_end(formula)


def _spread(kind: type[And] | type[Or], formula: Formula) -> list[Formula]:
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


def _shape(case: _Case) -> Shape:
    moments: list[Moment] = []

    def add(case: _Case, after: int | None) -> None:
        index = len(moments)
        moments.append(Moment(case.now, case.for_good, after))
        for later in case.later:
            add(later, index)

    add(case, None)
    return Shape(tuple(moments), _distinct(case.at_last), _distinct(case.again))


def _distinct(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple(dict.fromkeys(formulas))
