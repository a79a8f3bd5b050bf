"""Conditions that mean something else of numbers than of symbols, or each time: each with the definitions it needs."""

from __future__ import annotations

Condition = tuple[str, str]
"""Definitions, and the condition: a function of the state ``s``."""


def _tested(*lines: str) -> Condition:
    """A condition that takes statements."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"\n\ndef test(s):\n{body}\n", "test(s)"


IDENTITY: dict[str, Condition] = {
    "is-false": ("", "s.f is False"),
    "is-true": ("", "s.f is True"),
    "is-not-true": ("", "s.f is not True"),
    "is-label": ("", "s.sender is Sender.Up"),
    "is-not-label": ("", "s.sender is not Sender.Crashed"),
    "is-in-helper": ("\n\ndef same(a, b):\n    return a is b\n", "same(s.sender, Sender.Up)"),
    "is-in-generator": ("", "any(each is s.sender for each in Sender)"),
    "is-by-operator": ("", "operator.is_(s.f, False)"),
    "is-of-local": _tested("flag = s.f", "return flag is False"),
    "is-of-copy": ("", "copy.copy(s.x) is s.x"),
    "id": ("", "id(s.f) == id(False)"),
    "match-false": _tested("match s.f:", "    case False:", "        return True", "return False"),
    "match-label": _tested("match s.sender:", "    case Sender.Up:", "        return True", "return False"),
    "match-number": _tested("match s.x:", "    case 0:", "        return True", "return False"),
    "match-class": _tested("match s.x:", "    case int():", "        return True", "return False"),
    "match-in-tuple": _tested("match (s.f, 1):", "    case (False, 1):", "        return True", "return False"),
    "equal-by-identity": (
        "\n\nclass Box:\n    def __init__(self, held):\n        self.held = held\n\n"
        "    def __eq__(self, other):\n        return self.held is other.held\n",
        "Box(s.f) == Box(False)",
    ),
}
TYPES: dict[str, Condition] = {
    "isinstance": ("", "isinstance(s.x, int)"),
    "isinstance-of-flag": ("", "isinstance(s.f, bool)"),
    "isinstance-of-label": ("", "isinstance(s.sender, Sender)"),
    "isinstance-in-helper": ("\n\ndef plain(v):\n    return isinstance(v, int)\n", "plain(s.x)"),
    "isinstance-in-generator": ("", "all(isinstance(each, int) for each in (s.x, 1))"),
    "isinstance-by-map": ("", "all(map(lambda each: isinstance(each, int), [s.x]))"),
    "isinstance-aliased": ("\n\nis_a = isinstance\n", "is_a(s.x, int)"),
    "isinstance-partial": ("\n\nplain = partial(lambda kind, v: isinstance(v, kind), int)\n", "plain(s.x)"),
    "isinstance-of-abstract": ("", "isinstance(s.x, numbers.Integral)"),
    "isinstance-of-item": ("", 'isinstance(s["x"], int)'),
    "isinstance-of-values": ("", "isinstance(dict(s.values())['x'], int)"),
    "type-is": ("", "type(s.x) is int"),
    "type-equals": ("", "type(s.f) == bool"),
    "type-name": ("", 'type(s.x).__name__ == "int"'),
    "type-as-key": ("", "{int: True}.get(type(s.x), False)"),
    "class-of": ("", "s.x.__class__ is int"),
    "issubclass": ("", "issubclass(type(s.x), int)"),
    "singledispatch": (
        "\n\n@singledispatch\ndef plain(v):\n    return False\n\n\n@plain.register\ndef _(v: int):\n    return True\n",
        "plain(s.x)",
    ),
    "hasattr": ("", 'hasattr(s.x, "bit_length")'),
    "hasattr-not": ("", 'not hasattr(s.x, "term")'),
    "getattr-default": ("", 'getattr(s.x, "numerator", None) is not None'),
    "callable-attribute": ("", 'callable(getattr(s.x, "bit_length", None))'),
    "attributes-listed": ("", '"bit_length" in dir(s.x)'),
}
TEXT: dict[str, Condition] = {
    "str": ("", 'str(s.x) == "0"'),
    "repr": ("", 'repr(s.x) == "0"'),
    "f-string": ("", 'f"{s.x}" == "0"'),
    "f-string-as-key": ("", '{"x0": True}.get(f"x{s.x}", False)'),
    "format": ("", 'format(s.x) == "0"'),
    "str-format": ("", '"{}".format(s.x) == "0"'),
    "percent": ("", '"%s" % s.x == "0"'),
    "str-in-helper": ("\n\ndef named(v):\n    return str(v)\n", 'named(s.x) == "0"'),
    "str-joined": ("", '"".join(map(str, [s.x])) == "0"'),
    "str-of-flag": ("", 'str(s.f) == "False"'),
    "length-of-text": ("", "len(str(s.x)) == 1"),
}
CAUGHT: dict[str, Condition] = {
    "attribute-error": _tested(
        "try:", "    s.x.bit_length()", "except AttributeError:", "    return False", "return True"
    ),
    "type-error": _tested("try:", "    abs(s.x)", "except TypeError:", "    return False", "return True"),
    "any-error": _tested("try:", "    s.x.bit_length()", "except Exception:", "    return False", "return True"),
    "bare-except": _tested("try:", "    s.x.bit_length()", "except:", "    return False", "return True"),
    "suppressed": _tested(
        "with contextlib.suppress(AttributeError):", "    s.x.bit_length()", "    return True", "return False"
    ),
    "finally": _tested(
        "found = False", "try:", "    s.x.bit_length()", "    found = True", "finally:", "    return found"
    ),
    "key-error": _tested("try:", "    return {False: True}[s.f]", "except KeyError:", "    return False"),
    "truth-caught": _tested(
        "try:", "    if s.f:", "        return False", "except Exception:", "    return False", "return True"
    ),
}
MEMORY: dict[str, Condition] = {
    "global-counter": (
        "\n\nCALLS = 0\n\n\ndef test(s):\n    global CALLS\n    CALLS += 1\n    return CALLS > 5\n",
        "test(s)",
    ),
    "mutable-default": (
        "\n\ndef test(s, calls=[]):\n    calls.append(1)\n    return len(calls) > 5\n",
        "test(s)",
    ),
    "nonlocal": (
        "\n\ndef make():\n    calls = 0\n\n    def test(s):\n        nonlocal calls\n        calls += 1\n"
        "        return calls > 5\n\n    return test\n\n\ntest = make()\n",
        "test(s)",
    ),
    "function-attribute": (
        "\n\ndef test(s):\n    test.calls += 1\n    return test.calls > 5\n\n\ntest.calls = 0\n",
        "test(s)",
    ),
    "class-attribute": (
        "\n\nclass Memory:\n    calls = 0\n\n\ndef test(s):\n    Memory.calls += 1\n    return Memory.calls > 5\n",
        "test(s)",
    ),
    "instance-attribute": (
        "\n\nclass Memory:\n    def __init__(self):\n        self.calls = 0\n\n    def test(self, s):\n"
        "        self.calls += 1\n        return self.calls > 5\n\n\nMEMORY = Memory()\n",
        "MEMORY.test(s)",
    ),
    "module-list": ("\n\nSEEN = []\n\n\ndef test(s):\n    SEEN.append(1)\n    return len(SEEN) > 5\n", "test(s)"),
    "module-dict": (
        "\n\nSEEN = {}\n\n\ndef test(s):\n    SEEN['n'] = SEEN.get('n', 0) + 1\n    return SEEN['n'] > 5\n",
        "test(s)",
    ),
    "count": ("\n\nCOUNT = itertools.count()\n", "next(COUNT) > 5"),
    "cycle": ("\n\nTURNS = itertools.cycle([False] * 6 + [True])\n", "next(TURNS)"),
    "generator": (
        "\n\ndef turns():\n    for k in range(10**9):\n        yield k > 5\n\n\nTURNS = turns()\n",
        "next(TURNS)",
    ),
    "popped": ("\n\nLEFT = [False] * 6\n", "LEFT.pop() if LEFT else True"),
    "cache-by-state": (
        "\n\nSEEN = []\n\n\n@cache\ndef test(s):\n    SEEN.append(1)\n    return len(SEEN) > 5\n",
        "test(s)",
    ),
}
OUTSIDE: dict[str, Condition] = {
    "random": ("", "random.random() < 0.5"),
    "random-choice": ("", "random.choice([False, True])"),
    "random-of-own": ("\n\nDICE = random.Random(7)\n", "DICE.random() < 0.5"),
    "time": ("", "time.time_ns() % 2 == 0"),
    "clock": ("", "time.perf_counter_ns() % 2 == 0"),
    "date": ("", "datetime.datetime.now().microsecond % 2 == 0"),
    "environment": ("", 'os.environ.get("FDVERIFY_SLIP", "no") == "no"'),
    "getenv": ("", 'os.getenv("FDVERIFY_SLIP") is None'),
    "process": ("", "os.getpid() % 2 == 0"),
    "uuid": ("", "uuid.uuid4().int % 2 == 0"),
    "open": ("", "len(open(__file__).read()) > 0"),
    "path": ("", "pathlib.Path(__file__).exists()"),
}
CONVERSIONS: dict[str, Condition] = {
    "int": ("", "int(s.x) == 0"),
    "bool": ("", "bool(s.f) == False"),
    "float": ("", "float(s.x) < 0.5"),
    "round": ("", "round(s.x) == 0"),
    "floor": ("", "math.floor(s.x) == 0"),
    "and": ("", "s.f and s.x == 0"),
    "or": ("", "s.f or s.x == 0"),
    "not": ("", "not s.f"),
    "if": _tested("if s.f:", "    return False", "return True"),
    "ternary": ("", "False if s.f else True"),
    "while": _tested("k = s.x", "while k > 0:", "    k = k - 1", "return k == 0"),
    "assert": _tested("assert s.x >= 0", "return s.x == 0"),
    "chained": ("", "0 <= s.x < 1"),
    "in-tuple": ("", "s.x in (0, 5)"),
    "float-literal": ("", "s.x < 0.5"),
    "float-product": ("", "s.x * 1.0 < 1"),
    "quotient": ("", "s.x / 2 == 0"),
    "sorted": ("", "sorted([s.x, 1])[0] == 0"),
    "min": ("", "min(s.x, 1) == 0"),
    "set": ("", "len({s.x, 0}) == 1"),
    "recursion": (
        "\n\ndef falls(n):\n    return n == 0 if n <= 0 else falls(n - 1)\n",
        "falls(s.x)",
    ),
    "equal-data": (
        "\n\n@dataclass\nclass Pair:\n    x: object\n    y: object\n",
        "Pair(s.x, 0) == Pair(0, 0)",
    ),
    "term": ("", "s.x.term is not None"),
}
CONDITIONS: dict[str, Condition] = {**IDENTITY, **TYPES, **TEXT, **CAUGHT, **MEMORY, **OUTSIDE, **CONVERSIONS}
