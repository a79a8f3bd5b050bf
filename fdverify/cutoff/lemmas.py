"""The cutoff as lemmas about one sub-round, for every number of processes and every template.

Each lemma is about arbitrary configurations, as functions of indexes.  What is claimed of all indexes is claimed of two
that stand for all, p and q; what is assumed of all indexes is assumed of those that matter.  So no lemma has a
quantifier, and solvers decide it.  How the lemmas make a theorem about runs is told in docs/explanation/cutoff.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from fdverify.cutoff.rounds import (
    CONSTRAINTS,
    OF_ONE,
    OF_TWO,
    Choices,
    Configuration,
    Index,
    Kind,
    Rounds,
    Step,
    SubRound,
)
from fdverify.cutoff.vocabulary import Uninterpreted, Vocabulary, laws
from fdverify.logic import And, If, Iff, Implies, Not, Number, Or, Truth


@dataclass(frozen=True)
class System:
    """A system in a lemma: where it is before a sub-round, what is chosen, and what comes of it."""

    name: str
    members: tuple[Index, ...] | None
    """Its processes; ``None``: all of them."""
    before: Configuration
    chosen: Choices | None
    after: Configuration | None
    rules: Mapping[str, Callable[[Index, Index], Truth]]


@dataclass(frozen=True)
class Claimed:
    """A lemma spelled out: what is assumed, what follows, and what must be possible for it to say something."""

    processes: Number
    marked: Mapping[str, Index]
    """The indexes it speaks of, by name."""
    hypotheses: tuple[Truth, ...]
    conclusions: Mapping[str, Truth]
    """By what they are about."""
    interesting: Truth
    systems: tuple[System, System]
    of: Uninterpreted
    sub_round: SubRound | None = None
    everywhere: Callable[[Index, Index], Truth] = lambda p, q: True
    """What is assumed of all pairs of indexes; the hypotheses have it for those that matter."""


@dataclass(frozen=True)
class Lemma:
    """``sub_round`` is none for the initial configuration; ``keeps`` names the constraint it is about, if it is."""

    name: str
    paper: str
    says: str
    builder: Builder
    sub_round: SubRound | None
    keeps: str | None
    indexes: int

    def spelled(self, rounds: Rounds, v: Vocabulary) -> Claimed:
        return self.builder(rounds, v, self.sub_round, self.keeps, self.indexes)


Builder: TypeAlias = Callable[[Rounds, Vocabulary, "SubRound | None", "str | None", int], Claimed]


def lemmas() -> list[Lemma]:
    """All of them, in the paper's order."""
    found = [_lemma("symmetry", "Lemmas 4.6, 4.7", 2, _symmetry, "a transposition of two indexes")]
    for indexes, papers in ((2, ("Lemmas 4.10, 6.3", "Lemmas 4.12, 6.4")), (1, ("Lemma 5.21",) * 2)):
        what = "two indexes" if indexes == 2 else "one index"
        found.append(_lemma(f"projection-{indexes}", papers[0], indexes, _projection, f"projecting on {what}"))
        found.append(_lemma(f"extension-{indexes}", papers[1], indexes, _extension, f"adding processes to {what}"))
    return [lemma for group in found for lemma in group]


def _lemma(name: str, paper: str, indexes: int, build: Builder, what: str) -> list[Lemma]:
    """A lemma for the initial configuration, for each sub-round, and for each constraint that one is under."""
    cases: list[tuple[SubRound | None, str | None]] = [(None, None)]
    for sub_round in SubRound:
        cases += [(sub_round, None), *((at, constraint) for constraint, at in CONSTRAINTS.items() if at is sub_round)]
    return [
        Lemma(
            ".".join(filter(None, (name, sub_round or "start", constraint))),
            paper,
            _in_words(what, sub_round, constraint),
            build,
            sub_round,
            constraint,
            indexes,
        )
        for sub_round, constraint in cases
    ]


def _in_words(what: str, sub_round: SubRound | None, constraint: str | None) -> str:
    if sub_round is None:
        return f"{what} makes an initial configuration of an initial one"
    if constraint is None:
        return f"{what} makes a {sub_round} step of a {sub_round} step"
    return f"{what} keeps {constraint} in {sub_round}"


def _marked(v: Vocabulary, indexes: int) -> tuple[Number, dict[str, Index], list[Truth]]:
    """The number of processes, the one or two indexes of a small system, and two that stand for all."""
    processes = v.constant("N")
    marked = {name: v.constant(name) for name in (("i", "j") if indexes == 2 else ("i",)) + ("p", "q")}
    inside = [And(index >= 1, index <= processes) for index in marked.values()]
    return processes, marked, [*inside, *([Not(marked["i"] == marked["j"])] if indexes == 2 else [])]


def _same(one: Configuration, other: Configuration, p: Index, q: Index) -> Truth:
    return And(*_compared(one, other, p, q, "").values())


