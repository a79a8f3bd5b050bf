"""A function that raises of plain values alone differs from what it gives of symbols, reachable or not."""

from typing import Any

import pytest

from fdverify.author_code.author_check import build_claim_calls, check_author_code
from fdverify.errors import UsageError
from fdverify.models.system import Integers, Phase, Property, System, Variable, update

_SOURCE = """
def small(s):
    if type(s.x) is int and s.x > 30:
        raise ValueError("too large")
    return s.x < 3
"""


def made() -> Any:
    """A claim without source to read: only the comparison can see it."""
    names: dict[str, Any] = {}
    exec(_SOURCE, names)
    return names["small"]


def system(claim: Property) -> System:
    return System(
        name="counter",
        options={},
        parameters=(),
        variables=(Variable("x", Integers(), initial=lambda s: 0),),
        phases=(Phase("count", lambda s, c: update(x=(s.x + 1) % 3)),),
        properties=(claim,),
    )


def test_an_exception_of_plain_values_alone_is_a_difference() -> None:
    claim = Property("small", made(), "the counter is small")
    with pytest.raises(UsageError, match="raises ValueError"):
        check_author_code(system(claim), build_claim_calls("property", (claim,)))


def test_without_the_exception_it_passes() -> None:
    claim = Property("small", lambda s: s.x < 3, "the counter is small")
    assert check_author_code(system(claim), build_claim_calls("property", (claim,))).format_notes() == ()
