"""The cutoff theorem as lemmas about one sub-round, for every number of processes and every template.

A lemma is about arbitrary configurations, which are uninterpreted functions of indexes.  A conclusion about all indexes
is stated for two arbitrary ones, p and q; a hypothesis about all indexes is instantiated for those that matter.  So the
lemmas are free of quantifiers, and solvers decide them.  docs/explanation/cutoff.md explains how they make a theorem
about runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from fdverify.cutoff.function_vocabulary import UninterpretedTemplate, Vocabulary, list_buffer_laws
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
from fdverify.logic import And, If, Iff, Implies, Not, Number, Or, Truth


@dataclass(frozen=True)
class LemmaSystem:
    """A system in a lemma: its configuration before a sub-round, the choices, and the step."""

    name: str
    members: tuple[Index, ...] | None
    """Its processes; ``None`` stands for all."""
    before: Configuration
    chosen: Choices | None
    after: Configuration | None
    rules: Mapping[str, Callable[[Index, Index], Truth]]


@dataclass(frozen=True)
class LemmaStatement:
    """The statement of a lemma: hypotheses, conclusions, and a condition against vacuity."""

    processes: Number
    marked: Mapping[str, Index]
    """The indexes in the statement, by name."""
    hypotheses: tuple[Truth, ...]
    conclusions: Mapping[str, Truth]
    """By a name that says what they are about."""
    nonvacuity: Truth
    """If it contradicts the hypotheses, the lemma is vacuous."""
    systems: tuple[LemmaSystem, LemmaSystem]
    interpretation: UninterpretedTemplate
    sub_round: SubRound | None = None
    everywhere: Callable[[Index, Index], Truth] = lambda p, q: True
    """The hypothesis about all pairs of indexes; ``hypotheses`` has its instances for the pairs that matter."""


@dataclass(frozen=True)
class Lemma:
    """A lemma about a sub-round, or about the initial configuration if ``sub_round`` is ``None``.

    ``constraint`` is the constraint that the lemma shows to be preserved, if it is about one.
    """

    name: str
    paper: str
    says: str
    builder: Builder
    sub_round: SubRound | None
    constraint: str | None
    indexes: int

    def build_statement(self, rounds: Rounds, v: Vocabulary) -> LemmaStatement:
        return self.builder(rounds, v, self.sub_round, self.constraint, self.indexes)


Builder: TypeAlias = Callable[[Rounds, Vocabulary, "SubRound | None", "str | None", int], LemmaStatement]


def list_lemmas() -> list[Lemma]:
    """List all lemmas, in the paper's order."""
    groups = [_build_lemmas("symmetry", "Lemmas 4.6, 4.7", 2, _state_symmetry, "swapping two indexes")]
    for indexes, papers in ((2, ("Lemmas 4.10, 6.3", "Lemmas 4.12, 6.4")), (1, ("Lemma 5.21",) * 2)):
        few = "two indexes" if indexes == 2 else "one index"
        system = "two processes" if indexes == 2 else "one process"
        groups.append(
            _build_lemmas(f"projection-{indexes}", papers[0], indexes, _state_projection, f"projection onto {few}")
        )
        groups.append(
            _build_lemmas(f"extension-{indexes}", papers[1], indexes, _state_extension, f"extension of {system} to N")
        )
    return [lemma for group in groups for lemma in group]


def _build_lemmas(name: str, paper: str, indexes: int, build: Builder, operation: str) -> list[Lemma]:
    """Build the lemmas about an operation: for the initial configuration, each sub-round, and each constraint on it."""
    cases: list[tuple[SubRound | None, str | None]] = [(None, None)]
    for sub_round in SubRound:
        cases += [(sub_round, None), *((at, constraint) for constraint, at in CONSTRAINTS.items() if at is sub_round)]
    return [
        Lemma(
            ".".join(filter(None, (name, sub_round or "start", constraint))),
            paper,
            _describe_lemma(operation, sub_round, constraint),
            build,
            sub_round,
            constraint,
            indexes,
        )
        for sub_round, constraint in cases
    ]


def _describe_lemma(operation: str, sub_round: SubRound | None, constraint: str | None) -> str:
    if sub_round is None:
        return f"{operation} maps initial configurations to initial configurations"
    if constraint is None:
        return f"{operation} maps {sub_round} steps to {sub_round} steps"
    return f"{operation} preserves {constraint} in {sub_round}"


