"""Rounds that no symmetric point-to-point algorithm has: the cutoff does not hold, and a step shows why.

fdverify cutoff examples/broken_rounds.py:FAVOURED
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fdverify import And, If, Implies, Not, Truth
from fdverify.cutoff.chandra_toueg_template import chandra_toueg
from fdverify.cutoff.rounds import Choices, Configuration, Index, Interpretation, Rounds, Step


class FavoursFirst(Rounds):
    """Process 1 is scheduled whenever another one is."""

    def schedule(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().schedule(of, c, chosen)

        def first_too(p: Index, q: Index) -> Truth:
            return Implies(chosen.schedule(p), chosen.schedule(1))

        return replace(step, rules={**step.rules, "first-too": first_too})


class CountsPeers(Rounds):
    """A process learns from messages only if they come from two peers."""

    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().receive(of, c, chosen)

        def arrived(p: Index) -> Callable[[Index], Truth]:
            return lambda q: Not(of.contents(chosen.delivered(q, p)) == of.no_messages)

        def value(p: Index, q: Index) -> Any:
            enough = c.some(lambda one: c.some(lambda two: And(Not(one == two), arrived(p)(one), arrived(p)(two))))
            return If(enough, step.after.value(p, q), c.value(p, q))

        return replace(step, after=replace(step.after, value=value))


FAVOURED = replace(chandra_toueg(), name="favoured", rounds=FavoursFirst())
COUNTING = replace(chandra_toueg(), name="counting", rounds=CountsPeers())
