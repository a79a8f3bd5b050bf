"""An author's function, and what it is in the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuthorFunction:
    """A function that an author wrote: what it is for (``phase``, ``property``, …), and under which name."""

    role: str
    name: str
    function: Callable[..., Any]
