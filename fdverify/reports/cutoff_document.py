"""What the cutoff says, for machines: JSON, as the schema that ships here describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from fdverify import __version__
from fdverify.cutoff.answer import Answer, Explored, Question
from fdverify.cutoff.check import Checked, Disagreement
from fdverify.cutoff.formula import Shape
from fdverify.reports.cutoff import told, verdict_in_words
from fdverify.reports.document import formatted_schema
from fdverify.verdict import Verdict

SCHEMA = Path(__file__).with_name("cutoff_schema.json")


class ProcessEntry(msgspec.Struct):
    """A process and a peer: what concerns them before the step and after it, and what was chosen, in words."""

    process: str
    peer: str
    chosen: dict[str, str]
    before: dict[str, str]
    after: dict[str, str]


class SystemEntry(msgspec.Struct):
    name: str
    processes: list[ProcessEntry]


class DisagreementEntry(msgspec.Struct):
    """Two systems that a lemma says go together, in a step in which they do not."""

    processes: int
    indexes: dict[str, int]
    differ: list[str]
    systems: list[SystemEntry]


class LemmaEntry(msgspec.Struct):
    name: str
    paper: str
    says: str
    verdict: Verdict
    detail: str
    seconds: float
    second_opinion: str | None
    smtlib: str | None
    disagreement: DisagreementEntry | None


class PropertyEntry(msgspec.Struct):
    """A property whose shape fits; ``suffices`` are the numbers of processes that tell of all, if all lemmas hold."""

    name: str
    indexes: list[str]
    suffices: list[int]
    says: str


class CarriedEntry(msgspec.Struct):
    """A proof; with all lemmas it is one for N processes if all its conjuncts hold where they start.

    ``until_crash``: only while the process that is watched is correct.
    """

    proof: str
    goal: str
    carries_over: bool
    until_crash: bool
    false_at_start: list[str]
    undecided_at_start: list[str]


class ExploredEntry(msgspec.Struct):
    """What became of a property in a small system; a run that violates it, and where its loop begins, if it has one."""

    property: str
    with_itself: bool
    verdict: Verdict
    configurations: int
    rounds: int
    processes: list[int]
    run: list[dict[str, str]]
    loop: int | None


class SmallEntry(msgspec.Struct):
    processes: int
    delta: int
    phi: int
    computation: str
    depth: int | None


class CutoffDocument(msgspec.Struct):
    """What `fdverify cutoff` found."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["cutoff"]
    template: str
    options: dict[str, str | int]
    second_opinion: str | None
    verdict: Verdict
    detail: str
    exit_code: int
    seconds: float
    lemmas: list[LemmaEntry]
    properties: list[PropertyEntry]
    proofs: list[CarriedEntry]
    small: SmallEntry | None
    explored: list[ExploredEntry]


def cutoff_document(
    question: Question, shapes: Mapping[str, Shape], found: Answer, kept: Mapping[str, str], seconds: float
) -> str:
    small, proved = question.small, found.verdict is Verdict.PROVED
    document = CutoffDocument(
        tool="fdverify",
        version=__version__,
        command="cutoff",
        template=question.template,
        options=dict(question.options),
        second_opinion=question.second,
        verdict=found.verdict,
        detail=verdict_in_words(found),
        exit_code=found.exit_code,
        seconds=round(seconds, 3),
        lemmas=[_lemma(checked, kept) for checked in found.checked],
        properties=[
            PropertyEntry(
                name,
                list(shape.indexes),
                list(shape.cutoffs) if proved else [],
                told(shape) if proved else "nothing is known of more processes",
            )
            for name, shape in shapes.items()
        ],
        proofs=[
            CarriedEntry(
                each.proof,
                each.goal,
                proved and each.is_of_two_processes,
                each.until_crash,
                list(each.false_at_start),
                list(each.undecided_at_start),
            )
            for each in found.carried
        ],
        small=None
        if small is None
        else SmallEntry(small.processes, small.delta, small.phi, small.computation, small.depth),
        explored=[_explored(each) for each in found.explored],
    )
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(CutoffDocument)


def _lemma(checked: Checked, kept: Mapping[str, str]) -> LemmaEntry:
    return LemmaEntry(
        name=checked.name,
        paper=checked.paper,
        says=checked.says,
        verdict=checked.verdict,
        detail=checked.detail,
        seconds=round(checked.seconds, 3),
        second_opinion=checked.second,
        smtlib=kept.get(checked.name),
        disagreement=None if checked.disagreement is None else _disagreement(checked.disagreement),
    )


def _disagreement(shown: Disagreement) -> DisagreementEntry:
    return DisagreementEntry(
        processes=shown.processes,
        indexes=dict(shown.marked),
        differ=list(shown.differ),
        systems=[
            SystemEntry(
                system.name,
                [
                    ProcessEntry(row.process, row.peer, dict(row.chosen), dict(row.before), dict(row.after))
                    for row in system.rows
                ],
            )
            for system in shown.systems
        ],
    )


def _explored(explored: Explored) -> ExploredEntry:
    return ExploredEntry(
        property=explored.claim,
        with_itself=explored.equal,
        verdict=explored.verdict,
        configurations=explored.states,
        rounds=explored.rounds,
        processes=list(explored.processes),
        run=[dict(row) for row in explored.rows],
        loop=explored.loop,
    )
