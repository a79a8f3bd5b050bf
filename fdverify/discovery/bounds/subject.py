"""The subject of a bound, as plain data for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import OptionValue


@dataclass(frozen=True)
class Subject:
    """A model with its options, the property, and what reports call the watched and the watching process."""

    model: str
    options: Mapping[str, str]
    claim: str
    watched: str = "sender"
    watcher: str = "receiver"


def subject_of(job: CheckRequest) -> Subject:
    """Describe the subject by the system that the request builds."""
    system = job.system()
    claim = job.property_of(system).name
    if system.detector is None:
        return Subject(system.name, dict(system.options), claim)
    return Subject(system.name, dict(system.options), claim, system.detector.watched, system.detector.watcher)


def expected_subject(model: str, options: Mapping[str, OptionValue], claim: str) -> Subject:
    """Describe the subject by what is known before the system is built."""
    return Subject(model, {name: str(value) for name, value in options.items() if value is not None}, claim)
