"""What breaks a specification, as shapes of runs: what holds at some times, from some times on, and again and again.

The negation of a specification is brought into a disjunction of shapes.  A shape has *moments*, in an order that may be
partial; at each of them something holds, and from it on something holds for good.  Besides, some claims hold in the
end, and some again and again: of these only the end of a run tells, whatever came before.
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
    """A time not before the moment ``after`` (by its place; none: not before the start)."""

    holds: tuple[Formula, ...]
    """What holds then."""
    for_good: tuple[Formula, ...]
    """What holds then and ever after."""
    after: int | None = None


@dataclass(frozen=True)
class Shape:
    """The first moment is the start."""

    moments: tuple[Moment, ...]
    at_last: tuple[Formula, ...]
    """What holds from some time on."""
    again: tuple[Formula, ...]
    """What holds again and again, each perhaps at other times."""


def shapes(specification: str, formula: Formula) -> list[Shape]:
    """The runs that break a specification; one whose negation is of another kind is refused."""
    cases = _Cases(specification).of(negated(formula))
    return list(dict.fromkeys(_shape(case) for case in cases))


@dataclass(frozen=True)
class _Case:
    """What holds now, from now on, at later times, in the end, and again and again."""

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
        """That the case arises now or later.  What is so in the end does not depend on when."""
        here = (_Case(self.now, self.for_good, self.later),) if self.now or self.for_good else self.later
        if self.for_good and not self.now and not self.later:
            return _Case(at_last=self.at_last + self.for_good, again=self.again)
        return _Case(later=here, at_last=self.at_last, again=self.again)


class _Cases:
    """A formula without negations as a disjunction of cases."""

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
                raise AssertionError("negations and implications are gone")

    def _some_time(self, alternative: Sequence[Formula]) -> list[_Case]:
        """That at some time all parts hold; if all of them then hold for good, each is so in the end by itself."""
        if all(isinstance(part, Globally) or _is_of_the_end(part) for part in alternative):
            return self._all([self._in_the_end(part) for part in alternative])
        return [case.some_time() for case in self._all([self.of(part) for part in alternative])]

    def _always(self, clause: Sequence[Formula]) -> list[_Case]:
        """That at all times some part of the clause holds; one that tells of the end only is true throughout or never.

        Of the others, claims about the present may be put together, and so may claims that something comes.
        """
        ends = [part for part in clause if _is_of_the_end(part)]
        others = _absorbed([part for part in clause if not _is_of_the_end(part)])
        present = [part for part in others if not is_temporal(part)]
        coming = [part.operand for part in others if isinstance(part, Eventually)]
        lasting = [part for part in others if isinstance(part, Globally)]
        found = [self._in_the_end(part) for part in ends]
        if len(present) == len(others):
            found.append([_Case(for_good=(any_of(present),))] if present else [])
        elif len(coming) == len(others):
            found.append(self._again_and_again(any_of(coming)))
        elif len(lasting) == len(others):
            found += [self.of(part) for part in lasting]
        else:
            raise UsageError(
                f"{self._name}: a run that breaks it must, at all times, meet one or another of several conditions"
                f" over time, which is not decided here: {shortened(formula_text(Globally(any_of(clause))))}",
                "what is fair is written as <>[](…) or []<>(…)",
            )
        return self._some(found)

    def _in_the_end(self, formula: Formula) -> list[_Case]:
        """What something that holds later, or for good, comes to if it is said of the end."""
        match formula:
            case Eventually(operand):
                return self._again_and_again(operand)
            case Globally(operand):
                return self._at_last(operand)
            case _:
                raise AssertionError("a claim about the present is not of the end")

    def _again_and_again(self, formula: Formula) -> list[_Case]:
        """``[]<>``: one of the alternatives is met again and again, and what it says of later times is of the end."""
        found = []
        for alternative in self._alternatives(formula):
            present = [part for part in alternative if not is_temporal(part)]
            cases = [[_Case(again=(all_of(present),))]] if present else []
            found.append(self._all([*cases, *(self._in_the_end(part) for part in alternative if is_temporal(part))]))
        return self._some(found)

    def _at_last(self, formula: Formula) -> list[_Case]:
        """``<>[]``: each clause holds in the end, so its part about the present does, or one that is of the end."""
        found = []
        for clause in self._clauses(formula):
            present = [part for part in clause if not is_temporal(part)]
            cases = [[_Case(at_last=(any_of(present),))]] if present else []
            found.append(self._some([*cases, *(self._in_the_end(part) for part in clause if is_temporal(part))]))
        return self._all(found)

    def _clauses(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """A conjunction of disjunctions; what is not temporal, and what is inside <> and [], stays whole."""
        return self._combined(And, Or, formula)

    def _alternatives(self, formula: Formula) -> list[tuple[Formula, ...]]:
        """A disjunction of conjunctions, likewise."""
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
    """A disjunction without what its other parts say, too: p || <>p is <>p, p || []p is p, and <>p || []p is <>p."""
    coming = {each for part in parts if isinstance(part, Eventually) for each in _spread(Or, part.operand)}
    present = {each for part in parts if not is_temporal(part) for each in _spread(Or, part)}
    return [
        part
        for part in parts
        if not set(_spread(Or, part)) <= coming
        and not (isinstance(part, Globally) and set(_spread(Or, part.operand)) <= coming | present)
    ]


def _is_of_the_end(formula: Formula) -> bool:
    """Whether it holds at all times of a run or at none, because it speaks of the end only."""
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
    """What a conjunction or a disjunction is made of."""
    found: list[Formula] = []
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def _shape(case: _Case) -> Shape:
    moments: list[Moment] = []

    def add(each: _Case, after: int | None) -> None:
        place = len(moments)
        moments.append(Moment(each.now, each.for_good, after))
        for later in each.later:
            add(later, place)

    add(case, None)
    return Shape(tuple(moments), _distinct(case.at_last), _distinct(case.again))


def _distinct(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple(dict.fromkeys(formulas))
