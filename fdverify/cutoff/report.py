"""The outcome of ``fdverify cutoff``: the document, and the tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

from rich.console import Console
from rich.table import Table

from fdverify.cutoff.answer import CutoffAnswer, CutoffQuestion, ExploredClaim, SmallSystemBounds
from fdverify.cutoff.indexed_formula import CutoffProperty
from fdverify.cutoff.lemma_check import CarriedProof, CounterexampleSystem, Disagreement, LemmaResult
from fdverify.cutoff.template_catalogue import DEFAULT_VARIANT
from fdverify.reports.documents import Document
from fdverify.reports.outcome import Outcome
from fdverify.reports.safe_text import Text
from fdverify.reports.step_table import print_verdict, render_cell
from fdverify.runs.run_table import ShownRun, ShownStep
from fdverify.verdict import Verdict

_GROUPS = {
    "symmetry": "swapping two indexes maps steps to steps",
    "projection-2": "a step of N, seen at two indexes, is a step of two",
    "extension-2": "a step of two is a step of N, the others crashed",
    "projection-1": "a step of N, seen at one index, is a step of one",
    "extension-1": "a step of one is a step of N, the others crashed",
    "waiting-time-cap": "the waiting time may stop at the timeout",
    "simulation-other": "a round of two is a round of sender and receiver",
    "simulation-self": "a round of one is a round of sender and receiver",
}


@dataclass(frozen=True)
class PropertyCutoff:
    """A property and the numbers of processes that decide it for all N; there are none if a lemma is not proved."""

    name: str
    indexes: tuple[str, ...]
    suffices: tuple[int, ...]
    says: str


@dataclass(frozen=True, kw_only=True)
class CutoffDocument(Document):
    """The result of ``fdverify cutoff``."""

    command: Literal["cutoff"] = "cutoff"
    template: str
    options: Mapping[str, str | int]
    second_opinion: str | None
    verdict: Verdict
    detail: str
    exit_code: int
    seconds: float
    lemmas: tuple[LemmaResult, ...]
    properties: tuple[PropertyCutoff, ...]
    proofs: tuple[CarriedProof, ...]
    small: SmallSystemBounds | None
    explored: tuple[ExploredClaim, ...]


def report_cutoff(
    question: CutoffQuestion, shapes: Mapping[str, CutoffProperty], answer: CutoffAnswer, seconds: float
) -> Outcome:
    proved = answer.verdict is Verdict.PROVED
    document = CutoffDocument(
        template=question.template,
        options=question.options,
        second_opinion=question.second,
        verdict=answer.verdict,
        detail=describe_verdict(answer),
        exit_code=answer.exit_code,
        seconds=seconds,
        lemmas=tuple(answer.checked),
        properties=tuple(
            PropertyCutoff(
                name,
                tuple(shape.indexes),
                tuple(shape.cutoffs) if proved else (),
                describe_cutoff(shape) if proved else "nothing is known about more processes",
            )
            for name, shape in shapes.items()
        ),
        proofs=tuple(replace(each, carries_over=proved and each.holds_at_start) for each in answer.carried),
        small=question.small,
        explored=tuple(answer.explored),
    )
    render = partial(_render_cutoff, question, shapes, answer, seconds)
    return Outcome(answer.exit_code, document, render, tuple(_list_runs(question, answer)))


def _list_runs(question: CutoffQuestion, answer: CutoffAnswer) -> Iterator[ShownRun]:
    """List the runs of small systems that violate a property; their configurations are text."""
    for explored in answer.explored:
        if explored.run:
            small = question.small
            assert small is not None, "only then is anything explored"
            parameters = {"processes": small.processes, "delta": small.delta, "phi": small.phi}
            steps = [
                ShownStep(number, None, {}, {name: text for name, text in row.items() if name != "round"})
                for number, row in enumerate(explored.run)
            ]
            yield ShownRun(parameters, tuple(steps), explored.loop, model=question.template)


def _render_cutoff(
    question: CutoffQuestion,
    shapes: Mapping[str, CutoffProperty],
    answer: CutoffAnswer,
    seconds: float,
    console: Console,
) -> None:
    for checked in answer.checked:
        if checked.disagreement is not None:
            _print_disagreement(console, checked, checked.disagreement)
            break  # the first is enough to see what is wrong
    if answer.checked:
        console.print(_build_lemma_table(answer.checked, question.second))
    for checked in answer.checked:
        if checked.verdict is not Verdict.PROVED:
            print_verdict(console, checked.verdict, checked.detail, f"{checked.name}: ")
        if checked.smtlib is not None:
            console.print(Text(f"  its SMT-LIB text is kept in {checked.smtlib}"), soft_wrap=True)
    if answer.carried and answer.verdict is Verdict.PROVED:
        _print_carried(console, answer.carried, str(question.options.get("variant", DEFAULT_VARIANT)))
    for explored in answer.explored:
        _print_explored(console, question, shapes[explored.property], explored)
    if answer.verdict is Verdict.PROVED:
        for words in dict.fromkeys(map(describe_cutoff, shapes.values())):
            names = [name for name, shape in shapes.items() if describe_cutoff(shape) == words]
            console.print(Text(f"{', '.join(names)}: {words}"), soft_wrap=True)
    print_verdict(console, answer.verdict, describe_verdict(answer))
    console.print(
        Text(f"{question.template}, {len(answer.checked)} lemmas, {seconds:.1f} s", style="dim"), soft_wrap=True
    )


def describe_cutoff(shape: CutoffProperty) -> str:
    """Describe which numbers of processes decide a property of this shape."""
    if len(shape.indexes) == 1:
        return "of one index: it holds for every N >= 1 if and only if it holds for N = 1"
    return (
        "of two indexes: it holds of different processes for every N >= 2 if and only if it does for N = 2, and of "
        "each process with itself for every N >= 1 if and only if it does for N = 1"
    )


def describe_verdict(answer: CutoffAnswer) -> str:
    match answer.verdict:
        case Verdict.PROVED:
            return "one process and two processes decide every number of processes"
        case Verdict.VIOLATED:
            return "these are not rounds of a symmetric point-to-point algorithm: nothing is known about N processes"
        case Verdict.VACUOUS:
            return "a lemma is vacuous"
        case _:
            return answer.lost or "a lemma is not decided"


def _build_lemma_table(results: Sequence[LemmaResult], second: str | None) -> Table:
    table = Table()
    for heading in ("lemma", "in the paper", "says", "proved", *((second,) if second else ()), "seconds"):
        right = heading in ("proved", "seconds", second)
        table.add_column(Text(heading), justify="right" if right else "left")
    for name, group in groupby(results, key=lambda checked: checked.name.partition(".")[0]):
        checked = list(group)
        proved = sum(each.verdict is Verdict.PROVED for each in checked)
        agreed = sum(each.second_opinion == "agrees" for each in checked)
        table.add_row(
            Text(name),
            Text(checked[0].paper),
            Text(_GROUPS[name]),
            f"{proved} of {len(checked)}",
            *((f"{agreed} of {proved}",) if second else ()),
            f"{sum(each.seconds for each in checked):.2f}",
        )
    return table


def _print_carried(console: Console, carried: Sequence[CarriedProof], variant: str) -> None:
    by = f"what verify-invariant --variant {variant} proves with these holds of N processes, for every N >= 1"
    for until_crash, said in ((False, by), (True, f"{by}, until the one that is watched crashes")):
        holds = [each.proof for each in carried if each.holds_at_start and each.until_crash is until_crash]
        if holds:
            console.print(Text(f"{said}: {', '.join(holds)}"), soft_wrap=True)
    by_reason: dict[str, list[str]] = {}
    for each in carried:
        if not each.holds_at_start:
            by_reason.setdefault(_describe_failure(each), []).append(each.proof)
    for reason, proofs in by_reason.items():
        said = f"of one sender and one receiver only: {', '.join(proofs)}; where N processes start, {reason}"
        console.print(Text(said), soft_wrap=True)


def _describe_failure(carried: CarriedProof) -> str:
    if carried.false_at_start:
        return f"{', '.join(carried.false_at_start)} is false"
    return f"whether {', '.join(carried.undecided_at_start)} holds is not decided"


def _print_disagreement(console: Console, checked: LemmaResult, shown: Disagreement) -> None:
    marked = ", ".join(f"{name} = {index}" for name, index in shown.indexes.items())
    console.print(Text(f"{checked.name} fails: N = {shown.processes}, {marked}"), soft_wrap=True)
    for system in shown.systems:
        _print_system(console, system)


def _print_system(console: Console, system: CounterexampleSystem) -> None:
    console.print(Text(system.name))
    table = Table()
    first = system.processes[0]
    for heading in ("process", "peer", *first.chosen, *first.before):
        table.add_column(Text(heading))
    for row in system.processes:
        cells = [
            render_cell(
                console,
                before if not row.after or row.after[part] == before else f"{before} -> {row.after[part]}",
                changed=bool(row.after) and row.after[part] != before,
            )
            for part, before in row.before.items()
        ]
        table.add_row(Text(row.process), Text(row.peer), *(Text(value) for value in row.chosen.values()), *cells)
    console.print(table)


def _print_explored(console: Console, question: CutoffQuestion, shape: CutoffProperty, explored: ExploredClaim) -> None:
    if explored.run:
        table = Table()
        for heading in explored.run[0]:
            table.add_column(Text(heading))
        before = explored.run[0]
        for number, row in enumerate(explored.run):
            cells = [
                render_cell(console, text, changed=name != "round" and text != before[name])
                for name, text in row.items()
            ]
            table.add_row(*cells, end_section=number == explored.loop)
            before = row
        console.print(table)
    assert question.small is not None, "only then is anything explored"
    small = question.small
    several = "each process with itself" if explored.with_itself else "different processes"
    who = "each process" if len(shape.indexes) == 1 else several
    at = "" if not explored.processes else f", here {' and '.join(map(str, dict.fromkeys(explored.processes)))}"
    print_verdict(
        console,
        explored.verdict,
        f"{who}{at}; N = {small.processes}, delta = {small.delta}, phi = {small.phi}, {small.computation}, "
        f"{explored.configurations} configurations, {explored.rounds} rounds",
        f"{explored.property}: ",
    )
