"""Durations are read exactly, and written such that they are read again as the same or a little longer."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdverify.durations import UNITS, format_duration, parse_duration
from fdverify.errors import UsageError


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("10ms", 10**7),
        (" 1.5 s ", 15 * 10**8),
        ("1min 30s", 90 * 10**9),
        ("1h2min3s4ms5us6ns", 3723004005006),
        ("0.1ns", Fraction(1, 10)),
        ("2µs", 2000),
        ("0s", 0),
    ],
)
def test_what_is_read(text: str, nanoseconds: Fraction | int) -> None:
    assert parse_duration("--delay", text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "5", "-1s", "1x", "s", "1,5s", "1e3s", "nan s", "1s 2", "1 s s", "٣s", "1" * 16 + "s"]
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--delay must be a time") as refused:
        parse_duration("--delay", text)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (Fraction(0), "0 ns"),
        (Fraction(999), "999 ns"),
        (Fraction(1500), "1.5 us"),
        (Fraction(120 * 10**9), "120 s"),
        (Fraction(10**10, 3), "3.333334 s"),
        (Fraction(100), "100 ns"),
    ],
)
def test_what_is_written(nanoseconds: Fraction, text: str) -> None:
    assert format_duration(nanoseconds) == text


@given(st.integers(0, 10**15), st.sampled_from([1, 2, 3, 7, 10, 1000]))
def test_what_is_written_is_read_again_and_not_shorter(number: int, parts: int) -> None:
    nanoseconds = Fraction(number, parts)
    again = parse_duration("--delay", format_duration(nanoseconds))
    assert nanoseconds <= again <= nanoseconds + UNITS["s"] // 10**6
    if parts in (1, 2, 10, 1000):
        assert again == nanoseconds
