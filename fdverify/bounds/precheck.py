"""Comparison of the author's functions between engines, before anything is measured with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fdverify.bounds.detector_instance import build_crash_options
from fdverify.errors import NoInstance
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import OptionValue
from fdverify.verdict import ignore_progress

_TIMEOUT = "timeout"
_LONGEST = 256


def compare_author_functions(request: CheckRequest) -> tuple[str, ...]:
    """Refuse functions on which engines disagree, without and with crashes.

    Return notes on the functions that could be compared on sampled states only.
    """
    crash = build_crash_options(request.find_model())
    systems = (request.options, {**request.options, **crash}) if crash else (request.options,)
    return tuple(dict.fromkeys(note for options in systems for note in _compare_with_options(request, options)))


def _compare_with_options(request: CheckRequest, options: Mapping[str, OptionValue]) -> tuple[str, ...]:
    """Compare with the model's own timeout, or else with the first timeout that its assumptions allow."""
    for chosen in _enumerate_timeout_options(options):
        try:
            return replace(request, options=chosen).compare_author_code(ignore_progress)
        except NoInstance:
            continue
    return ()  # without an instance, nothing can be measured either


def _enumerate_timeout_options(options: Mapping[str, OptionValue]) -> Iterator[Mapping[str, OptionValue]]:
    yield options
    if _TIMEOUT in options:
        yield from ({**options, _TIMEOUT: str(timeout)} for timeout in range(1, _LONGEST + 1))
