"""The subject of a bound, as plain data for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import OptionValue


@dataclass(frozen=True)
class BoundSubject:
    """A model with its options, the property, and what reports call the watched and the watching process."""

    model: str
    options: Mapping[str, str]
    claim: str
    watched: str = "sender"
    watcher: str = "receiver"


def describe_subject(job: CheckRequest) -> BoundSubject:
    """Describe the subject by the system that the request builds."""
    system = job.build_system()
    claim = job.find_property(system).name
    if system.detector is None:
        return BoundSubject(system.name, dict(system.options), claim)
    return BoundSubject(system.name, dict(system.options), claim, system.detector.watched, system.detector.watcher)


def describe_expected_subject(model: str, options: Mapping[str, OptionValue], claim: str) -> BoundSubject:
    """Describe the subject by what is known before the system is built."""
    return BoundSubject(model, {name: str(value) for name, value in options.items() if value is not None}, claim)
