"""Whether a run that somebody shows is one, and breaks a specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.threshold.oracle.formulas import Formula, true_at
from tests.threshold.oracle.graph import effect
from tests.threshold.oracle.reader import Automaton, read
from tests.threshold.oracle.tableau import pushed, some_run

Steps = Sequence[tuple[str, str, int, Mapping[str, int]]]
"""From where, to where, by how many processes, and the values afterwards."""


def is_broken_by(text: str, spec_name: str, start: Mapping[str, int], steps: Steps, loop: int) -> bool:
    """Whether the steps can be taken in turn, those after the first ``loop`` ones for ever, and break it."""
    automaton = read(text)
    claimed = (*automaton.assumptions, *automaton.inits)
    counts = [*automaton.locations, *automaton.shared]
    if min(start.values()) < 0 or not all(true_at(formula, start) for formula in claimed):
        return False
    run, back = [dict(start)], 0
    for number, (source, target, processes, after) in enumerate(steps):
        back = len(run) - 1 if number == loop else back
        between = one_by_one(automaton, run[-1], source, target, processes, after)
        if between is None:
            return False
        run += between
    if loop == len(steps):
        back = len(run) - 1
    elif any(run[-1][name] != run[back][name] for name in counts):
        return False
    claims: list[Formula] = []
    broken = pushed(automaton.specifications[spec_name], False, claims)
    true = [frozenset(at for at, claim in enumerate(claims) if true_at(claim, values)) for values in run]
    successors = [[at + 1] for at in range(len(run) - 1)]
    return some_run(broken, [*successors, [back]], true, [0])


def one_by_one(
    automaton: Automaton, values: Mapping[str, int], source: str, target: str, processes: int, after: Mapping[str, int]
) -> list[dict[str, int]] | None:
    """The values after each of so many processes has taken a rule between these places that leads to these values."""
    names = [*automaton.locations, *automaton.shared]
    for rule in automaton.rules:
        if (rule.source, rule.target) != (source, target):
            continue
        found: list[dict[str, int]] = []
        now = dict(values)
        for _ in range(processes):
            if now[source] < 1 or not true_at(rule.guard, now):
                break
            now = now | {name: now[name] + more for name, more in zip(names, effect(names, rule), strict=True)}
            found.append(now)
        if len(found) == processes and all(now[name] == after[name] for name in names):
            return found
    return None
