"""Findings as a SARIF 2.1.0 log for code scanning, with a result at the line of each claim that is not proved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import msgspec

from fdverify import __version__
from fdverify.errors import InternalError, UsageError
from fdverify.reports.outcome import Finding, Outcome

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_LITERAL = str.maketrans({"{": "(", "}": ")", "[": "\\["})
"""Braces and brackets have a meaning in SARIF messages, so sets are shown in parentheses instead."""


class _Camel(msgspec.Struct, rename="camel", omit_defaults=True):
    pass


class SarifMessage(_Camel):
    text: str


class SarifConfiguration(_Camel):
    level: str


class SarifRule(_Camel):
    """A kind of claim, or of error in a file."""

    id: str
    short_description: SarifMessage
    full_description: SarifMessage
    help: SarifMessage
    default_configuration: SarifConfiguration


class SarifDriver(_Camel):
    name: str
    version: str
    rules: list[SarifRule]


class SarifTool(_Camel):
    driver: SarifDriver


class SarifArtifactLocation(_Camel):
    uri: str
    uri_base_id: str | None = None


class SarifRegion(_Camel):
    start_line: int


class SarifPhysicalLocation(_Camel):
    artifact_location: SarifArtifactLocation
    region: SarifRegion


class SarifLocation(_Camel):
    physical_location: SarifPhysicalLocation


class SarifResult(_Camel):
    rule_id: str
    rule_index: int
    level: str
    message: SarifMessage
    locations: list[SarifLocation]
    partial_fingerprints: dict[str, str]


class SarifInvocation(_Camel):
    execution_successful: bool
    exit_code: int


class SarifRun(_Camel):
    tool: SarifTool
    invocations: list[SarifInvocation]
    original_uri_base_ids: dict[str, SarifArtifactLocation]
    results: list[SarifResult]


class SarifLog(_Camel):
    version: str
    runs: list[SarifRun]
    schema: str = msgspec.field(name="$schema")


def _describe_rule(name: str, short: str, full: str, help: str) -> SarifRule:
    return SarifRule(name, SarifMessage(short), SarifMessage(full), SarifMessage(help), SarifConfiguration("error"))


_RULES = (
    _describe_rule(
        "initiation",
        "A conjunct is false initially",
        "Every conjunct of an inductive invariant must hold in every initial state.",
        "The message shows an initial state in which the conjunct is false.  Weaken the conjunct, or change the model.",
    ),
    _describe_rule(
        "consecution",
        "A step leaves the invariant",
        "Every conjunct must hold after each round from a state in which all conjuncts hold.",
        "The message shows the step.  If no run reaches it, add a conjunct that excludes the state it starts from; "
        "verify-invariant --suggest searches for one.  If a run reaches it, the conjunct is wrong.",
    ),
    _describe_rule(
        "goal",
        "The invariant does not imply the goal",
        "All conjuncts together must imply the goal.",
        "The message shows a state in which all conjuncts hold and the goal does not.  Exclude it by a conjunct.",
    ),
    _describe_rule(
        "premise",
        "The invariant does not imply a premise",
        "A goal about whole runs is reduced to premises, each of which the invariant must imply.",
        "The message shows a state or a round that breaks the premise.  Add a conjunct that excludes it.",
    ),
    _describe_rule(
        "vacuity",
        "The proof may be vacuous",
        "There must be runs that meet the assumptions and the goal's premise, and no run may reach a dead end.",
        "The message says what never happens.  Change the assumptions, the goal's premise, or the model.",
    ),
    _describe_rule(
        "property",
        "A property does not hold, or is not decided",
        "A property of a model must hold in every run.",
        "The message shows a run that breaks the property, or says why none was found.",
    ),
    _describe_rule(
        "specification",
        "A specification does not hold, or is not decided",
        "A specification of a threshold automaton must hold for all admissible parameters.",
        "The message shows parameters and a run that break the specification, or says why none was found.",
    ),
    _describe_rule(
        "bad-file",
        "The file cannot be checked as a proof",
        "A proof file is a Python file that names a model, a goal and conjuncts.",
        "The message says what is wrong and where.",
    ),
    _describe_rule(
        "not-checked",
        "The proof was not checked",
        "Time or memory ran out before any obligation could be decided.",
        "Check it again with more time or memory.",
    ),
    _describe_rule(
        "internal-error",
        "The tool contradicts itself",
        "Two solvers disagree, or a replay contradicts a proof.",
        "Do not rely on anything that is reported about this file.",
    ),
)
_PLACES = {rule.id: place for place, rule in enumerate(_RULES)}


def write_sarif(outcome: Outcome) -> str:
    root = _find_source_root()
    code = outcome.exit_code
    run = SarifRun(
        tool=SarifTool(SarifDriver("fdverify", __version__, list(_RULES))),
        invocations=[SarifInvocation(code not in (UsageError.exit_code, InternalError.exit_code), code)],
        original_uri_base_ids={_ROOT: SarifArtifactLocation(f"{root.as_uri().rstrip('/')}/")},
        results=[_build_result(finding, root) for finding in outcome.findings],
    )
    log = SarifLog(version="2.1.0", runs=[run], schema=_SCHEMA)
    return json.dumps(msgspec.to_builtins(log), indent=2) + "\n"


def _find_source_root() -> Path:
    """Find the root of the repository, to which code scanning resolves paths; without one, the current folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _build_result(finding: Finding, root: Path) -> SarifResult:
    artifact = _locate_artifact(finding.file, root)
    return SarifResult(
        rule_id=finding.rule,
        rule_index=_PLACES[finding.rule],
        level=finding.level,
        message=SarifMessage(finding.text.translate(_LITERAL)),
        locations=[SarifLocation(SarifPhysicalLocation(artifact, SarifRegion(finding.line)))],
        # The fingerprint identifies an alert when lines are added above it.
        partial_fingerprints={"obligation/v1": finding.name},
    )


def _locate_artifact(file: Path, root: Path) -> SarifArtifactLocation:
    if file.is_relative_to(root):
        return SarifArtifactLocation(quote(os.fsencode(file.relative_to(root).as_posix())), _ROOT)
    return SarifArtifactLocation(file.as_uri())
