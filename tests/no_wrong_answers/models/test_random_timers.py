"""Random timers with parameters as deadlines: bounded model checking finds what comes late, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any, TypeAlias

import pytest

from fdverify.engines.bmc import bmc
from fdverify.logic import And, If, Implies, Max, Min, Not, Or, Truth
from fdverify.models.system import (
    Choices,
    Flag,
    Flags,
    Integers,
    Parameter,
    Phase,
    Property,
    State,
    System,
    Update,
    Variable,
    update,
)
from fdverify.verdict import Verdict
from tests.no_wrong_answers.models.oracle import Instance, Search
from tests.sampling import every

SYSTEMS, BATCH = 400, 20
CLAIMS = 24
DEPTH = 13
TIMERS = ("x", "y")
PARAMETERS = {"p": (0, 6), "q": (1, 5)}
"""The least value of each parameter, and the largest one that the oracle looks at."""

Number: TypeAlias = Callable[[State], Any]
Condition: TypeAlias = Callable[[State], Truth]


class Maker:
    """Makes the functions of a random system."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def make_bound(self) -> Number:
        """Make a number that depends on parameters alone."""
        random = self._random
        a, b, c = random.choice((0, 1, 1, 2)), random.choice((0, 1, 1, 2, -1)), random.choice((0, 0, 1, 2, 5))
        match random.randrange(6):
            case 0:
                return lambda s: (a * s.p + b * s.q + c) // 2
            case 1:
                return lambda s: Max(s.p, b * s.q + c)
            case 2:
                return lambda s: Min(2 * s.q + a, s.p + c + 3)
            case _:
                return lambda s: a * s.p + b * s.q + c

    def make_condition(self) -> Condition:
        """Make a comparison of timers, parameters and the flag."""
        random = self._random
        bound, name, other, sign = (
            self.make_bound(),
            random.choice(TIMERS),
            random.choice(TIMERS),
            random.choice((1, -1)),
        )
        match random.randrange(7):
            case 0:
                return lambda s: s[name] < bound(s)
            case 1:
                return lambda s: s[name] == bound(s)
            case 2:
                return lambda s: s[name] + sign * s[other] >= bound(s)
            case 3:
                return lambda s: And(s.flag, s[name] >= bound(s))
            case 4:
                return lambda s: Or(Not(s.flag), 2 * s[name] > bound(s) + s[other])
            case 5:
                return lambda s: s.flag
            case _:
                return lambda s: s[name] >= bound(s)

    def make_claim(self) -> Condition:
        """Make a claim that is violated late: two conditions never hold together, if the parameters are not small."""
        first, second = self.make_condition(), self.make_condition()
        p, q = self._random.randrange(4), self._random.randrange(1, 4)
        return lambda s: Implies(And(s.p >= p, s.q >= q), Not(And(first(s), second(s))))

    def make_timer(self, name: str) -> Callable[[State, Choices], Any]:
        """Make the next value of a timer."""
        bound, condition = self.make_bound(), self.make_condition()
        match self._random.randrange(5):
            case 0:
                return lambda s, c: If(And(c.go, condition(s)), 0, s[name] + 1)
            case 1:
                return lambda s, c: Min(s[name] + 1, Max(bound(s), 0))
            case 2:
                return lambda s, c: If(s[name] <= 0, Max(bound(s), 0), s[name] - 1)
            case 3:
                return lambda s, c: If(condition(s), s[name] + 1, s[name])
            case _:
                return lambda s, c: If(c.go, 0, s[name] + 1)

    def make_phase(self) -> Phase:
        timers = {name: self.make_timer(name) for name in TIMERS}
        toggles, allowed = self.make_condition(), self.make_condition()
        sometimes = self._random.random() < 0.4

        def run(s: State, c: Choices) -> Update:
            changes = {name: timer(s, c) for name, timer in timers.items()}
            return update(
                assume=Or(c.go, allowed(s)) if sometimes else True,
                flag=If(c.go, Not(s.flag), Or(s.flag, toggles(s))),
                **changes,
            )

        return Phase("tick", run, (Flag("go"),))

    def make_system(self) -> Callable[..., System]:
        """Make a system with claims; it is built for numbers or, for ``None``, for arbitrary parameters."""
        starts = [self._random.choice((self.make_bound(), lambda s: 0)) for _ in TIMERS]
        variables = (
            *(Variable(name, Integers(), initial=start) for name, start in zip(TIMERS, starts, strict=True)),
            Variable("flag", Flags(), initial=lambda s: False),
        )
        phase = self.make_phase()
        claims = tuple(Property(f"claim{n}", self.make_claim(), "a claim") for n in range(CLAIMS))

        def build(**values: int | None) -> System:
            parameters = tuple(Parameter(name, least, values[name]) for name, (least, _) in PARAMETERS.items())
            return System("timers", {}, parameters, variables, (phase,), claims)

        return build


def find_violations(system: System) -> dict[str, int]:
    """Find after how many rounds each claim is violated first."""
    instance = Instance(system, {})
    search = Search(instance, system.properties[0]).run(DEPTH, past_violation=True)
    violations: dict[str, int] = {}
    for length, level in enumerate(search.levels[: DEPTH + 1]):
        for claim in system.properties:
            if claim.name not in violations and not all(instance.holds(claim, state) for state in level):
                violations[claim.name] = length
    return violations


def draw_seed_cases(seed: int) -> tuple[Callable[..., System], dict[str, int | None]]:
    """Make a system; return how to build it, and the fewest rounds to a violation of some of its claims.

    Those are the claim that is violated last, and one that is not violated, if there is any.
    """
    build = Maker(seed).make_system()
    values = product(*(range(least, most + 1) for least, most in PARAMETERS.values()))
    violations = [find_violations(build(**dict(zip(PARAMETERS, each, strict=True)))) for each in values]
    fewest = {
        name: min((each[name] for each in violations if name in each), default=None)
        for name in (f"claim{n}" for n in range(CLAIMS))
    }
    latest = max(fewest, key=lambda name: (fewest[name] is not None, fewest[name] or 0))
    kept = [latest, *[name for name in fewest if fewest[name] is None][:1]]
    return build, {name: fewest[name] for name in kept}


@pytest.mark.parametrize("first", every(20, range(0, SYSTEMS, BATCH)))
def test_a_violation_is_found_as_early_as_with_numbers(first: int) -> None:
    late = 0
    for seed in range(first, first + BATCH):
        build, fewest = draw_seed_cases(seed)
        symbolic = build(p=None, q=None)
        for name, length in fewest.items():
            result = bmc(symbolic, symbolic.find_property(name), DEPTH)
            where = f"seed {seed}, {name}: {result.verdict}, {result.detail}; the oracle says {length}"
            if result.verdict is Verdict.VIOLATED:
                assert result.run is not None
                rounds = len(result.run.rounds)
                assert length is None or rounds <= length, where
                assert find_violations(build(**result.run.parameters)).get(name) == rounds, where
                late += rounds > DEPTH // 2
            else:
                assert result.verdict in (Verdict.BOUNDED, Verdict.VACUOUS), where
                assert length is None, where
    assert late >= BATCH // 5, "violations that come late are what this is about"
