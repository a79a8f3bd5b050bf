"""Random automata that follow the grammar: most of them are right, and some have a name where it does not belong."""

import random

OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
SPACES = (" ", " ", " ", "\n", "\t", "\r\n", " /* * / ** */ ", "/**/")


class Text:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.local = self.names("l", 2)
        self.shared = self.names("x", 4)
        self.parameters = self.names("N", 4)
        self.locations = self.names("A", 6)
        self.sums: list[str] = []
        self.truths: list[str] = []

    def names(self, first: str, most: int) -> list[str]:
        return [f"{first}{at}_" for at in range(self.source.randint(1, most))]

    def one_in(self, number: int) -> bool:
        return self.source.randrange(number) == 0

    def text(self) -> str:
        """Its words, which have more or less space between them."""
        return "".join(word + self.source.choice(SPACES) for word in self.whole().split())

    def whole(self) -> str:
        macros = [self.macro(at) for at in range(self.source.randint(0, 4))]
        everything = [*self.shared, *self.parameters, *self.locations]
        parts = [
            self.listed("local", self.local),
            self.listed("shared", self.shared),
            self.listed("parameters", self.parameters),
            self.section("assumptions", [f"{self.claim(self.parameters)} ;" for _ in range(2)]),
            self.section("locations", [self.location(name) for name in self.locations]),
            self.section("inits", [f"{self.claim(everything)} ;" for _ in range(3)]),
            self.section("rules", [self.rule(at) for at in range(self.source.randint(0, 6))]),
            self.section("specifications", [f"s{at} : {self.claim(everything, True)} ;" for at in range(3)]),
            " ".join(macros),
        ]
        if self.one_in(4):
            self.source.shuffle(parts)
        keyword = self.source.choice(("skel", "thresholdAutomaton", "threshAuto"))
        return f"{keyword} {self.name(['P', 'Proc'])} {{ {' '.join(parts)} }}"

    def listed(self, keyword: str, names: list[str]) -> str:
        if self.one_in(3):
            return " ".join(f"{keyword} {name} ;" for name in names)
        return f"{keyword} {' , '.join(names)} ;"

    def section(self, keyword: str, entries: list[str]) -> str:
        size = "" if self.one_in(3) else f"( {self.source.randrange(100)} )"
        return f"{keyword} {size} {{ {' '.join(entries)} }}"

    def location(self, name: str) -> str:
        return f"{name} : [ {' ; '.join(str(self.source.randrange(20)) for _ in self.local)} ] ;"

    def macro(self, at: int) -> str:
        if self.one_in(3):
            claim = self.claim(self.parameters)
            self.truths.append(f"M{at}")
            return f"define M{at} == {claim} ;"
        total = self.sum(self.parameters)
        self.sums.append(f"M{at}")
        return f"define M{at} == {total} ;"

    def rule(self, at: int) -> str:
        guard = self.claim([*self.shared, *self.parameters])
        guard = guard if self.one_in(3) else f"( {guard} )"
        growing = [name for name in self.shared if self.one_in(2)]
        same = [name for name in self.shared if name not in growing and not self.one_in(3)]
        actions = [f"{name} ' == {name} + {self.source.randrange(3)} ;" for name in growing]
        actions += [f"unchanged ( {' , '.join(same)} ) ;"] if same or self.one_in(2) else []
        ends = " -> ".join(self.name(self.locations) for _ in range(2))
        return f"{at} : {ends} when {guard} do {{ {' '.join(actions)} }} ;"

    def name(self, known: list[str]) -> str:
        if self.one_in(300):
            return self.source.choice(("nobody", "when", "true", "rules", *self.local, *self.shared, *self.locations))
        return self.source.choice(known)

    def sum(self, known: list[str], depth: int = 2) -> str:
        match self.source.randrange(8):
            case 0 | 1:
                return str(self.source.choice((0, 1, 2, 17, 10**14)))
            case 2 if self.sums:
                return self.name(self.sums)
            case 3 if depth:
                return f"{self.source.randrange(9)} * ( {self.sum(known, depth - 1)} )"
            case 4 | 5 if depth:
                sign = self.source.choice("+-")
                return f"{self.sum(known, depth - 1)} {sign} {self.sum(known, depth - 1)}"
            case 6 if depth:
                return f"( - {self.sum(known, depth - 1)} )"
            case _:
                return self.name(known)

    def claim(self, known: list[str], temporal: bool = False, depth: int = 3) -> str:
        def inside() -> str:
            return self.claim(known, temporal, depth - 1)

        match self.source.randrange(10):
            case 0 if self.truths:
                return self.name(self.truths)
            case 1:
                return self.source.choice(("true", "false"))
            case 2 | 3 | 4 if depth:
                return f"( {inside()} {self.source.choice(('&&', '||', '->'))} {inside()} )"
            case 5 if depth:
                return f"{inside()} {self.source.choice(('&&', '||', '->'))} {inside()}"
            case 6 | 7 if depth:
                return f"{self.source.choice(('!', '<>', '[]') if temporal else '!')} ( {inside()} )"
            case _:
                return f"{self.sum(known)} {self.source.choice(OPERATORS)} {self.sum(known)}"


def grown(source: random.Random) -> bytes:
    return Text(source).text().encode()
