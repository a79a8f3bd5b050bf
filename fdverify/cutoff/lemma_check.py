"""Decision of the lemmas: each is proved for every N and every template, or refuted by two systems that disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import z3

from fdverify.cutoff.function_vocabulary import ModelVocabulary, SymbolicVocabulary
from fdverify.cutoff.lemmas import Lemma, LemmaStatement, LemmaSystem, list_lemmas
from fdverify.cutoff.round_agreement import check_round_sources, compare_rounds
from fdverify.cutoff.rounds import CONSTRAINTS, OF_ONE, OF_TWO, Kind, Rounds, SubRound
from fdverify.errors import InternalError
from fdverify.logic import And, Implies, Not, Or, Truth
from fdverify.smt.decide import decide_script
from fdverify.smt.print_terms import print_assertions
from fdverify.smt.script import Script, render_standalone_script
from fdverify.smt.second_opinion import decide_with_solver
from fdverify.symbolic.values import Int, lift_truth
from fdverify.verdict import Verdict

_CHOSEN: Mapping[SubRound | None, tuple[str, ...]] = {
    SubRound.SCHEDULE: ("crash", "schedule"),
    SubRound.RECEIVE: ("delivered",),
}
"""The choices that are made in each sub-round."""
_FEW = 3
"""The largest number of processes in a counterexample."""


@dataclass(frozen=True)
class CounterexampleRow:
    """A row of a counterexample: a process and a peer, with their parts as text, before and after the step."""

    process: str
    peer: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    chosen: Mapping[str, str]

    WRITTEN = ("process", "peer", "chosen", "before", "after")


@dataclass(frozen=True)
class CounterexampleSystem:
    name: str
    processes: tuple[CounterexampleRow, ...]


@dataclass(frozen=True)
class Disagreement:
    """A counterexample to a lemma: two systems that should agree, in a step after which they do not."""

    processes: int
    indexes: Mapping[str, int]
    differ: tuple[str, ...]
    systems: tuple[CounterexampleSystem, ...]


@dataclass(frozen=True)
class LemmaResult:
    """A lemma with its verdict."""

    name: str
    paper: str
    says: str
    verdict: Verdict
    seconds: float
    detail: str = ""
    second_opinion: str | None = None
    """The second solver's answer, if one was asked."""
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
class CarriedProof:
    """A proof about sender and receiver, and its conjuncts that are false or undecided in the initial state of a pair.

    ``until_crash``: the proof carries over only while the watched process is correct.
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
    def holds_at_start(self) -> bool:
        return not self.false_at_start and not self.undecided_at_start


def check_lemmas(rounds: Rounds, second: str | None, report: Callable[[LemmaResult], None]) -> None:
    """Decide all lemmas about these rounds, after checking that the rounds mean the same on numbers and on symbols."""
    check_round_sources(rounds)
    compare_rounds(rounds)
    for lemma in list_lemmas():
        report(check_lemma(lemma, rounds, second))


def check_lemma(lemma: Lemma, rounds: Rounds, second: str | None = None) -> LemmaResult:
    start = perf_counter()
    claimed = lemma.build_statement(rounds, SymbolicVocabulary())
    hypotheses = [lift_truth(hypothesis) for hypothesis in claimed.hypotheses]
    negated = lift_truth(Not(And(*claimed.conclusions.values())))
    result = LemmaResult(lemma.name, lemma.paper, lemma.says, Verdict.PROVED, 0.0)
    result = decide_lemma(result, hypotheses, negated, lift_truth(claimed.nonvacuity), second)
    if result.verdict is Verdict.VIOLATED:
        result = _add_counterexample(result, lemma, rounds, claimed, [*hypotheses, negated])
    return replace(result, seconds=perf_counter() - start)


def decide_lemma(
    result: LemmaResult, hypotheses: Sequence[Any], negated: Any, witness: Any, second: str | None
) -> LemmaResult:
    """Decide a lemma and return the result with its verdict.

    It is proved if the hypotheses contradict the negated conclusion, and vacuous if they also contradict ``witness``.
    """
    script = _build_script(result.name, hypotheses, negated)
    decision = decide_script(script, core=False)
    if decision.status == "sat":
        return replace(result, verdict=Verdict.VIOLATED)
    if decision.status == "unknown":
        reason = decision.reason or "Z3 gives no reason"
        return replace(result, verdict=Verdict.UNKNOWN, detail=reason, undecided=render_standalone_script(script))
    satisfiable = decide_script(_build_script(f"{result.name} says something", hypotheses, witness), core=False)
    if satisfiable.status == "unsat":
        return replace(result, verdict=Verdict.VACUOUS, detail="no case of interest satisfies its hypotheses")
    if satisfiable.status != "sat":
        return replace(
            result,
            verdict=Verdict.UNKNOWN,
            detail="it is not known whether a case of interest satisfies its hypotheses",
        )
    if second is None:
        return result
    opinion = decide_with_solver(script, second)
    if opinion.status == "sat":
        raise InternalError(f"Z3 proves {result.name}, and {second} refutes it")
    if opinion.status == "unknown":
        reason = f"{second} does not know: {opinion.reason}"
        return replace(
            result,
            verdict=Verdict.UNKNOWN,
            detail=reason,
            second_opinion="unknown",
            undecided=render_standalone_script(script),
        )
    return replace(result, second_opinion="agrees")


def _build_script(title: str, hypotheses: Sequence[Any], negated: Any) -> Script:
    *assumed, last = print_assertions([*hypotheses, negated])
    return Script(title, (), tuple(assumed), last)


def _add_counterexample(
    result: LemmaResult, lemma: Lemma, rounds: Rounds, claimed: LemmaStatement, formulas: Iterable[Any]
) -> LemmaResult:
    """Add a counterexample, evaluated without the solver; without one, the verdict is unknown."""
    # A fresh context makes the model independent of earlier computations.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.add(*(formula.translate(context) for formula in formulas))
    # The lemma's hypotheses are instantiated for a few indexes only, so a model of them may be spurious.  Here the
    # hypotheses are assumed for all indexes.
    solver.add(lift_truth(claimed.processes <= _FEW).translate(context))
    for p, q in product(range(1, _FEW + 1), repeat=2):
        inside = And(p <= claimed.processes, q <= claimed.processes)
        everywhere = lift_truth(Implies(inside, claimed.everywhere(Int(z3.IntVal(p)), Int(z3.IntVal(q)))))
        solver.add(everywhere.translate(context))
    if solver.check(lift_truth(_state_realism(claimed)).translate(context)) != z3.sat and solver.check() != z3.sat:
        reason = f"it is not proved, and no system of {_FEW} processes or fewer refutes it"
        return replace(result, verdict=Verdict.UNKNOWN, detail=reason)
    evaluated = lemma.build_statement(rounds, ModelVocabulary(solver.model().translate(z3.main_ctx())))
    differ = tuple(name for name, holds in evaluated.conclusions.items() if not holds)
    indexes = range(1, evaluated.processes + 1)
    assumed = [evaluated.everywhere(p, q) for p, q in product(indexes, repeat=2)]
    if not all((*evaluated.hypotheses, *assumed)) or not differ:
        return replace(result, verdict=Verdict.UNKNOWN, detail="the model that Z3 gives is not a counterexample")
    names = _ModelNames(evaluated)
    disagreement = Disagreement(
        evaluated.processes,
        evaluated.marked,
        differ,
        tuple(_describe_system(evaluated, system, names) for system in evaluated.systems),
    )
    detail = f"it fails in {', '.join(differ)}"
    return replace(result, verdict=Verdict.VIOLATED, detail=detail, disagreement=disagreement)


def _state_realism(claimed: LemmaStatement) -> Truth:
    """State what makes a counterexample realistic: proper locations, nobody idle, and a first step that is allowed."""
    interpretation, first = claimed.interpretation, claimed.systems[0]
    marked = list(claimed.marked.values())
    rules = [rule for name, rule in first.rules.items() if name not in CONSTRAINTS]
    locations = [first.before.location(p) for p in marked]
    crashed = interpretation.crashed
    working = [Or(*(interpretation.is_kind(at, kind) for kind in Kind if kind is not Kind.CRASHED)) for at in locations]
    return And(
        interpretation.is_kind(crashed, Kind.CRASHED),
        *(Or(at == crashed, works) for at, works in zip(locations, working, strict=True)),
        *(Not(interpretation.next_location(at) == crashed) for at in locations),
        *(first.before.idle(p) == 0 for p in marked),
        *(rule(p, q) for rule in rules for p in marked for q in marked),
    )


class _ModelNames:
    """Names for the numbers of a model: values become v0, v1, … in order of appearance; b, m and l likewise."""

    def __init__(self, claimed: LemmaStatement) -> None:
        self._of = claimed.interpretation
        self._known: dict[str, dict[int, str]] = {
            "b": {claimed.interpretation.no_transit: "empty"},
            "m": {claimed.interpretation.no_messages: "none"},
            "v": {},
            "l": {},
        }

    def name_value(self, part: str, value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if part == "idle":
            return str(value)
        if part == "location":
            known = self._known["l"]
            name = known.setdefault(value, f"l{len(known)}")
            return "crashed" if value == self._of.crashed else f"{self._of.name_kind(value)} {name}"
        letter = {"received": "m", "value": "v"}.get(part, "b")
        known = self._known[letter]
        return known.setdefault(value, f"{letter}{len(known)}")


def _describe_system(claimed: LemmaStatement, system: LemmaSystem, names: _ModelNames) -> CounterexampleSystem:
    members = range(1, claimed.processes + 1) if system.members is None else sorted(set(system.members))

    def describe_process(process: int) -> str:
        roles = [name for name, index in claimed.marked.items() if index == process]
        return f"{process} ({', '.join(roles)})" if roles else str(process)

    def describe_parts(c: Any, p: int, q: int) -> dict[str, str]:
        if c is None:
            return {}
        of_one = {part: names.name_value(part, getattr(c, part)(p)) for part in OF_ONE}
        return of_one | {part: names.name_value(part, getattr(c, part)(p, q)) for part in OF_TWO}

    rows = []
    for p in members:
        for q in members:
            chosen = {}
            if system.chosen is not None:
                choices = {
                    "crash": system.chosen.crash(p),
                    "schedule": system.chosen.schedule(p),
                    "delivered": system.chosen.delivered(q, p),
                }
                chosen = {part: names.name_value(part, choices[part]) for part in _CHOSEN.get(claimed.sub_round, ())}
            rows.append(
                CounterexampleRow(
                    describe_process(p),
                    describe_process(q),
                    describe_parts(system.before, p, q),
                    describe_parts(system.after, p, q),
                    chosen,
                )
            )
    return CounterexampleSystem(system.name, tuple(rows))
