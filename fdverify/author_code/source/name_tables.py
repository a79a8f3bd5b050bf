"""Tables of names: the interface of the state, methods of Python's own types, modules of the library."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from fdverify.author_code.source.refusals import Refusal
from fdverify.models.buffer import Buffer

BUFFER_ATTRIBUTES = frozenset({"delta", *(name for name in dir(Buffer) if not name.startswith("_"))})
"""The interface of a buffer."""

FORM_SPECIFIC_ATTRIBUTES = frozenset(
    {"dtype", "shape", "size", "ndim", "item", "tolist", "astype", "bit_length", "bit_count", "as_integer_ratio"}
    | {"numerator", "denominator", "real", "imag", "conjugate", "to_bytes", "from_bytes", "is_integer", "term", "lift"}
    | {
        "conjunction",
        "disjunction",
        "negation",
        "choose",
        "boolean",
        "to_columns",
        "bits",
        "digits",
        "encoding",
        "ages",
    }
)
"""Attributes that only some of the forms of a state value have: numbers, arrays, symbols, encodings of buffers."""

OPERATORS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any] | None]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Div: ("truediv", operator.truediv),
    ast.Pow: ("pow", None),
    ast.MatMult: ("matmul", None),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", None),
    ast.RShift: ("rshift", operator.rshift),
}
REFUSED_OPERATORS: dict[type[ast.operator], Refusal] = {
    ast.Div: Refusal.DIVISION,
    ast.Pow: Refusal.POWER,
    ast.MatMult: Refusal.BITS,
    ast.BitAnd: Refusal.BITS,
    ast.BitOr: Refusal.BITS,
    ast.BitXor: Refusal.BITS,
    ast.LShift: Refusal.BITS,
    ast.RShift: Refusal.BITS,
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("eq", "eq", operator.eq),
    ast.NotEq: ("ne", "ne", operator.ne),
    ast.Lt: ("lt", "gt", operator.lt),
    ast.LtE: ("le", "ge", operator.le),
    ast.Gt: ("gt", "lt", operator.gt),
    ast.GtE: ("ge", "le", operator.ge),
}

MEANING_CHANGING_METHODS = (
    "__eq__",
    "__ne__",
    "__hash__",
    "__bool__",
    "__getattr__",
    "__getattribute__",
    "__class__",
    "__setattr__",
)
"""Methods of an author's class that can change the meaning of a state value in its objects."""

PURE_METHODS: dict[type, frozenset[str]] = {
    dict: frozenset({"get", "items", "keys", "values", "copy", "__getitem__", "__contains__", "__len__", "__iter__"}),
    list: frozenset({"index", "count", "copy", "__getitem__", "__contains__", "__len__", "__iter__"}),
    set: frozenset(
        {"copy", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset"}
        | {"isdisjoint", "__contains__", "__len__", "__iter__"}
    ),
    bytearray: frozenset({"decode", "hex", "count", "index", "find", "copy"}),
}
"""Methods of Python's own mutable types that change nothing."""

MUTATING_METHODS = frozenset(
    {"append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse", "add", "discard", "update"}
    | {"setdefault", "appendleft", "extendleft", "popleft", "rotate", "send", "throw", "put", "write", "writelines"}
    | {"difference_update", "intersection_update", "symmetric_difference_update", "move_to_end", "subtract"}
    | {
        "__setitem__",
        "__delitem__",
        "__setattr__",
        "__delattr__",
        "__next__",
        "__iadd__",
        "__ior__",
        "__isub__",
        "__imul__",
    }
    | {"__iand__", "__ixor__", "fill", "resize", "itemset", "partition"}
)
"""Methods that change their object."""

STRING_METHODS = frozenset(
    {"format", "format_map", "join", "replace", "encode", "translate", "count", "find", "index", "startswith"}
    | {"endswith", "split", "strip", "zfill", "ljust", "rjust", "center", "removeprefix", "removesuffix"}
)
"""Methods of strings."""

IMPURE_MODULES = frozenset(
    {"random", "secrets", "time", "_time", "os", "posix", "nt", "sys", "io", "_io", "socket", "threading", "_thread"}
    | {"multiprocessing", "asyncio", "subprocess", "inspect", "gc", "weakref", "_weakref", "ctypes", "tempfile"}
    | {"uuid", "getpass", "platform", "logging", "warnings", "pickle", "shelve", "sqlite3", "importlib", "queue"}
    | {"contextvars", "_contextvars", "signal", "select", "shutil", "glob", "fileinput", "urllib", "http", "resource"}
    | {"concurrent", "linecache", "traceback", "tracemalloc", "atexit", "locale", "_random", "posixpath", "marshal"}
    | {"zoneinfo", "imp", "runpy", "code", "pdb", "cProfile", "profile", "timeit", "faulthandler", "ssl", "mmap"}
)
"""Library modules through which a function reads or changes its environment."""

CONSTANT_NAMES = frozenset({"maxsize", "maxunicode", "byteorder", "version_info", "sep", "linesep", "pathsep"})
"""Names in those modules whose values never change."""

CLOCK_METHODS = frozenset({"now", "today", "utcnow", "fromtimestamp"})
FILE_METHODS = frozenset(
    {"read_text", "read_bytes", "write_text", "write_bytes", "open", "exists", "is_file", "is_dir", "stat", "iterdir"}
    | {"glob", "rglob", "resolve", "cwd", "home", "mkdir", "unlink", "touch", "rename", "samefile", "expanduser"}
)
"""Methods of dates and paths that access the environment."""
