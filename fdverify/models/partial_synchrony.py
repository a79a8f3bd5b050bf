"""Parts that detectors under partial synchrony share: the bounds, the initial timeout, and their options."""

from __future__ import annotations

from dataclasses import replace

from fdverify.models.buffer import ENCODINGS
from fdverify.models.expression import parse_expression
from fdverify.models.model import Option
from fdverify.models.system import Parameter

DELTA = Parameter("delta", least=0, value=None, meaning="bound on message delay")
PHI = Parameter("phi", least=1, value=None, meaning="bound on relative speed", small=(1, 3, 2))


def fixed(delta: int | None, phi: int | None, timeout: str, whose: str) -> tuple[Parameter, ...]:
    """Build the parameters with these values (``None``: arbitrary) and this timeout (an expression, or ``any``)."""
    initial = None if timeout.strip() == "any" else parse_expression(timeout, {DELTA.name, PHI.name})
    return (
        replace(DELTA, value=delta),
        replace(PHI, value=phi),
        Parameter("initial_timeout", 1, initial, f"{whose} first timeout", small=(1, 8, 24, 2)),
    )


def encoding_of(buffer: str | None, delta: int | None) -> str:
    """Return the requested encoding of the buffer, or the best one."""
    return buffer or ("predicate" if delta is None else "bitvector")


def described(crash: bool, timeout: str, encoding: str) -> dict[str, str]:
    """Return the options as reports show them."""
    return {"crash": str(crash).lower(), "timeout": timeout.strip(), "buffer": encoding}


def options(safe_timeout: str, who_crashes: str) -> tuple[Option, Option, Option]:
    return (
        Option("crash", f"whether the {who_crashes} may crash", False),
        Option("timeout", "the initial timeout, or any", safe_timeout, metavar="EXPR|any"),
        Option(
            "buffer", "encoding of the buffer; by default bitvector for a fixed delta, else predicate", None, ENCODINGS
        ),
    )
