"""What the cutoff says, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from fdverify.cutoff.answer import Answer, Explored, Question
from fdverify.cutoff.catalogue import DEFAULT_VARIANT
from fdverify.cutoff.check import Carried, Checked, Disagreement, ShownSystem
from fdverify.cutoff.formula import Shape
from fdverify.reports.safe_text import Text
from fdverify.reports.table import as_text, cell, print_verdict
from fdverify.verdict import Verdict

_GROUPS = {
    "symmetry": "swapping two indexes makes steps of steps",
    "projection-2": "a step of N, seen at two indexes, is a step of two",
    "extension-2": "a step of two is a step of N, the others crashed",
    "projection-1": "a step of N, seen at one index, is a step of one",
    "extension-1": "a step of one is a step of N, the others crashed",
    "waiting-time-cap": "the waiting time may stop at the timeout",
    "simulation-other": "a round of two is a round of sender and receiver",
    "simulation-self": "a round of one is a round of sender and receiver",
}


def cutoff_text(
    question: Question, shapes: Mapping[str, Shape], found: Answer, kept: Mapping[str, str], seconds: float
) -> str:
    return as_text(lambda console: _print(console, question, shapes, found, kept, seconds))


def _print(
    console: Console,
    question: Question,
    shapes: Mapping[str, Shape],
    found: Answer,
    kept: Mapping[str, str],
    seconds: float,
) -> None:
    for checked in found.checked:
        if checked.disagreement is not None:
            _print_disagreement(console, checked, checked.disagreement)
            break  # the first is enough to see what is wrong
    if found.checked:
        console.print(_lemmas(found.checked, question.second))
    for checked in found.checked:
        if checked.verdict is not Verdict.PROVED:
            print_verdict(console, checked.verdict, checked.detail, f"{checked.name}: ")
        if checked.name in kept:
            console.print(Text(f"  its SMT-LIB text is kept in {kept[checked.name]}"), soft_wrap=True)
    if found.carried and found.verdict is Verdict.PROVED:
        _print_carried(console, found.carried, str(question.options.get("variant", DEFAULT_VARIANT)))
    for explored in found.explored:
        _print_explored(console, question, shapes[explored.claim], explored)
    if found.verdict is Verdict.PROVED:
        for words in dict.fromkeys(map(told, shapes.values())):
            names = [name for name, shape in shapes.items() if told(shape) == words]
            console.print(Text(f"{', '.join(names)}: {words}"), soft_wrap=True)
    print_verdict(console, found.verdict, verdict_in_words(found))
    console.print(
        Text(f"{question.template}, {len(found.checked)} lemmas, {seconds:.1f} s", style="dim"), soft_wrap=True
    )


def told(shape: Shape) -> str:
    """For which N what follows from which, by the shape of a property."""
    if len(shape.indexes) == 1:
        return "of one index: it holds for every N >= 1 if and only if it holds for N = 1"
    return (
        "of two indexes: it holds of different processes for every N >= 2 if and only if it does for N = 2, and of "
        "each process with itself for every N >= 1 if and only if it does for N = 1"
    )


def verdict_in_words(found: Answer) -> str:
    match found.verdict:
        case Verdict.PROVED:
            return "one process and two tell of every number of processes"
        case Verdict.VIOLATED:
            return "these are not rounds of a symmetric point-to-point algorithm: nothing is said of N processes"
        case Verdict.VACUOUS:
            return "a lemma says nothing"
        case _:
            return found.lost or "a lemma is not decided"


def _lemmas(found: Sequence[Checked], second: str | None) -> Table:
    table = Table()
    for heading in ("lemma", "in the paper", "says", "proved", *((second,) if second else ()), "seconds"):
        right = heading in ("proved", "seconds", second)
        table.add_column(Text(heading), justify="right" if right else "left")
    for name, group in groupby(found, key=lambda checked: checked.name.partition(".")[0]):
        checked = list(group)
        proved = sum(each.verdict is Verdict.PROVED for each in checked)
        agreed = sum(each.second == "agrees" for each in checked)
        table.add_row(
            Text(name),
            Text(checked[0].paper),
            Text(_GROUPS[name]),
            f"{proved} of {len(checked)}",
            *((f"{agreed} of {proved}",) if second else ()),
            f"{sum(each.seconds for each in checked):.2f}",
        )
    return table


def _print_carried(console: Console, carried: Sequence[Carried], variant: str) -> None:
    by = f"what verify-invariant --variant {variant} proves with these holds of N processes, for every N >= 1"
    for until_crash, said in ((False, by), (True, f"{by}, until the one that is watched crashes")):
        holds = [each.proof for each in carried if each.is_of_two_processes and each.until_crash is until_crash]
        if holds:
            console.print(Text(f"{said}: {', '.join(holds)}"), soft_wrap=True)
    by_reason: dict[str, list[str]] = {}
    for each in carried:
        if not each.is_of_two_processes:
            by_reason.setdefault(_why_not(each), []).append(each.proof)
    for reason, proofs in by_reason.items():
        said = f"of one sender and one receiver only: {', '.join(proofs)}; where N processes start, {reason}"
        console.print(Text(said), soft_wrap=True)


def _why_not(carried: Carried) -> str:
    if carried.false_at_start:
        return f"{', '.join(carried.false_at_start)} is false"
    return f"whether {', '.join(carried.undecided_at_start)} holds is not decided"


def _print_disagreement(console: Console, checked: Checked, shown: Disagreement) -> None:
    marked = ", ".join(f"{name} = {index}" for name, index in shown.marked.items())
    console.print(Text(f"{checked.name} fails: N = {shown.processes}, {marked}"), soft_wrap=True)
    for system in shown.systems:
        _print_system(console, system)


def _print_system(console: Console, system: ShownSystem) -> None:
    console.print(Text(system.name))
    table = Table()
    first = system.rows[0]
    for heading in ("process", "peer", *first.chosen, *first.before):
        table.add_column(Text(heading))
    for row in system.rows:
        cells = [
            cell(
                console,
                before if not row.after or row.after[part] == before else f"{before} -> {row.after[part]}",
                changed=bool(row.after) and row.after[part] != before,
            )
            for part, before in row.before.items()
        ]
        table.add_row(Text(row.process), Text(row.peer), *(Text(value) for value in row.chosen.values()), *cells)
    console.print(table)


def _print_explored(console: Console, question: Question, shape: Shape, explored: Explored) -> None:
    if explored.rows:
        table = Table()
        for heading in explored.rows[0]:
            table.add_column(Text(heading))
        before = explored.rows[0]
        for number, row in enumerate(explored.rows):
            cells = [
                cell(console, text, changed=name != "round" and text != before[name]) for name, text in row.items()
            ]
            table.add_row(*cells, end_section=number == explored.loop)
            before = row
        console.print(table)
    assert question.small is not None, "only then is anything explored"
    small = question.small
    several = "each process with itself" if explored.equal else "different processes"
    who = "each process" if len(shape.indexes) == 1 else several
    at = "" if not explored.processes else f", here {' and '.join(map(str, dict.fromkeys(explored.processes)))}"
    print_verdict(
        console,
        explored.verdict,
        f"{who}{at}; N = {small.processes}, delta = {small.delta}, phi = {small.phi}, {small.computation}, "
        f"{explored.states} configurations, {explored.rounds} rounds",
        f"{explored.claim}: ",
    )
