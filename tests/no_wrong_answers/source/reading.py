"""Functions in files of their own, as authors write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdverify.author_code.functions import AuthorFunction
from fdverify.models.user_files import load_module

HEADER = """import collections, contextlib, contextvars, datetime, functools, itertools, math, operator, os, random, sys, time, typing
from dataclasses import dataclass, replace
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


def function_in(folder: Path, source: str, name: str = "f") -> Callable[..., Any]:
    """The function of that name in a file with this source."""
    file = folder / "model.py"
    file.write_text(HEADER + source)
    found: Callable[..., Any] = vars(load_module(file))[name]
    return found


def phase_in(folder: Path, source: str) -> AuthorFunction:
    return AuthorFunction("phase", "step", function_in(folder, source))


def marked_line(source: str) -> int:
    """The line of the file that is marked."""
    lines = (HEADER + source).splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if text.endswith("# here")]
    return line