def _compared(one: Configuration, other: Configuration, p: Index, q: Index, of: str) -> dict[str, Truth]:
    """Whether they agree on p, and on what concerns p and q, part by part; ``of`` are the names of p and q."""
    first = of.partition(", ")[0]
    return {
        **{f"{part}({first})": _equal(getattr(one, part)(p), getattr(other, part)(p)) for part in OF_ONE},
        **{f"{part}({of})": _equal(getattr(one, part)(p, q), getattr(other, part)(p, q)) for part in OF_TWO},
    }


def _named(marked: Mapping[str, Index], indexes: int) -> list[tuple[str, Index, Index]]:
    """The pairs of the small system, with their names."""
    members = list(marked.items())[:indexes]
    return [(f"{one}, {other}", p, q) for (one, p), (other, q) in product(members, repeat=2)]


def _equal(one: Truth | Number, other: Truth | Number) -> Truth:
    return other == one if isinstance(one, bool | int) else one == other


def _same_choices(one: Choices, other: Choices, p: Index, q: Index) -> Truth:
    return And(
        Iff(one.crash(p), other.crash(p)),
        Iff(one.schedule(p), other.schedule(p)),
        one.delivered(p, q) == other.delivered(p, q),
    )


def _renamed(c: Configuration, name: Callable[[Index], Index]) -> Configuration:
    def renamed(part: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *indexes: part(*(name(index) for index in indexes))

    parts: dict[str, Any] = {part: renamed(getattr(c, part)) for part in (*OF_ONE, *OF_TWO)}
    return replace(c, **parts)


def _renamed_choices(c: Choices, name: Callable[[Index], Index]) -> Choices:
    return Choices(
        crash=lambda p: c.crash(name(p)),
        schedule=lambda p: c.schedule(name(p)),
        delivered=lambda p, q: c.delivered(name(p), name(q)),
    )


def _symmetry(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> Claimed:
    """The step of the swapped configuration under the swapped choices is the swapped step, rule for rule."""
    of = Uninterpreted(v)
    processes, marked, hypotheses = _marked(v, indexes)
    i, j, p, q = marked.values()

    def swapped(k: Index) -> Index:
        return If(k == i, j, If(k == j, i, k))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    if sub_round is None:
        begin = rounds.begin(of, some)
        conclusions = {
            **_compared(begin, _renamed(begin, swapped), p, q, "p, q"),
            "swapping is its own inverse": swapped(swapped(p)) == p,
            "it stays among the processes": And(swapped(p) >= 1, swapped(p) <= processes),
        }
        systems = (_begun("as it is", None, begin), _begun("i and j swapped", None, _renamed(begin, swapped)))
        return Claimed(processes, marked, tuple(hypotheses), conclusions, processes >= 3, systems, of)
    before, chosen = v.configuration("before", some), v.choices("chosen")
    one = rounds.step(sub_round, of, before, chosen)
    renamed, choices = _renamed(before, swapped), _renamed_choices(chosen, swapped)
    other = rounds.step(sub_round, of, renamed, choices)
    wanted = [name for name in one.rules if (name not in CONSTRAINTS if constraint is None else name == constraint)]
    conclusions = {
        f"rule {name}(p, q)": Iff(other.rules[name](p, q), one.rules[name](swapped(p), swapped(q))) for name in wanted
    }
    if constraint is None:
        conclusions |= _compared(other.after, _renamed(one.after, swapped), p, q, "p, q")
    return Claimed(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(processes >= 3, _something_happens(rounds, of, sub_round, before, chosen, i), *_allowed(one, [(i, j)])),
        (
            System("as it is", None, before, chosen, one.after, one.rules),
            System("i and j swapped", None, renamed, choices, other.after, other.rules),
        ),
        of,
        sub_round,
    )


def _begun(name: str, members: tuple[Index, ...] | None, begin: Configuration) -> System:
    return System(name, members, begin, None, None, {})


def _something_happens(
    rounds: Rounds, of: Uninterpreted, sub_round: SubRound, c: Configuration, chosen: Choices, p: Index
) -> Truth:
    """What makes a lemma about a sub-round more than one about nothing: a process crashes, or moves."""
    if sub_round is SubRound.SCHEDULE:
        return chosen.crash(p)
    return Not(_equal(rounds.step(sub_round, of, c, chosen).after.active(p), c.active(p)))


def _allowed(step: Step, pairs: Sequence[tuple[Index, Index]], also: str | None = None) -> list[Truth]:
    """The rules of the class, and one constraint if it is named, for these pairs."""
    rules = [rule for name, rule in step.rules.items() if name not in CONSTRAINTS or name == also]
    return [rule(p, q) for rule in rules for p, q in pairs]


def _to_show(step: Step, constraint: str | None, pairs: Sequence[tuple[str, Index, Index]]) -> dict[str, Truth]:
    """The rules that a lemma is about, for these pairs: those of the class, or one constraint."""
    return {
        f"rule {name}({of})": rule(p, q)
        for name, rule in step.rules.items()
        for of, p, q in pairs
        if (name not in CONSTRAINTS if constraint is None else name == constraint)
    }


def _small_some(members: Sequence[Index]) -> Callable[[Callable[[Index], Truth]], Truth]:
    return lambda claim: Or(*(claim(member) for member in members))


def _projection(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> Claimed:
    """What a step of all processes does to a few of them is a step of the system that has only those."""
    of = Uninterpreted(v)
    processes, marked, hypotheses = _marked(v, indexes)
    members, named = tuple(marked.values())[:indexes], _named(marked, indexes)
    pairs = list(product(members, repeat=2))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    if sub_round is None:
        big, small = rounds.begin(of, some), rounds.begin(of, _small_some(members))
        conclusions: dict[str, Truth] = {}
        for names, p, q in named:
            conclusions |= _compared(big, small, p, q, names)
        systems = (_begun("N processes", None, big), _begun("small", members, small))
        return Claimed(processes, marked, tuple(hypotheses), conclusions, processes >= 3, systems, of)
    big, small = v.configuration("big", some), v.configuration("small", _small_some(members))
    big_chosen, small_chosen = v.choices("big"), v.choices("small")
    step, small_step = (
        rounds.step(sub_round, of, big, big_chosen),
        rounds.step(sub_round, of, small, small_chosen),
    )
    hypotheses += [_same(big, small, p, q) for p, q in pairs]
    hypotheses += [_same_choices(big_chosen, small_chosen, p, q) for p, q in pairs]
    hypotheses += _allowed(step, pairs, constraint)
    conclusions = _to_show(small_step, constraint, named)
    if constraint is None:
        for names, p, q in named:
            conclusions |= _compared(step.after, small_step.after, p, q, names)
    return Claimed(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(processes >= 3, _something_happens(rounds, of, sub_round, big, big_chosen, members[0])),
        (
            System("N processes", None, big, big_chosen, step.after, step.rules),
            System("small", members, small, small_chosen, small_step.after, small_step.rules),
        ),
        of,
        sub_round,
        lambda x, y: And(*_allowed(step, [(x, y)], constraint)),
    )


def _extension(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> Claimed:
    """A step of a few processes is one of all: the others crash as soon as they can, and all they sent is delivered.

    Between rounds the others may be anywhere; in a round, after Schedule, they have crashed, and nothing is on its way
    to them until something is sent.  That is assumed where it is shown before.
    """
    if sub_round is None:
        begun = _projection(rounds, v, sub_round, constraint, indexes)
        resting = Not(begun.systems[0].before.active(begun.marked["p"]))
        return replace(begun, conclusions={**begun.conclusions, "the others are inactive": resting})
    of = Uninterpreted(v)
    processes, marked, hypotheses = _marked(v, indexes)
    members, (p, q) = tuple(marked.values())[:indexes], tuple(marked.values())[indexes:]
    named = _named(marked, indexes)
    pairs = list(product(members, repeat=2))

    def inside(index: Index) -> Truth:
        return Or(*(index == member for member in members))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    big, small = v.configuration("big", some), v.configuration("small", _small_some(members))
    small_chosen = v.choices("small")
    chosen = Choices(
        crash=lambda k: If(inside(k), small_chosen.crash(k), Not(big.location(k) == of.crashed)),
        schedule=lambda k: And(inside(k), small_chosen.schedule(k)),
        delivered=lambda s, r: If(And(inside(s), inside(r)), small_chosen.delivered(s, r), big.buffer(s, r)),
    )
    step, small_step = rounds.step(sub_round, of, big, chosen), rounds.step(sub_round, of, small, small_chosen)

    def others(c: Configuration, at: SubRound, k: Index, sender: Index) -> Truth:
        """What is true of k, if it is one of the others, and of what is on its way to it, before this sub-round."""
        crashed = Or(at is SubRound.SCHEDULE, c.location(k) == of.crashed)
        nothing = Or(at is not SubRound.SEND, c.buffer(sender, k) == of.no_transit)
        return Implies(Not(inside(k)), And(Not(c.active(k)), crashed, nothing))

    def everywhere(x: Index, y: Index) -> Truth:
        obeyed = laws(of, big.buffer(x, y), of.generate_message(big.location(x)))
        return And(others(big, sub_round, x, y), *obeyed.values())

    following = dict(zip(SubRound, (*list(SubRound)[1:], SubRound.SCHEDULE), strict=True))[sub_round]
    hypotheses += [_same(big, small, x, y) for x, y in pairs]
    hypotheses += [*_allowed(small_step, pairs, constraint), of.is_kind(of.crashed, Kind.CRASHED)]
    hypotheses += [everywhere(p, q), everywhere(q, p)]
    conclusions = _to_show(step, constraint, [("p, q", p, q)])
    if constraint is None:
        for names, x, y in named:
            conclusions |= _compared(step.after, small_step.after, x, y, names)
        conclusions["the others rest"] = others(step.after, following, p, q)
    return Claimed(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(
            processes >= 3,
            Not(inside(p)),
            inside(q),
            _something_happens(rounds, of, sub_round, small, small_chosen, members[0]),
        ),
        (
            System("N processes", None, big, chosen, step.after, step.rules),
            System("small", members, small, small_chosen, small_step.after, small_step.rules),
        ),
        of,
        sub_round,
        everywhere,
    )