def _declare_indexes(v: Vocabulary, indexes: int) -> tuple[Number, dict[str, Index], list[Truth]]:
    """Declare N, the indexes of the small system (i, or i and j), and the arbitrary p and q; add their ranges."""
    processes = v.make_constant("N")
    marked = {name: v.make_constant(name) for name in (("i", "j") if indexes == 2 else ("i",)) + ("p", "q")}
    inside = [And(index >= 1, index <= processes) for index in marked.values()]
    return processes, marked, [*inside, *([Not(marked["i"] == marked["j"])] if indexes == 2 else [])]


def _equate_configurations(one: Configuration, other: Configuration, p: Index, q: Index) -> Truth:
    return And(*_equate_parts(one, other, p, q, "").values())


def _equate_parts(one: Configuration, other: Configuration, p: Index, q: Index, names: str) -> dict[str, Truth]:
    """State, part by part, that two configurations agree on p and on the pair p, q; ``names`` names the two."""
    first = names.partition(", ")[0]
    return {
        **{f"{part}({first})": _equate_values(getattr(one, part)(p), getattr(other, part)(p)) for part in OF_ONE},
        **{f"{part}({names})": _equate_values(getattr(one, part)(p, q), getattr(other, part)(p, q)) for part in OF_TWO},
    }


def _list_named_pairs(marked: Mapping[str, Index], indexes: int) -> list[tuple[str, Index, Index]]:
    """List the pairs of the small system, with their names."""
    members = list(marked.items())[:indexes]
    return [(f"{one}, {other}", p, q) for (one, p), (other, q) in product(members, repeat=2)]


def _equate_values(one: Truth | Number, other: Truth | Number) -> Truth:
    return other == one if isinstance(one, bool | int) else one == other


def _equate_choices(one: Choices, other: Choices, p: Index, q: Index) -> Truth:
    return And(
        Iff(one.crash(p), other.crash(p)),
        Iff(one.schedule(p), other.schedule(p)),
        one.delivered(p, q) == other.delivered(p, q),
    )


