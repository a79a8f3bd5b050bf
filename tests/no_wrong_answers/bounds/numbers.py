"""What the oracle expects of ``fdverify bounds`` at given numbers, to be compared with the command's document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fdverify.models.catalogue import find_model
from fdverify.models.model import Model
from fdverify.models.system import System
from tests.cli.script import found
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
            graph = searched(Instance(system, CUT), system.property(model.default_property).holds)
            if graph.broken is not None:
                break
            if graph.has_dead_end():
                return Expected(None, None, "a dead end")
        else:
            time = detection_time(graph)
            return Expected(timeout, time, "never noticed" if time is None else "")
    return Expected(None, None, "none is safe")


def told(reference: str, numbers: Mapping[str, int], options: Mapping[str, str], longest: int) -> Expected:
    """What the command tells."""
    given = [part for name, value in {**numbers, **options}.items() for part in (f"--{name}", str(value))]
    code, document = found("bounds", "--model", reference, *given, "--longest", str(longest))
    why = {0: "", 1: "never noticed", 3: "none is safe", 4: "a dead end"}[code]
    assert (document["verdict"] == "proved") is (code == 0)
    return Expected(document["timeout_steps"], document["detection_ticks"], why)
