"""Functions in files of their own, as authors write them: those in cases/, each below a line with its name.

The name of a case that is refused is followed by a part of the hint, and the line that is refused ends in ``# here``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fdverify.author_code.author_functions import AuthorFunction
from fdverify.models.loading import load_module

_CASES = Path(__file__).parent / "cases"
HEADER = """import collections, contextlib, contextvars, datetime, functools, itertools, math, operator, os, random
import sys, time, typing
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial, singledispatch
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from fdverify.logic import And, If, Iff, Implies, Max, Min, Not, Or
from fdverify.models.system import update

OPTION = True
T = {"True": 1, "False": 2}

class Sender(IntEnum):
    Up = 0
    Crashed = 1

"""


class Case(NamedTuple):
    """A file that defines ``f``, and a part of what its author is told to write instead."""

    name: str
    hint: str
    source: str


def cases(*names: str) -> list[Case]:
    """The cases in these files."""
    found = []
    for text in ((_CASES / f"{name}.txt").read_text() for name in names):
        for part in text.split("=== ")[1:]:
            title, _, source = part.partition("\n")
            name, _, hint = title.partition(" | ")
            found.append(Case(name, hint, source.rstrip() + "\n"))
    return found


def function_in(folder: Path, source: str) -> Callable[..., Any]:
    file = folder / "model.py"
    file.write_text(HEADER + source)
    found: Callable[..., Any] = load_module(file).f
    return found


def phase_in(folder: Path, source: str) -> AuthorFunction:
    return AuthorFunction("phase", "step", function_in(folder, source))


def marked_line(source: str) -> int:
    """The line of the file that is marked."""
    lines = (HEADER + source).splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if text.endswith("# here")]
    return line
