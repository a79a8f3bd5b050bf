"""What failed, for code scanning: a SARIF 2.1.0 log with a result at the line of each claim that is not proved."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from fdverify import __version__
from fdverify.engines.inductive import Kind
from fdverify.errors import FdverifyError, InternalError, UsageError
from fdverify.proofs.proof import Source
from fdverify.proofs.result import Checked, ProofResult, exit_code
from fdverify.reports.proofs import obligation_text
from fdverify.verdict import Obligation, Verdict

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_BAD_FILE, _INTERNAL_ERROR, _NOT_CHECKED = "bad-file", "internal-error", "not-checked"
_LEVELS = {Verdict.UNKNOWN: "warning"}
"""Of what is not proved; all else is an error.  Nothing is known to be wrong with what is unknown."""
_PLACED = re.compile(r"(?P<file>.+?\.py):(?P<line>\d+): ")
_LITERAL = str.maketrans({"{": "(", "}": ")", "[": "\\["})
"""Braces and brackets mean something in the messages of SARIF; sets are shown in parentheses instead."""


class _Camel(msgspec.Struct, rename="camel", omit_defaults=True):
    pass


class Message(_Camel):
    text: str


class Configuration(_Camel):
    level: str


class Rule(_Camel):
    """A kind of obligation, or of trouble with a file."""

    id: str
    short_description: Message
    full_description: Message
    help: Message
    default_configuration: Configuration


class Driver(_Camel):
    name: str
    version: str
    rules: list[Rule]


class Tool(_Camel):
    driver: Driver


class ArtifactLocation(_Camel):
    uri: str
    uri_base_id: str | None = None


class Region(_Camel):
    start_line: int


class PhysicalLocation(_Camel):
    artifact_location: ArtifactLocation
    region: Region


class Location(_Camel):
    physical_location: PhysicalLocation


class Result(_Camel):
    rule_id: str
    rule_index: int
    level: str
    message: Message
    locations: list[Location]
    partial_fingerprints: dict[str, str]


class Invocation(_Camel):
    execution_successful: bool
    exit_code: int


class Run(_Camel):
    tool: Tool
    invocations: list[Invocation]
    original_uri_base_ids: dict[str, ArtifactLocation]
    results: list[Result]


class Log(_Camel):
    version: str
    runs: list[Run]
    schema: str = msgspec.field(name="$schema")


def _rule(name: str, short: str, full: str, help: str) -> Rule:
    return Rule(name, Message(short), Message(full), Message(help), Configuration("error"))


_RULES = (
    _rule(
        Kind.INITIATION,
        "A conjunct is false initially",
        "Every conjunct of an inductive invariant must hold in every initial state.",
        "The message shows an initial state in which the conjunct is false.  Weaken the conjunct, or change the model.",
    ),
    _rule(
        Kind.CONSECUTION,
        "A step leaves the invariant",
        "Every conjunct must hold after each round from a state in which all conjuncts hold.",
        "The message shows the step.  If no run reaches it, a conjunct is missing that excludes the state it starts "
        "from; verify-invariant --suggest looks for one.  If a run does, the conjunct is wrong.",
    ),
    _rule(
        Kind.GOAL,
        "The invariant does not imply the goal",
        "All conjuncts together must imply the goal.",
        "The message shows a state in which all conjuncts hold and the goal does not.  Exclude it by a conjunct.",
    ),
    _rule(
        Kind.PREMISE,
        "The invariant does not imply a premise",
        "A goal about whole runs is argued for by premises, each of which the invariant must imply.",
        "The message shows a state or a round that breaks the premise.  Add a conjunct that excludes it.",
    ),
    _rule(
        Kind.VACUITY,
        "The proof may say nothing",
        "There must be runs that meet the assumptions and the goal's premise, and none may come to a dead end.",
        "The message says what never happens.  Change the assumptions, the goal's premise, or the model.",
    ),
    _rule(
        _BAD_FILE,
        "The file is no proof that can be checked",
        "A proof file is Python, and names a model, a goal and conjuncts.",
        "The message says what is wrong and where.",
    ),
    _rule(
        _NOT_CHECKED,
        "The proof was not checked",
        "Time or memory ran out before there was anything to decide.",
        "Check it again with more time or memory.",
    ),
    _rule(
        _INTERNAL_ERROR,
        "The tool contradicts itself",
        "Two solvers disagree, or a replay contradicts a proof.",
        "Nothing that is reported of this file can be relied on.",
    ),
)
_PLACES = {rule.id: place for place, rule in enumerate(_RULES)}


def sarif_log(results: Sequence[ProofResult]) -> str:
    root = _source_root()
    code = exit_code(results)
    run = Run(
        tool=Tool(Driver("fdverify", __version__, list(_RULES))),
        invocations=[Invocation(code not in (UsageError.exit_code, InternalError.exit_code), code)],
        original_uri_base_ids={_ROOT: ArtifactLocation(f"{root.as_uri().rstrip('/')}/")},
        results=[found for result in results for found in _results(result, root)],
    )
    log = Log(version="2.1.0", runs=[run], schema=_SCHEMA)
    return json.dumps(msgspec.to_builtins(log), indent=2) + "\n"


def _source_root() -> Path:
    """The folder of the repository that this is run in, which code scanning takes relative paths from; or just this."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _results(result: ProofResult, root: Path) -> Iterator[Result]:
    begins = Source(result.path.resolve(), 1) if result.subject is None else result.subject.begins
    if result.error is not None:
        rule = _BAD_FILE if isinstance(result.error, UsageError) else _INTERNAL_ERROR
        yield _result(rule, "error", str(result.error), _place(result.error) or begins, result, rule, root)
    elif result.lost is not None:
        text = f"{Verdict.UNKNOWN}: {result.lost}"
        yield _result(_NOT_CHECKED, "warning", text, begins, result, _NOT_CHECKED, root)
    else:
        for checked in result.checked:
            found = checked.obligation()
            if found.verdict is not Verdict.PROVED:
                yield _unproved(found, _head(checked), _defined(result, checked.question.about), result, root)
        for found in () if result.vacuity is None else result.vacuity.obligations:
            if found.verdict is not Verdict.PROVED:
                goal = "" if result.subject is None else result.subject.goal
                yield _unproved(found, str(found.verdict), _defined(result, goal), result, root)


