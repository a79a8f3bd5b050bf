"""What came of specifications of threshold automata, for machines: JSON, as the schema that ships here describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from fdverify import __version__
from fdverify.reports.document import formatted_schema
from fdverify.threshold.automaton import Automaton
from fdverify.threshold.check import Checked
from fdverify.threshold.counterexample import Counterexample
from fdverify.threshold.text.write import formula_text
from fdverify.verdict import Verdict

SCHEMA = Path(__file__).with_name("threshold_schema.json")


class ThresholdStep(msgspec.Struct):
    """So many processes take a rule, one after the other; the values of locations and shared variables after it."""

    rule: int
    guard: str
    source: str
    target: str
    processes: int
    after: dict[str, int]


class ThresholdTrace(msgspec.Struct):
    """A run; the steps after the first ``loop`` ones are taken for ever, and without any nothing moves any more."""

    parameters: dict[str, int]
    start: dict[str, int]
    steps: list[ThresholdStep]
    loop: int


class SpecificationEntry(msgspec.Struct):
    """What came of a specification; one without a verdict is refused, for the reason in ``detail``."""

    name: str
    formula: str
    verdict: Verdict | None
    detail: str
    seconds: float
    smtlib: str | None
    trace: ThresholdTrace | None


class ThresholdDocument(msgspec.Struct):
    """What `fdverify threshold check` found."""

    tool: Literal["fdverify"]
    version: str
    command: Literal["threshold check"]
    file: str
    model: str
    assumptions: list[str]
    parameters: dict[str, int | str]
    driver: str
    second_opinion: str | None
    exit_code: int
    seconds: float
    statistics: dict[str, int]
    locations: list[str]
    shared: list[str]
    specifications: list[SpecificationEntry]


def checks_document(
    file: str,
    automaton: Automaton,
    found: Sequence[Checked],
    *,
    fixed: Mapping[str, int],
    driver: str,
    second: str | None,
    exit_code: int,
    kept: Mapping[str, str],
) -> str:
    formulas = {each.name: formula_text(each.formula) for each in automaton.specifications}
    document = ThresholdDocument(
        tool="fdverify",
        version=__version__,
        command="threshold check",
        file=file,
        model=automaton.name,
        assumptions=[formula_text(claim) for claim in automaton.assumptions],
        parameters={name: fixed.get(name, "any") for name in (*automaton.parameters, *automaton.unknowns)},
        driver=driver,
        second_opinion=second,
        exit_code=exit_code,
        seconds=round(sum(checked.seconds for checked in found), 3),
        statistics={
            "locations": len(automaton.locations),
            "rules": len(automaton.rules),
            "guards": len({rule.guard for rule in automaton.rules}),
        },
        locations=[location.name for location in automaton.locations],
        shared=list(automaton.shared),
        specifications=[
            SpecificationEntry(
                name=checked.specification,
                formula=formulas[checked.specification],
                verdict=checked.verdict,
                detail=checked.detail,
                seconds=round(checked.seconds, 3),
                smtlib=kept.get(checked.specification),
                trace=None if checked.counterexample is None else _trace(checked.counterexample),
            )
            for checked in found
        ],
    )
    return json.dumps(msgspec.to_builtins(document), indent=2) + "\n"


def schema() -> bytes:
    """The JSON Schema of the document, as it ships."""
    return formatted_schema(ThresholdDocument)


def _trace(run: Counterexample) -> ThresholdTrace:
    names = [name for name in run.start if name not in run.parameters]
    return ThresholdTrace(
        parameters=run.parameters,
        start={name: run.start[name] for name in names},
        steps=[
            ThresholdStep(
                rule=step.rule.number,
                guard=formula_text(step.rule.guard),
                source=step.rule.source,
                target=step.rule.target,
                processes=step.processes,
                after={name: after[name] for name in names},
            )
            for step, after in run.steps
        ],
        loop=run.loop,
    )