def _rename_configuration(c: Configuration, name: Callable[[Index], Index]) -> Configuration:
    """Apply a map of indexes to the arguments of a configuration's functions."""

    def rename_part(part: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *indexes: part(*(name(index) for index in indexes))

    parts: dict[str, Any] = {part: rename_part(getattr(c, part)) for part in (*OF_ONE, *OF_TWO)}
    return replace(c, **parts)


def _rename_choices(c: Choices, name: Callable[[Index], Index]) -> Choices:
    return Choices(
        crash=lambda p: c.crash(name(p)),
        schedule=lambda p: c.schedule(name(p)),
        delivered=lambda p, q: c.delivered(name(p), name(q)),
    )


def _state_symmetry(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> LemmaStatement:
    """State that a step of the swapped configuration, under the swapped choices, is the swapped step, rule for rule."""
    interpretation = UninterpretedTemplate(v)
    processes, marked, hypotheses = _declare_indexes(v, indexes)
    i, j, p, q = marked.values()

    def swap_indexes(k: Index) -> Index:
        return If(k == i, j, If(k == j, i, k))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    if sub_round is None:
        begin = rounds.begin(interpretation, some)
        conclusions = {
            **_equate_parts(begin, _rename_configuration(begin, swap_indexes), p, q, "p, q"),
            "swapping is its own inverse": swap_indexes(swap_indexes(p)) == p,
            "it stays among the processes": And(swap_indexes(p) >= 1, swap_indexes(p) <= processes),
        }
        systems = (
            _build_initial_system("as it is", None, begin),
            _build_initial_system("i and j swapped", None, _rename_configuration(begin, swap_indexes)),
        )
        return LemmaStatement(
            processes, marked, tuple(hypotheses), conclusions, processes >= 3, systems, interpretation
        )
    before, chosen = v.make_configuration("before", some), v.make_choices("chosen")
    one = rounds.step(sub_round, interpretation, before, chosen)
    renamed, choices = _rename_configuration(before, swap_indexes), _rename_choices(chosen, swap_indexes)
    other = rounds.step(sub_round, interpretation, renamed, choices)
    wanted = [name for name in one.rules if (name not in CONSTRAINTS if constraint is None else name == constraint)]
    conclusions = {
        f"rule {name}(p, q)": Iff(other.rules[name](p, q), one.rules[name](swap_indexes(p), swap_indexes(q)))
        for name in wanted
    }
    if constraint is None:
        conclusions |= _equate_parts(other.after, _rename_configuration(one.after, swap_indexes), p, q, "p, q")
    return LemmaStatement(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(
            processes >= 3,
            _state_progress(rounds, interpretation, sub_round, before, chosen, i),
            *_instantiate_rules(one, [(i, j)]),
        ),
        (
            LemmaSystem("as it is", None, before, chosen, one.after, one.rules),
            LemmaSystem("i and j swapped", None, renamed, choices, other.after, other.rules),
        ),
        interpretation,
        sub_round,
    )


def _build_initial_system(name: str, members: tuple[Index, ...] | None, begin: Configuration) -> LemmaSystem:
    return LemmaSystem(name, members, begin, None, None, {})


def _state_progress(
    rounds: Rounds,
    interpretation: UninterpretedTemplate,
    sub_round: SubRound,
    c: Configuration,
    chosen: Choices,
    p: Index,
) -> Truth:
    """State that a process crashes or moves: a lemma must not be vacuous because nothing happens."""
    if sub_round is SubRound.SCHEDULE:
        return chosen.crash(p)
    return Not(_equate_values(rounds.step(sub_round, interpretation, c, chosen).after.active(p), c.active(p)))


def _instantiate_rules(step: Step, pairs: Sequence[tuple[Index, Index]], also: str | None = None) -> list[Truth]:
    """Instantiate the rules of a step for these pairs; of the constraints, only the one that is named."""
    rules = [rule for name, rule in step.rules.items() if name not in CONSTRAINTS or name == also]
    return [rule(p, q) for rule in rules for p, q in pairs]


def _instantiate_conclusions(
    step: Step, constraint: str | None, pairs: Sequence[tuple[str, Index, Index]]
) -> dict[str, Truth]:
    """Instantiate the rules that a lemma is about, for these pairs: one constraint, or all rules but constraints."""
    return {
        f"rule {name}({names})": rule(p, q)
        for name, rule in step.rules.items()
        for names, p, q in pairs
        if (name not in CONSTRAINTS if constraint is None else name == constraint)
    }


def _make_small_some(members: Sequence[Index]) -> Callable[[Callable[[Index], Truth]], Truth]:
    return lambda claim: Or(*(claim(member) for member in members))


def _state_projection(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> LemmaStatement:
    """State that a step of N processes, restricted to a few of them, is a step of the system of those few."""
    interpretation = UninterpretedTemplate(v)
    processes, marked, hypotheses = _declare_indexes(v, indexes)
    members, named = tuple(marked.values())[:indexes], _list_named_pairs(marked, indexes)
    pairs = list(product(members, repeat=2))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    if sub_round is None:
        big, small = rounds.begin(interpretation, some), rounds.begin(interpretation, _make_small_some(members))
        conclusions: dict[str, Truth] = {}
        for names, p, q in named:
            conclusions |= _equate_parts(big, small, p, q, names)
        systems = (_build_initial_system("N processes", None, big), _build_initial_system("small", members, small))
        return LemmaStatement(
            processes, marked, tuple(hypotheses), conclusions, processes >= 3, systems, interpretation
        )
    big, small = v.make_configuration("big", some), v.make_configuration("small", _make_small_some(members))
    big_chosen, small_chosen = v.make_choices("big"), v.make_choices("small")
    step, small_step = (
        rounds.step(sub_round, interpretation, big, big_chosen),
        rounds.step(sub_round, interpretation, small, small_chosen),
    )
    hypotheses += [_equate_configurations(big, small, p, q) for p, q in pairs]
    hypotheses += [_equate_choices(big_chosen, small_chosen, p, q) for p, q in pairs]
    hypotheses += _instantiate_rules(step, pairs, constraint)
    conclusions = _instantiate_conclusions(small_step, constraint, named)
    if constraint is None:
        for names, p, q in named:
            conclusions |= _equate_parts(step.after, small_step.after, p, q, names)
    return LemmaStatement(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(processes >= 3, _state_progress(rounds, interpretation, sub_round, big, big_chosen, members[0])),
        (
            LemmaSystem("N processes", None, big, big_chosen, step.after, step.rules),
            LemmaSystem("small", members, small, small_chosen, small_step.after, small_step.rules),
        ),
        interpretation,
        sub_round,
        lambda x, y: And(*_instantiate_rules(step, [(x, y)], constraint)),
    )


def _state_extension(
    rounds: Rounds, v: Vocabulary, sub_round: SubRound | None, constraint: str | None, indexes: int
) -> LemmaStatement:
    """State that a step of a few processes is a step of N, in which the others crash and their messages are delivered.

    Between rounds the others may be anywhere.  After Schedule they have crashed, and the buffers to them are empty
    until the next Send.  Each of these facts is a conclusion about one sub-round and a hypothesis about the next.
    """
    if sub_round is None:
        start = _state_projection(rounds, v, sub_round, constraint, indexes)
        inactive = Not(start.systems[0].before.active(start.marked["p"]))
        return replace(start, conclusions={**start.conclusions, "the others are inactive": inactive})
    interpretation = UninterpretedTemplate(v)
    processes, marked, hypotheses = _declare_indexes(v, indexes)
    members, (p, q) = tuple(marked.values())[:indexes], tuple(marked.values())[indexes:]
    named = _list_named_pairs(marked, indexes)
    pairs = list(product(members, repeat=2))

    def is_inside(index: Index) -> Truth:
        return Or(*(index == member for member in members))

    def some(claim: Callable[[Index], Truth]) -> Truth:
        return v.some(processes, claim)

    big, small = v.make_configuration("big", some), v.make_configuration("small", _make_small_some(members))
    small_chosen = v.make_choices("small")
    chosen = Choices(
        crash=lambda k: If(is_inside(k), small_chosen.crash(k), Not(big.location(k) == interpretation.crashed)),
        schedule=lambda k: And(is_inside(k), small_chosen.schedule(k)),
        delivered=lambda s, r: If(And(is_inside(s), is_inside(r)), small_chosen.delivered(s, r), big.buffer(s, r)),
    )
    step, small_step = (
        rounds.step(sub_round, interpretation, big, chosen),
        rounds.step(sub_round, interpretation, small, small_chosen),
    )

    def state_others(c: Configuration, coming: SubRound, k: Index, sender: Index) -> Truth:
        """State what holds of an added process k: inactive; crashed but before Schedule; empty buffers before Send."""
        crashed = Or(coming is SubRound.SCHEDULE, c.location(k) == interpretation.crashed)
        empty = Or(coming is not SubRound.SEND, c.buffer(sender, k) == interpretation.no_transit)
        return Implies(Not(is_inside(k)), And(Not(c.active(k)), crashed, empty))

    def state_for_pair(x: Index, y: Index) -> Truth:
        assumed = list_buffer_laws(interpretation, big.buffer(x, y), interpretation.generate_message(big.location(x)))
        return And(state_others(big, sub_round, x, y), *assumed.values())

    following = dict(zip(SubRound, (*list(SubRound)[1:], SubRound.SCHEDULE), strict=True))[sub_round]
    hypotheses += [_equate_configurations(big, small, x, y) for x, y in pairs]
    hypotheses += [
        *_instantiate_rules(small_step, pairs, constraint),
        interpretation.is_kind(interpretation.crashed, Kind.CRASHED),
    ]
    hypotheses += [state_for_pair(p, q), state_for_pair(q, p)]
    conclusions = _instantiate_conclusions(step, constraint, [("p, q", p, q)])
    if constraint is None:
        for names, x, y in named:
            conclusions |= _equate_parts(step.after, small_step.after, x, y, names)
        conclusions["the others rest"] = state_others(step.after, following, p, q)
    return LemmaStatement(
        processes,
        marked,
        tuple(hypotheses),
        conclusions,
        And(
            processes >= 3,
            Not(is_inside(p)),
            is_inside(q),
            _state_progress(rounds, interpretation, sub_round, small, small_chosen, members[0]),
        ),
        (
            LemmaSystem("N processes", None, big, chosen, step.after, step.rules),
            LemmaSystem("small", members, small, small_chosen, small_step.after, small_step.rules),
        ),
        interpretation,
        sub_round,
        state_for_pair,
    )
