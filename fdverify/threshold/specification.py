"""What breaks a specification, as shapes of runs: what holds at the start, at some times, and from some times on.

The negation of a specification is brought into a disjunction of shapes.  A shape has *moments*, in an order that may be
partial; at each of them something holds, and from it on something holds for good.  In such a run nothing need happen
again and again, so a run that moves no more once all moments are over is as good as any: finite runs suffice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from fdverify.errors import UsageError
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.formula import (
    And,
    Comparison,
    Constant,
    Eventually,
    Formula,
    Globally,
    Implies,
    Linear,
    Not,
    Or,
    compared,
    is_temporal,
    names,
)


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


def shapes(specification: str, formula: Formula) -> list[Shape]:
    """The runs that break a specification; one whose negation is of another kind is refused."""
    return [_shape(conjunction) for conjunction in _alternatives(specification, negated(formula))]


def negated(formula: Formula) -> Formula:
    """The negation, without negations and implications, and simplified."""
    match formula:
        case Comparison(left, operator, right):
            return _simple(Comparison(left, _OPPOSITE[operator], right))
        case Constant(value):
            return Constant(not value)
        case Not(operand):
            return positive(operand)
        case And(left, right):
            return _either(negated(left), negated(right))
        case Or(left, right):
            return _both(negated(left), negated(right))
        case Implies(left, right):
            return _both(positive(left), negated(right))
        case Eventually(operand):
            return _later(Globally, negated(operand))
        case Globally(operand):
            return _later(Eventually, negated(operand))


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def positive(formula: Formula) -> Formula:
    """The same without negations and implications, and simplified."""
    match formula:
        case Comparison():
            return _simple(formula)
        case Constant():
            return formula
        case Not(operand):
            return negated(operand)
        case Implies(left, right):
            return _either(negated(left), positive(right))
        case And(left, right):
            return _both(positive(left), positive(right))
        case Or(left, right):
            return _either(positive(left), positive(right))
        case Eventually(operand):
            return _later(Eventually, positive(operand))
        case Globally(operand):
            return _later(Globally, positive(operand))


def _simple(comparison: Comparison) -> Formula:
    """With all names on the left and none that cancel out; of numbers alone it is decided."""
    difference, operator = comparison.difference(), comparison.operator
    if not difference.factors:
        return Constant(bool(compared(difference.constant, operator, 0)))
    return Comparison(Linear(difference.factors), operator, Linear(constant=-difference.constant))


def _both(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return right if left.value else left
    if isinstance(right, Constant):
        return left if right.value else right
    return And(left, right)


def _either(left: Formula, right: Formula) -> Formula:
    if isinstance(left, Constant):
        return left if left.value else right
    if isinstance(right, Constant):
        return right if right.value else left
    return Or(left, right)


def _later(operator: type[Eventually] | type[Globally], operand: Formula) -> Formula:
    return operand if isinstance(operand, Constant) else operator(operand)


@dataclass
class _Conjunction:
    """What holds now, from now on, and at later times."""

    now: list[Formula] = field(default_factory=list)
    for_good: list[Formula] = field(default_factory=list)
    later: list[_Conjunction] = field(default_factory=list)

    def with_other(self, other: _Conjunction) -> _Conjunction:
        return _Conjunction(self.now + other.now, self.for_good + other.for_good, self.later + other.later)


def _alternatives(name: str, formula: Formula) -> Iterator[_Conjunction]:
    """The formula as a disjunction."""
    if not is_temporal(formula):
        yield _Conjunction(now=[formula])
        return
    match formula:
        case Or(left, right):
            yield from _alternatives(name, left)
            yield from _alternatives(name, right)
        case And(left, right):
            for one, other in product(list(_alternatives(name, left)), list(_alternatives(name, right))):
                yield one.with_other(other)
        case Eventually(operand):
            for inside in _alternatives(name, operand):
                yield _Conjunction(later=[inside])
        case Globally(And(left, right)):
            yield from _alternatives(name, And(Globally(left), Globally(right)))
        case Globally(Globally(operand)):
            yield from _alternatives(name, Globally(operand))
        case Globally(operand) if not is_temporal(operand):
            yield _Conjunction(for_good=[operand])
        case _:
            raise UsageError(
                f"{name}: a run that breaks it does something again and again, which is not decided here",
                "write what is fair as <>[](…)",
            )


def _shape(conjunction: _Conjunction) -> Shape:
    moments: list[Moment] = []

    def add(each: _Conjunction, after: int | None) -> None:
        place = len(moments)
        moments.append(Moment(tuple(each.now), tuple(each.for_good), after))
        for later in each.later:
            add(later, place)

    add(conjunction, None)
    return Shape(tuple(moments))


@dataclass(frozen=True)
class Lasting:
    """What holds for good, as engines need it.

    Where ``unless``, which is about shared variables, does not hold, the locations of ``empty`` are so, and of each set
    of ``inhabited`` some location is not: of a set without locations that is false.
    """

    unless: Formula
    empty: frozenset[str]
    inhabited: tuple[frozenset[str], ...]


def lasting(automaton: Automaton, name: str, formula: Formula) -> list[Lasting]:
    """A claim that holds for good, as a conjunction; one of another form is refused."""
    match formula:
        case And(left, right):
            return [*lasting(automaton, name, left), *lasting(automaton, name, right)]
        case _:
            return [_clause(automaton, name, formula)]


def _clause(automaton: Automaton, name: str, formula: Formula) -> Lasting:
    locations = {location.name for location in automaton.locations}
    guards: list[Formula] = []
    counts: list[Formula] = []
    for part in _disjuncts(formula):
        (counts if names(part) & locations else guards).append(part)
    unless: Formula = Constant(False)
    for guard in guards:
        unless = Or(unless, guard)
    if not counts:
        return Lasting(unless, frozenset(), (frozenset(),))
    inhabited = [_nonempty(part, locations) for part in counts]
    if all(each is not None for each in inhabited):
        return Lasting(unless, frozenset(), (frozenset().union(*(each for each in inhabited if each)),))
    if len(counts) == 1:
        empty, some = _conjuncts(counts[0], locations)
        if empty is not None:
            return Lasting(unless, empty, some)
    raise UsageError(
        f"{name}: what holds for good must say that locations are empty, or that one of some is not, or a guard"
    )


def _disjuncts(formula: Formula) -> list[Formula]:
    return [*_disjuncts(formula.left), *_disjuncts(formula.right)] if isinstance(formula, Or) else [formula]


def _conjuncts(formula: Formula, locations: set[str]) -> tuple[frozenset[str] | None, tuple[frozenset[str], ...]]:
    """Which locations are empty, and of which sets one is not; none if it says something else."""
    if isinstance(formula, And):
        left, right = _conjuncts(formula.left, locations), _conjuncts(formula.right, locations)
        if left[0] is None or right[0] is None:
            return None, ()
        return left[0] | right[0], (*left[1], *right[1])
    empty = _empty(formula, locations)
    if empty is not None:
        return empty, ()
    parts = [_nonempty(part, locations) for part in _disjuncts(formula)]
    if all(part is not None for part in parts):
        return frozenset(), (frozenset().union(*(part for part in parts if part)),)
    return None, ()


def _counted(formula: Formula, locations: set[str]) -> tuple[frozenset[str], str, int] | None:
    """A sum of locations compared with a number: which locations, how, with what."""
    if not isinstance(formula, Comparison):
        return None
    difference, operator = formula.difference(), formula.operator
    if all(factor < 0 for _, factor in difference.factors):
        difference = difference.times(-1)
        operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    if not difference.names() <= locations or any(factor <= 0 for _, factor in difference.factors):
        return None
    return frozenset(difference.names()), operator, -difference.constant


def _empty(formula: Formula, locations: set[str]) -> frozenset[str] | None:
    """The locations that the comparison says are all empty."""
    found = _counted(formula, locations)
    if found is None:
        return None
    which, operator, number = found
    says = (operator, number) in (("==", 0), ("<=", 0)) or (operator == "<" and number == 1 and _plain(formula))
    return which if says else None


def _nonempty(formula: Formula, locations: set[str]) -> frozenset[str] | None:
    """The locations of which the comparison says that some process is in one of them."""
    found = _counted(formula, locations)
    if found is None:
        return None
    which, operator, number = found
    says = (operator, number) in (("!=", 0), (">", 0)) or (operator == ">=" and number == 1 and _plain(formula))
    return which if says else None


def _plain(formula: Comparison | Formula) -> bool:
    """Whether each location counts once."""
    assert isinstance(formula, Comparison), "only comparisons count"
    return all(abs(factor) == 1 for _, factor in formula.difference().factors)
