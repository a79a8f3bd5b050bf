"""Memory limits as users write them, such as 2GB."""

from __future__ import annotations

import re

from fdverify.errors import UsageError

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def parse_memory_limit(text: str) -> int:
    """Return a limit in bytes."""
    match = re.fullmatch(r"([0-9]{1,6}) ?([KMGT]B)", str(text).strip(), re.IGNORECASE | re.ASCII)
    size = 0 if match is None else int(match[1]) * _UNITS[match[2].upper()]
    if size == 0:
        raise UsageError(f"a memory limit is a number and a unit, got {text!r}", "write 500MB or 2GB")
    return size
