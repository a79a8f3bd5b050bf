"""What is refused in an author's source, and what to write instead."""

from __future__ import annotations

from enum import Enum


class Refusal(Enum):
    """Something that an author's function must not do, as it is reported, and what to write instead."""

    IDENTITY = ("asks whether a state value is the same object", "compare with ==; for a truth value write x or Not(x)")
    MATCH = ("matches a state value", "write If(x == value, then, otherwise)")
    MEMBER = ("tests a state value for membership", "write Or(x == a, x == b)")
    TYPE = ("asks for the type of a state value", "the model's sorts fix what a value is: drop the test")
    TEXT = ("converts a state value to text", "compare values with ==, and choose with If; text is for constants")
    ATTRIBUTE = ("reads an attribute of a state value", "read names of the state, or ask a buffer: has, any, empty")
    DEFAULT = ("asks whether the state has a name", "the names of a state are fixed: write s.name")
    LENGTH = ("asks for the length of a state value", "only a list that the function made has a length")
    CONVERSION = ("converts a state value", "keep it as it is; If(condition, 1, 0) counts a truth value")
    IF = ("branches on a state value", "write If(condition, then, otherwise)")
    AND = ("uses and on a state value", "write And(a, b)")
    OR = ("uses or on a state value", "write Or(a, b)")
    NOT = ("uses not on a state value", "write Not(x)")
    WHILE = ("loops on a state value", "loop over constants, and choose with If")
    ASSERT = ("asserts a state value", "claim it as a Property, or assume it: update(assume=...)")
    FILTER = ("filters by a state value", "keep all, and choose with If, And or Or")
    CHAIN = ("chains comparisons of a state value", "split them: And(a <= x, x < b)")
    NOTHING = (
        "compares a state value with something that no state value can equal",
        "compare it with a number or a label; ask a buffer: empty(), has(age)",
    )
    WHOLE = ("compares containers that hold state values", "compare the parts: And(a.x == b.x, a.y == b.y)")
    FRACTION = ("computes with a fraction and a state value", "use whole numbers: multiply the other side")
    DIVISION = ("divides a state value with /", "write // by a positive number, or multiply the other side")
    POWER = ("raises to a power with a state value", "multiply: x * x")
    BITS = ("uses bit operators on a state value", "write And, Or, Not of truth values; numbers have + - * // %")
    SIGN = ("takes the absolute value or the sign of a state value", "write If(x >= 0, x, -x)")
    SORT = ("sorts or compares by state values", "write Min(a, b) and Max(a, b)")
    ANY = ("uses any or all on state values", "write Or(*values) or And(*values)")
    SET = ("puts a state value into a set, or uses it as a key", "compare it with each: If(x == a, ..., ...)")
    INDEX = ("uses a state value as an index", "compare it with each index: If(i == 0, a, b)")
    ITERATE = ("iterates over a state value", "loop over constants, such as names, and read s[name]")
    CATCH = ("catches exceptions around state values", "let the exception be raised; test with If")
    WITH = ("uses state values in a with block", "compute outside of it")
    RECURSION = ("calls itself with nothing but state values", "recur on a constant, or loop over one")
    CLASS = ("has a state value in an object with its own comparison, hash or attribute access", "drop those methods")
    LOCAL_CLASS = ("defines a class in a function of the state", "define it outside")
    CACHE = ("caches what it computes from state values", "cache functions of constants only")
    MEMORY = ("remembers something from call to call", "keep it in a variable of the model")
    SHARED = ("consumes an iterator that outlives the call", "make a tuple of it where it is defined")
    WORLD = (
        "looks at more than its arguments",
        "read it when the file is loaded; model chance as a choice: Flag, Amount, Subset",
    )
    LIBRARY = ("passes a state value to a function that may inspect it", "write it with fdverify.logic")

    @property
    def action(self) -> str:
        return self.value[0]

    @property
    def hint(self) -> str:
        return self.value[1]
