"""Rounds that are not those of the class, each in another way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fdverify.cutoff.rounds import Choices, Configuration, Index, Interpretation, Kind, Rounds, Step
from fdverify.logic import If, Implies, Not, Truth
from fdverify.models.loading import load_module

_EXAMPLES = load_module(Path(__file__).parents[2] / "examples" / "broken_rounds.py")
CountsPeers, FavoursFirst = _EXAMPLES.CountsPeers, _EXAMPLES.FavoursFirst


class HearsAnother(Rounds):
    """What a process learns of a peer depends on the messages of process 1."""

    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().receive(of, c, chosen)

        def value(p: Index, q: Index) -> Any:
            changed = of.next_value(c.location(p), of.contents(chosen.delivered(1, p)), c.value(p, q))
            return If(self.enabled(of, c, p, Kind.RECEIVE), changed, c.value(p, q))

        return replace(step, after=replace(step.after, value=value))


class DeliversUpwards(Rounds):
    """Nothing is delivered from a process to one with a smaller index."""

    def receive(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().receive(of, c, chosen)

        def upwards(p: Index, q: Index) -> Truth:
            return Implies(p < q, chosen.delivered(q, p) == of.no_transit)

        return replace(step, rules={**step.rules, "upwards": upwards})


class WaitsForAll(Rounds):
    """A process is scheduled only if nobody has crashed: three processes do not go on when two of them could."""

    def schedule(self, of: Interpretation, c: Configuration, chosen: Choices) -> Step:
        step = super().schedule(of, c, chosen)

        def all_there(p: Index, q: Index) -> Truth:
            return Implies(chosen.schedule(p), Not(step.after.location(q) == of.crashed))

        return replace(step, rules={**step.rules, "all-there": all_there})


class StartsFirstActive(Rounds):
    """Process 1 starts with another value."""

    def begin(self, of: Interpretation, some: Any) -> Configuration:
        begin = super().begin(of, some)
        return replace(begin, value=lambda p, q: If(p == 1, of.no_messages, of.start_value))


BROKEN: dict[type[Rounds], set[str]] = {
    HearsAnother: {"symmetry.receive", "projection-2.receive", "projection-1.receive"},
    CountsPeers: {"projection-2.receive", "projection-1.receive", "extension-2.receive", "extension-1.receive"},
    DeliversUpwards: {"symmetry.receive", "extension-2.receive", "extension-1.receive"},
    FavoursFirst: {"symmetry.schedule", "projection-2.schedule", "extension-2.schedule"},
    WaitsForAll: {"extension-2.schedule", "extension-1.schedule"},
    StartsFirstActive: {"symmetry.start"},
}
"""The lemmas that each breaks, among others."""