def _unproved(found: Obligation, head: str, place: Source, result: ProofResult, root: Path) -> Result:
    level = _LEVELS.get(found.verdict, "error")
    return _result(found.kind, level, f"{head}\n{obligation_text(result, found.name)}", place, result, found.name, root)


def _head(checked: Checked) -> str:
    """The verdict, and the smallest parameters that it is found at."""
    verdict = str(checked.obligation().verdict)
    if checked.broken is None:
        return verdict
    parameters = ", ".join(f"{name} = {value}" for name, value in checked.broken.step.parameters.items())
    return f"{verdict}, at {parameters}"


def _defined(result: ProofResult, claim: str) -> Source:
    """Where a claim is defined; where the proof begins if it is the model's, or one of the argument's."""
    assert result.subject is not None, "what was loaded has obligations"
    return result.subject.definitions.get(claim, result.subject.begins)


def _place(error: FdverifyError) -> Source | None:
    """The place that an error tells of."""
    placed = _PLACED.match(error.message)
    return None if placed is None else Source(Path(placed["file"]).resolve(), max(1, int(placed["line"])))


def _result(rule: str, level: str, text: str, place: Source, result: ProofResult, name: str, root: Path) -> Result:
    return Result(
        rule_id=rule,
        rule_index=_PLACES[rule],
        level=level,
        message=Message(text.translate(_LITERAL)),
        locations=[Location(PhysicalLocation(_artifact(place.file, root), Region(place.line)))],
        # So that an alert stays the same one when lines are added above it.
        partial_fingerprints={"obligation/v1": f"{result.name}:{name}"},
    )


def _artifact(file: Path, root: Path) -> ArtifactLocation:
    if file.is_relative_to(root):
        return ArtifactLocation(quote(os.fsencode(file.relative_to(root).as_posix())), _ROOT)
    return ArtifactLocation(file.as_uri())
