"""The functions of an author: what engines run on plain values, on arrays and on symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuthorFunction:
    """A function that an author wrote, what it is for, and its name there."""

    role: str
    name: str
    function: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.role} {self.name}"
