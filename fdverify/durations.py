"""Durations as people write them: exact numbers of nanoseconds, and text with a unit."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

from fdverify.errors import UsageError

MILLISECOND, SECOND = 10**6, 10**9
"""In nanoseconds."""
UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": MILLISECOND, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND}
"""The units that are read, in nanoseconds."""
_WRITTEN = ("s", "ms", "us", "ns")
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([a-zµ]+)\s*")
_PLACES = 6
"""Places after the point of a duration that has no end in decimals."""


def parse_duration(flag: str, text: str) -> Fraction:
    """Parse a duration such as ``10ms``, ``1.5s`` or ``1min 30s``; return nanoseconds."""
    total, place, words = Fraction(0), 0, text.strip()
    while (part := _PART.match(words, place)) is not None and part[2] in UNITS:
        total += Fraction(part[1]) * UNITS[part[2]]
        place = part.end()
    if place == 0 or place < len(words):
        raise UsageError(f"{flag} must be a time, got {text!r}", f"a number and one of {', '.join(UNITS)}: 10ms")
    return total


def format_duration(nanoseconds: Fraction) -> str:
    """Write a duration with a suitable unit; what has no end in decimals is rounded up."""
    unit = next((each for each in _WRITTEN if nanoseconds >= UNITS[each]), "ns")
    return f"{_format_decimal(nanoseconds / UNITS[unit])} {unit}"


def _format_decimal(value: Fraction) -> str:
    places = 0
    while places < 30 and (value * 10**places).denominator != 1:
        places += 1
    if places == 30:
        places = _PLACES
    digits = str(ceil(value * 10**places)).rjust(places + 1, "0")
    whole, rest = (digits[:-places], digits[-places:].rstrip("0")) if places else (digits, "")
    return f"{whole}.{rest}" if rest else whole
