"""Deciding the lemmas: proved for every number of processes and every template, or two systems that disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import z3

from fdverify.cutoff.agreement import compare_rounds
from fdverify.cutoff.lemmas import Claimed, Lemma, System, lemmas
from fdverify.cutoff.round_sources import check_round_sources
from fdverify.cutoff.rounds import CONSTRAINTS, OF_ONE, OF_TWO, Kind, Rounds, SubRound
from fdverify.cutoff.vocabulary import ModelValues, Symbols
from fdverify.errors import InternalError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.smt.decide import decide
from fdverify.smt.script import Script, printed, self_contained
from fdverify.smt.second import second_opinion
from fdverify.symbolic.values import Int, truth
from fdverify.verdict import Verdict

_CHOSEN: Mapping[SubRound | None, tuple[str, ...]] = {
    SubRound.SCHEDULE: ("crash", "schedule"),
    SubRound.RECEIVE: ("delivered",),
}
"""What is chosen in each sub-round."""
_FEW = 3
"""Counterexamples have at most so many processes."""


@dataclass(frozen=True)
class ShownProcess:
    """A process of a system in a counterexample, and what concerns it and a peer: texts, before and after."""

    process: str
    peer: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    chosen: Mapping[str, str]

    WRITTEN = ("process", "peer", "chosen", "before", "after")


@dataclass(frozen=True)
class ShownSystem:
    name: str
    processes: tuple[ShownProcess, ...]


@dataclass(frozen=True)
class Disagreement:
    """Two systems that a lemma says go together, in a step in which they do not."""

    processes: int
    indexes: Mapping[str, int]
    differ: tuple[str, ...]
    systems: tuple[ShownSystem, ...]


@dataclass(frozen=True)
class Checked:
    """A lemma, and what came of it."""

    name: str
    paper: str
    says: str
    verdict: Verdict
    seconds: float
    detail: str = ""
    second_opinion: str | None = None
    """What the second solver said, if it was asked."""
    disagreement: Disagreement | None = None
    undecided: str | None = None
    """The SMT-LIB text that a solver could not decide."""
    smtlib: Path | None = None
    """Where that text is kept."""

    WRITTEN = (
        "name",
        "paper",
        "says",
        "verdict",
        "detail",
        "seconds",
        "second_opinion",
        "smtlib",
        "disagreement",
    )


@dataclass(frozen=True)
class Carried:
    """A proof, and the conjuncts of it that are false, or not decided, where two processes start.

    ``until_crash``: only while the process that is watched is correct.
    """

    proof: str
    goal: str
    false_at_start: tuple[str, ...]
    undecided_at_start: tuple[str, ...]
    until_crash: bool
    carries_over: bool = False
    """Whether it is one for N processes: all lemmas hold, and its conjuncts where two processes start."""

    WRITTEN = ("proof", "goal", "carries_over", "until_crash", "false_at_start", "undecided_at_start")

    @property
    def is_of_two_processes(self) -> bool:
        return not self.false_at_start and not self.undecided_at_start


def check_lemmas(rounds: Rounds, second: str | None, report: Callable[[Checked], None]) -> None:
    """All lemmas about these rounds, which must mean the same of numbers and of symbols."""
    check_round_sources(rounds)
    compare_rounds(rounds)
    for lemma in lemmas():
        report(check_lemma(lemma, rounds, second))


def check_lemma(lemma: Lemma, rounds: Rounds, second: str | None = None) -> Checked:
    begun = perf_counter()
    claimed = lemma.spelled(rounds, Symbols())
    hypotheses = [truth(each) for each in claimed.hypotheses]
    negated = truth(Not(And(*claimed.conclusions.values())))
    found = Checked(lemma.name, lemma.paper, lemma.says, Verdict.PROVED, 0.0)
    found = decided(found, hypotheses, negated, truth(claimed.interesting), second)
    if found.verdict is Verdict.VIOLATED:
        found = _refuted(found, lemma, rounds, claimed, [*hypotheses, negated])
    return replace(found, seconds=perf_counter() - begun)


def decided(found: Checked, hypotheses: Sequence[Any], negated: Any, possible: Any, second: str | None) -> Checked:
    """The same with a verdict: whether the hypotheses exclude what is negated, and allow what is to be possible."""
    script = _script(found.name, hypotheses, negated)
    decision = decide(script, core=False)
    if decision.status == "sat":
        return replace(found, verdict=Verdict.VIOLATED)
    if decision.status == "unknown":
        why = decision.reason or "Z3 gives no reason"
        return replace(found, verdict=Verdict.UNKNOWN, detail=why, undecided=self_contained(script))
    meant = decide(_script(f"{found.name} says something", hypotheses, possible), core=False)
    if meant.status != "sat":
        verdict = Verdict.VACUOUS if meant.status == "unsat" else Verdict.UNKNOWN
        return replace(found, verdict=verdict, detail="what is assumed cannot be, or is not known to be possible")
    if second is None:
        return found
    opinion = second_opinion(script, second)
    if opinion.status == "sat":
        raise InternalError(f"Z3 proves {found.name}, and {second} refutes it")
    if opinion.status == "unknown":
        why = f"{second} does not know: {opinion.reason}"
        return replace(
            found, verdict=Verdict.UNKNOWN, detail=why, second_opinion="unknown", undecided=self_contained(script)
        )
    return replace(found, second_opinion="agrees")


def _script(title: str, hypotheses: Sequence[Any], negated: Any) -> Script:
    *assumed, last = printed([*hypotheses, negated])
    return Script(title, (), tuple(assumed), last)


def _refuted(found: Checked, lemma: Lemma, rounds: Rounds, claimed: Claimed, formulas: Iterable[Any]) -> Checked:
    """The lemma with a counterexample that was evaluated without the solver."""
    # In a context of its own, the model does not depend on what else was computed before.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.add(*(formula.translate(context) for formula in formulas))
    # Only here is everything that is assumed of all indexes assumed: what is not proved need not be false.
    solver.add(truth(claimed.processes <= _FEW).translate(context))
    for p, q in product(range(1, _FEW + 1), repeat=2):
        inside = And(p <= claimed.processes, q <= claimed.processes)
        everywhere = truth(Implies(inside, claimed.everywhere(Int(z3.IntVal(p)), Int(z3.IntVal(q)))))
        solver.add(everywhere.translate(context))
    if solver.check(truth(_readable(claimed)).translate(context)) != z3.sat and solver.check() != z3.sat:
        why = f"it is not proved, and no system of {_FEW} processes or fewer refutes it"
        return replace(found, verdict=Verdict.UNKNOWN, detail=why)
    evaluated = lemma.spelled(rounds, ModelValues(solver.model().translate(z3.main_ctx())))
    differ = tuple(name for name, holds in evaluated.conclusions.items() if not holds)
    indexes = range(1, evaluated.processes + 1)
    assumed = [evaluated.everywhere(p, q) for p, q in product(indexes, repeat=2)]
    if not all((*evaluated.hypotheses, *assumed)) or not differ:
        return replace(found, verdict=Verdict.UNKNOWN, detail="the model that Z3 gives is no counterexample")
    names = _Names(evaluated)
    shown = Disagreement(
        evaluated.processes,
        evaluated.marked,
        differ,
        tuple(_shown(evaluated, system, names) for system in evaluated.systems),
    )
    detail = f"it fails in {', '.join(differ)}"
    return replace(found, verdict=Verdict.VIOLATED, detail=detail, disagreement=shown)


def _readable(claimed: Claimed) -> Truth:
    """What makes a counterexample look like one of a real system: locations are such, and its first step is allowed."""
    of, first = claimed.of, claimed.systems[0]
    marked = list(claimed.marked.values())
    rules = [rule for name, rule in first.rules.items() if name not in CONSTRAINTS]
    before = [first.before.location(p) for p in marked]
    working = [Or(*(of.is_kind(at, kind) for kind in Kind if kind is not Kind.CRASHED)) for at in before]
    return And(
        of.is_kind(of.crashed, Kind.CRASHED),
        *(Or(at == of.crashed, works) for at, works in zip(before, working, strict=True)),
        *(Not(of.next_location(at) == of.crashed) for at in before),
        *(first.before.idle(p) == 0 for p in marked),
        *(rule(p, q) for rule in rules for p in marked for q in marked),
    )


class _Names:
    """Words for the numbers of a model: values v0, v1, …, and so buffers, messages and locations, as they appear."""

    def __init__(self, claimed: Claimed) -> None:
        self._of = claimed.of
        self._known: dict[str, dict[int, str]] = {
            "b": {claimed.of.no_transit: "empty"},
            "m": {claimed.of.no_messages: "none"},
            "v": {},
            "l": {},
        }

    def word(self, part: str, value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if part == "idle":
            return str(value)
        if part == "location":
            known = self._known["l"]
            name = known.setdefault(value, f"l{len(known)}")
            return "crashed" if value == self._of.crashed else f"{self._of.kind(value)} {name}"
        letter = {"received": "m", "value": "v"}.get(part, "b")
        known = self._known[letter]
        return known.setdefault(value, f"{letter}{len(known)}")


def _shown(claimed: Claimed, system: System, names: _Names) -> ShownSystem:
    members = range(1, claimed.processes + 1) if system.members is None else sorted(set(system.members))

    def called(process: int) -> str:
        roles = [name for name, index in claimed.marked.items() if index == process]
        return f"{process} ({', '.join(roles)})" if roles else str(process)

    def parts(c: Any, p: int, q: int) -> dict[str, str]:
        if c is None:
            return {}
        of_one = {part: names.word(part, getattr(c, part)(p)) for part in OF_ONE}
        return of_one | {part: names.word(part, getattr(c, part)(p, q)) for part in OF_TWO}

    rows = []
    for p in members:
        for q in members:
            chosen = {}
            if system.chosen is not None:
                made = {
                    "crash": system.chosen.crash(p),
                    "schedule": system.chosen.schedule(p),
                    "delivered": system.chosen.delivered(q, p),
                }
                chosen = {part: names.word(part, made[part]) for part in _CHOSEN.get(claimed.sub_round, ())}
            rows.append(
                ShownProcess(called(p), called(q), parts(system.before, p, q), parts(system.after, p, q), chosen)
            )
    return ShownSystem(system.name, tuple(rows))
