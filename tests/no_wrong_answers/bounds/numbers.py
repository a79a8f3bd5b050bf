"""What the oracle expects of ``fdverify bounds`` at given numbers, to be compared with the command's document."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema

from fdverify.detectors.model_catalogue import find_model
from fdverify.models.model import Model
from fdverify.models.system import System
from fdverify.schemas import find_schema
from tests.cli.script import run
from tests.no_wrong_answers.bounds.oracle import Cut, Instance, detection_time, searched

LONGEST = 14
"""Timeouts are looked for up to here."""

CUT: Cut = {
    # Only the sign of a crash clock matters to phases.
    "hlfsc": lambda s: min(s["hlfsc"], 0),
    "since_crash": lambda s: min(s["since_crash"], 0),
    # A longer wait than the timeout is as long: the timeout grows only when the wait begins again.
    "waiting_time": lambda s: min(s["waiting_time"], s["timeout"]),
}


@dataclass(frozen=True)
class Expected:
    """The least safe timeout and how late a crash is noticed; or why there is no such number."""

    timeout: int | None
    detection: int | None
    why: str = ""


def instance_of(model: Model, numbers: Mapping[str, int], timeout: int, options: Mapping[str, Any]) -> System:
    defaults = {option.name: option.default for option in model.options}
    return model.instantiate(dict(numbers), {**defaults, **options, "timeout": str(timeout)})


def expected(reference: str, numbers: Mapping[str, int], options: Mapping[str, Any], longest: int) -> Expected:
    """Search the instances one by one."""
    model = find_model(reference)
    crashes = any(option.name == "crash" for option in model.options)
    for timeout in range(1, longest + 1):
        for crash in [{"crash": False}, {"crash": True}] if crashes else [{}]:
            system = instance_of(model, numbers, timeout, {**options, **crash})
            graph = searched(Instance(system, CUT), system.find_property(model.default_property).holds)
            if graph.broken is not None:
                break
            if graph.has_dead_end():
                return Expected(None, None, "a dead end")
        else:
            time = detection_time(graph)
            return Expected(timeout, time, "never noticed" if time is None else "")
    return Expected(None, None, "none is safe")


def told(reference: str, numbers: Mapping[str, int], options: Mapping[str, str], longest: int) -> Expected:
    """What the command's document tells."""
    code, text = by_command(reference, numbers, options, longest)
    if code == 2:
        return Expected(None, None, text)
    document = json.loads(text)
    jsonschema.validate(document, json.loads(find_schema("configuration")))
    assert (document["verdict"] == "proved") is (code == 0)
    why = {0: "", 1: "never noticed", 3: "none is safe", 4: "a dead end"}[code]
    return Expected(document["timeout_steps"], document["detection_ticks"], why)


def by_command(reference: str, numbers: Mapping[str, int], options: Mapping[str, str], longest: int) -> tuple[int, str]:
    given = [part for name, value in {**numbers, **options}.items() for part in (f"--{name}", str(value))]
    outcome = run("bounds", "--model", reference, *given, "--longest", str(longest), "--json")
    return outcome.code, outcome.stderr if outcome.code == 2 else outcome.stdout


def refused_by_explore(reference: str, numbers: Mapping[str, int], options: Mapping[str, str]) -> str:
    """What ``explore`` says of a model whose caps it does not accept."""
    given = [part for name, value in {**numbers, **options}.items() for part in (f"--{name}", str(value))]
    outcome = run("explore", reference, *given, "--timeout", "9")
    assert outcome.code == 2
    return outcome.stderr
