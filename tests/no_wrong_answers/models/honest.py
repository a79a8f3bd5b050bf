"""What authors rightly write: none of it may be refused, and every engine must make the same of it."""

from __future__ import annotations

from tests.no_wrong_answers.models.conditions import Condition
from tests.no_wrong_answers.models.written import Parts


def _helper(*lines: str, prelude: str = "") -> Condition:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{prelude}\n\ndef test(s):\n{body}\n", "test(s)"


CONDITIONS: dict[str, Condition] = {
    "equals-false": ("", "s.f == False"),
    "equals-label": ("", "s.sender == Sender.Up"),
    "differs-from-label": ("", "s.sender != Sender.Crashed"),
    "loop": _helper("found = False", "for k in (0, 2):", "    found = Or(found, s.x == k)", "return found"),
    "while-over-constants": _helper(
        "found, k = False, 0", "while k < 2:", "    found = Or(found, s.x == k)", "    k += 1", "return found"
    ),
    "list": _helper("parts = []", "for k in range(3):", "    parts.append(s.x != k)", "return Not(And(*parts))"),
    "extended-list": _helper(
        "parts = [s.f]", "parts.extend([s.x == 1, s.x == 2])", "parts += [s.f]", "return And(*parts)"
    ),
    "dictionary": _helper("parts = {}", 'parts["f"] = s.f', 'parts["x"] = s.x == 0', "return And(*parts.values())"),
    "sum": _helper("return sum(If(each, 1, 0) for each in (s.f, s.x == 0)) >= 1"),
    "total": _helper("total = 0", "for each in (s.f, s.x == 1):", "    total += If(each, 1, 0)", "return total == 2"),
    "members": ("", "Or(*(And(s.sender == each, s.x == each.value) for each in Sender))"),
    "tuple": _helper("x, f = s.x, s.f", "return And(f, x == 2)"),
    "named-tuple": _helper(
        "seen = Seen(s.x, s.f)", "return And(seen.f, seen.x == 2)", prelude='\n\nSeen = namedtuple("Seen", "x f")\n'
    ),
    "walrus": _helper("return And((low := s.x <= 1), Or(low, s.f))"),
    "closure": (
        "\n\ndef at_least(bound):\n    def check(s):\n        return s.x >= bound\n\n    return check\n\n\n"
        "high = at_least(2)\n",
        "high(s)",
    ),
    "closures-in-loop": (
        "\n\ndef equals(k):\n    return lambda s: s.x == k\n\n\nCHECKS = [equals(k) for k in (0, 1)]\n",
        "Or(*(check(s) for check in CHECKS))",
    ),
    "nested-function": _helper("def low(bound):", "    return s.x <= bound", "return And(low(1), s.f)"),
    "two-lambdas": ("\n\nlow, high = (lambda s: s.x < 1), (lambda s: s.x > 1)\n", "Or(low(s), high(s))"),
    "default-argument": ("\n\ndef low(s, bound=1):\n    return s.x <= bound\n", "low(s)"),
    "tuple-as-default": ("\n\ndef some(s, of=(0, 2)):\n    return Or(*(s.x == k for k in of))\n", "some(s)"),
    "keyword-argument": ("\n\ndef low(s, *, bound):\n    return s.x <= bound\n", "low(s, bound=0)"),
    "star-arguments": ("\n\ndef one(*parts):\n    return Or(*parts)\n", "one(s.f, s.x == 0)"),
    "partial": ("\n\ndef above(bound, s):\n    return s.x > bound\n\n\nhigh = partial(above, 1)\n", "high(s)"),
    "method": (
        "\n\n@dataclass(frozen=True)\nclass Bounds:\n    low: int\n    high: int\n\n    def hold(self, x):\n"
        "        return And(x >= self.low, x <= self.high)\n\n\nBOUNDS = Bounds(1, 2)\n",
        "BOUNDS.hold(s.x)",
    ),
    "bound-method": (
        "\n\n@dataclass(frozen=True)\nclass Bounds:\n    low: int\n\n    def hold(self, s):\n"
        "        return s.x >= self.low\n\n\nholds = Bounds(1).hold\n",
        "holds(s)",
    ),
    "static-method": (
        "\n\nclass Tests:\n    @staticmethod\n    def low(s):\n        return s.x <= 1\n",
        "Tests.low(s)",
    ),
    "class-constant": ("\n\nclass Config:\n    LOW = 1\n", "s.x <= Config.LOW"),
    "option-is-none": ("\n\nLIMIT = None\n", "s.x == 0 if LIMIT is None else s.x == 1"),
    "argument-is-none": ("\n\ndef low(s, bound=None):\n    return s.x <= (1 if bound is None else bound)\n", "low(s)"),
    "detector-is-none": ("\n\nPLAIN = (None, 1)\n", "And(*(s.x <= each for each in PLAIN if each is not None))"),
    "isinstance-of-constant": ("\n\nLIMIT = 1\n", "s.x <= (LIMIT if isinstance(LIMIT, int) else 0)"),
    "option": _helper("if STRICT:", "    return s.x < 1", "return s.x <= 1", prelude="\n\nSTRICT = True\n"),
    "option-and-option": _helper(
        "return s.f if STRICT and not LOOSE else s.x == 0", prelude="\n\nSTRICT, LOOSE = True, False\n"
    ),
    "match-on-option": _helper(
        "match KIND:",
        '    case "low":',
        "        return s.x <= 1",
        "    case _:",
        "        return s.f",
        prelude='\n\nKIND = "low"\n',
    ),
    "cache-of-constants": (
        "\n\n@cache\ndef some(n):\n    return tuple(range(n))\n",
        "Or(*(s.x == k for k in some(2)))",
    ),
    "lru-cache-of-constants": ("\n\n@lru_cache\ndef low():\n    return 1\n", "s.x <= low()"),
    "table": (
        "\n\nTABLE = {Sender.Up: 2, Sender.Crashed: 1}\n",
        "Or(*(And(s.sender == k, s.x == v) for k, v in TABLE.items()))",
    ),
    "looked-up-constant": ("\n\nTABLE = {'low': 1}\n", "s.x <= TABLE['low']"),
    "length-of-constants": ("\n\nTABLE = (4, 5)\n", "s.x < len(TABLE)"),
    "sorted-constants": ("\n\nTABLE = {2, 0}\n", "s.x == sorted(TABLE)[0]"),
    "set-of-constants": ("\n\nTABLE = {2, 0}\n", "Or(*(s.x == k for k in TABLE))"),
    "converted-constants": ("", 'Or(s.x == int("1"), s.x == round(1.6), s.x == max(0, 1))'),
    "text-of-constants": _helper('return And(*(s[name] == 0 for name in ("x",)))'),
    "built-name": _helper('return s[f"{PREFIX}"] == 0', prelude='\n\nPREFIX = "x"\n'),
    "getattr": _helper('return Or(*(getattr(s, name) for name in ("f",)))'),
    "enumerate": ("", "Or(*(And(s.x == k, s.f == f) for k, f in enumerate([True, False])))"),
    "zip": ("", "Or(*(And(s.x == k, s.sender == m) for k, m in zip((0, 1), Sender)))"),
    "product": ("", "Or(*(And(s.x == k, s.f == f) for k, f in itertools.product((0, 1), (True,))))"),
    "reduce": ("", "reduce(Or, [s.f, s.x == 0])"),
    "operator": ("", "And(operator.le(s.x, 1), operator.eq(s.f, True))"),
    "recursion-on-constants": (
        "\n\ndef some(s, n):\n    return s.x == 0 if n == 0 else Or(s.x == n, some(s, n - 1))\n",
        "some(s, 1)",
    ),
    "assert-on-constants": _helper("assert LIMIT > 0", "return s.x < LIMIT", prelude="\n\nLIMIT = 1\n"),
    "caught-on-constants": (
        '\n\ntry:\n    LIMIT = int("no")\nexcept ValueError:\n    LIMIT = 1\n',
        "s.x <= LIMIT",
    ),
    "file-at-module-level": ("\n\nLINES = len(open(__file__).read().splitlines())\n", "s.x < Min(1, LINES)"),
    "seeded-at-module-level": ("\n\nLUCKY = random.Random(4).sample(range(3), 1)\n", "Or(*(s.x == k for k in LUCKY))"),
    "negative-modulo": ("", "(s.x - 3) % 2 == 0"),
    "floor-division": ("", "(s.x - 3) // 2 == -1"),
    "buffer": ("", "And(s.b.has(s.delta), Not(s.b.empty()))"),
    "ages": ("", "s.b.forall(0, s.delta, lambda a: Implies(s.b.has(a), a >= 1))"),
    "ages-in-loop": ("", "Or(*(s.b.has(k) for k in range(2)))"),
    "comprehension-with-option": ("\n\nODD = False\n", "Or(*[s.x == k for k in range(3) if ODD or k != 1])"),
    "set-comprehension": ("", "Or(*(s.x == k for k in sorted({k % 2 for k in range(5)})))"),
    "nested-if": ("", "If(s.f, If(s.x == 0, True, s.sender == Sender.Up), False)"),
    "iff": ("", "Iff(s.f, s.x >= 1)"),
}


def _of_phase(condition: Condition) -> Parts:
    return Parts(prelude=condition[0], jump=condition[1])


def _of_when(condition: Condition) -> Parts:
    return Parts(prelude=condition[0], jump="c.jump", jump_when=condition[1])


def _of_range_of_choice(condition: Condition) -> Parts:
    return Parts(prelude=condition[0], jump="c.more > 0", most=f"If({condition[1]}, 1, 0)")


def _of_claims(condition: Condition) -> Parts:
    prelude, part = condition
    claim = f"And(s.x >= 0, Or(Not({part}), s.x < 3))"
    return Parts(prelude=prelude, proof_prelude=prelude, jump="s.x == 2", claim=claim, conjunct=f"Or({part}, s.x >= 0)")


HONEST: dict[str, Parts] = (
    {f"phase/{name}": _of_phase(condition) for name, condition in CONDITIONS.items()}
    | {f"when/{name}": _of_when(condition) for name, condition in list(CONDITIONS.items())[::3]}
    | {f"most/{name}": _of_range_of_choice(condition) for name, condition in list(CONDITIONS.items())[::3]}
    | {f"claim/{name}": _of_claims(condition) for name, condition in list(CONDITIONS.items())[1::2]}
)
