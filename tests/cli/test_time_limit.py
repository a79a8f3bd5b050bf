"""``--time-limit``: the verdict is then unknown, and says how far it came."""

import re
from typing import Any

import pytest

from tests.cli.script import found, run
from tests.sampling import every

LONG = [
    ("explore", "--delta", "4", "--phi", "200"),
    ("bmc", "--delta", "20", "--phi", "20", "--timeout", "6*phi+delta", "--depth", "1000"),
]


def stopped(arguments: tuple[str, ...]) -> tuple[int, int, Any]:
    """The first time limit within which some depth is completed, the exit code, the document."""
    for limit in (1, 4, 16, 64):
        code, document = found(*arguments, "--time-limit", str(limit))
        if "no depth was completed" not in document["detail"]:
            break
    return limit, code, document


@pytest.mark.parametrize("arguments", every(2, list(LONG)), ids=lambda arguments: arguments[0])
def test_time_is_up(arguments: tuple[str, ...]) -> None:
    limit, code, document = stopped(arguments)
    assert (code, document["verdict"]) == (3, "unknown")
    assert document["seconds"] > 0
    told = re.fullmatch(r"the time limit of (\d+) s was reached; depth (\d+) was completed", document["detail"])
    assert told is not None
    assert int(told[1]) == limit
    assert int(told[2]) == document["statistics"]["depth"] > 0
    assert document["trace"] is None
    if arguments[0] == "explore":
        assert document["statistics"]["states"] > document["statistics"]["depth"]


def test_no_time_for_anything() -> None:
    outcome = run("bmc", "--delta", "20", "--phi", "20", "--time-limit", "1e-9")
    assert outcome.code == 3
    assert outcome.stdout.startswith("unknown: the time limit of 1e-09 s was reached; no depth was completed\n")


@pytest.mark.parametrize("limit", ["3600", "1e300"])
def test_time_to_spare(limit: str) -> None:
    code, document = found("explore", "--delta", "1", "--phi", "1", "--time-limit", limit)
    assert (code, document["verdict"]) == (0, "proved")
