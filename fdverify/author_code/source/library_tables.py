"""Tables of Python's and library functions: what is refused for state values, and what is computed on constants."""

from __future__ import annotations

import ast
import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
from typing import Any

import numpy as np

from fdverify.author_code.source.refusals import Refusal

REFUSED_FOR_STATE_VALUES: dict[Any, Refusal] = {
    isinstance: Refusal.TYPE,
    issubclass: Refusal.TYPE,
    type: Refusal.TYPE,
    callable: Refusal.TYPE,
    hasattr: Refusal.DEFAULT,
    vars: Refusal.ATTRIBUTE,
    dir: Refusal.ATTRIBUTE,
    len: Refusal.LENGTH,
    operator.length_hint: Refusal.LENGTH,
    bool: Refusal.CONVERSION,
    int: Refusal.CONVERSION,
    float: Refusal.CONVERSION,
    complex: Refusal.CONVERSION,
    round: Refusal.CONVERSION,
    ord: Refusal.CONVERSION,
    chr: Refusal.CONVERSION,
    bin: Refusal.CONVERSION,
    hex: Refusal.CONVERSION,
    oct: Refusal.CONVERSION,
    divmod: Refusal.CONVERSION,
    operator.index: Refusal.CONVERSION,
    operator.truth: Refusal.CONVERSION,
    operator.not_: Refusal.NOT,
    abs: Refusal.SIGN,
    operator.abs: Refusal.SIGN,
    operator.pos: Refusal.SIGN,
    operator.is_: Refusal.IDENTITY,
    operator.is_not: Refusal.IDENTITY,
    range: Refusal.INDEX,
    slice: Refusal.INDEX,
}
"""Refused if an argument is a state value; a container of state values may have a length and a type."""
REFUSED_FOR_HOLDERS: dict[Any, Refusal] = {
    str: Refusal.TEXT,
    repr: Refusal.TEXT,
    format: Refusal.TEXT,
    ascii: Refusal.TEXT,
    id: Refusal.IDENTITY,
    hash: Refusal.SET,
    set: Refusal.SET,
    frozenset: Refusal.SET,
    collections.Counter: Refusal.SET,
    bytes: Refusal.CONVERSION,
    bytearray: Refusal.CONVERSION,
    any: Refusal.ANY,
    all: Refusal.ANY,
    pow: Refusal.POWER,
    operator.pow: Refusal.POWER,
    math.pow: Refusal.POWER,
    operator.contains: Refusal.MEMBER,
    operator.countOf: Refusal.MEMBER,
    operator.indexOf: Refusal.MEMBER,
    operator.truediv: Refusal.DIVISION,
    copy.deepcopy: Refusal.LIBRARY,
    itertools.groupby: Refusal.SORT,
    operator.attrgetter: Refusal.TEXT,
    operator.itemgetter: Refusal.INDEX,
    operator.methodcaller: Refusal.LIBRARY,
    itertools.compress: Refusal.FILTER,
    functools.cmp_to_key: Refusal.SORT,
}
"""Refused if an argument is a state value or holds one."""
COMPUTED_ON_CONSTANTS = frozenset(
    {isinstance, issubclass, type, callable, hasattr, len, bool, int, float, str, repr, abs, round, ord, chr, range}
    | {bin, hex, divmod, operator.attrgetter, operator.itemgetter, operator.methodcaller, slice, format}
)
"""Computed if all arguments are constants."""
ALWAYS_REFUSED = (print, input, open, eval, exec, compile, __import__, globals, locals, breakpoint)
CONTAINER_TYPES = {"list": list, "tuple": tuple, "dict": dict, "set": set}
OPERATOR_FUNCTIONS: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add,
    operator.sub: ast.Sub,
    operator.mul: ast.Mult,
    operator.floordiv: ast.FloorDiv,
    operator.mod: ast.Mod,
    operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr,
    operator.xor: ast.BitXor,
    operator.lshift: ast.LShift,
    operator.rshift: ast.RShift,
    operator.matmul: ast.MatMult,
}
AUGMENTED_FUNCTIONS: dict[Any, type[ast.operator]] = {
    operator.iadd: ast.Add,
    operator.iconcat: ast.Add,
    operator.isub: ast.Sub,
    operator.imul: ast.Mult,
    operator.ifloordiv: ast.FloorDiv,
    operator.itruediv: ast.Div,
    operator.imod: ast.Mod,
    operator.ipow: ast.Pow,
    operator.iand: ast.BitAnd,
    operator.ior: ast.BitOr,
    operator.ixor: ast.BitXor,
    operator.ilshift: ast.LShift,
    operator.irshift: ast.RShift,
    operator.imatmul: ast.MatMult,
}
MUTATING_FUNCTIONS = frozenset(
    {heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace, operator.delitem}
    | {bisect.insort, bisect.insort_left, bisect.insort_right, np.put, np.place, np.copyto, np.putmask}
    | {np.fill_diagonal}
)
"""Functions that change their first argument."""
COMPARISON_FUNCTIONS: dict[Any, type[ast.cmpop]] = {
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
}
