"""The problem that drivers solve (does an automaton have a run of a given shape?), and their contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.claims.lasting_claims import LastingClaim, build_lasting_claims
from fdverify.threshold.claims.run_shapes import RunShape
from fdverify.threshold.claims.thresholds import Threshold, collect_thresholds, rewrite_in_thresholds
from fdverify.threshold.cycles import select_edges_on_cycles
from fdverify.threshold.ltl_formula import Formula

if TYPE_CHECKING:
    from fdverify.threshold.runs.concretise import ConcreteRun

_MOST_PHASES = 32
TOO_MANY_PHASES = f"to keep several sets of locations inhabited may take more than {_MOST_PHASES} phases"


@dataclass(frozen=True)
class RunProblem:
    automaton: Automaton
    """The automaton without ineffective and duplicate rules, its guards expressed in thresholds."""
    shape: RunShape
    lasting_claims: tuple[tuple[LastingClaim, ...], ...]
    """For each moment of the shape, the claims that hold from it on."""
    loop_claims: tuple[LastingClaim, ...]
    """The eventually-always claims, if the run may need a loop that has to preserve them."""
    thresholds: dict[Threshold, set[str]]
    has_cycles: bool
    """Whether the rules have a cycle, so that a process can return to a location."""
    counts_on_cycles: bool
    """Whether a rule on a cycle increases a shared variable."""
    loop_rules: tuple[Rule, ...]
    """The rules that can be taken for ever: those on cycles that increase nothing."""
    most_processes: int | None
    """The maximal number of processes, or None for no limit."""

    @property
    def needs_loop(self) -> bool:
        """Whether a run may have to move for ever; if not, it can stay where all infinitely-often claims hold."""
        return len(self.shape.infinitely_often) > 1 and bool(self.loop_rules)

    @property
    def inhabited_sets(self) -> list[frozenset[str]]:
        """The sets of locations that must stay inhabited."""
        claims = [claim for group in (*self.lasting_claims, self.loop_claims) for claim in group]
        return list(dict.fromkeys(locations for claim in claims for locations in claim.inhabited if locations))


def build_run_problem(
    automaton: Automaton, name: str, shape: RunShape, most_processes: int | None = None
) -> RunProblem:
    """Build the problem for one shape; refuse claims and guards that are not supported."""
    rules = _list_effective_rules(automaton)
    prepared = replace(automaton, rules=rules)
    turns = tuple(select_edges_on_cycles(rule for rule in rules if not rule.adds))
    moments = tuple(_collect_lasting_claims(prepared, name, moment.globally) for moment in shape.moments)
    in_loops = (
        _collect_lasting_claims(prepared, name, shape.eventually_always)
        if len(shape.infinitely_often) > 1 and turns
        else ()
    )
    unless = [claim.unless for claims in (*moments, in_loops) for claim in claims]
    operators = collect_thresholds(prepared, (rule.guard for rule in rules))
    for threshold in collect_thresholds(prepared, unless):
        operators.setdefault(threshold, set()).add("unless")
    cyclic = select_edges_on_cycles(rules)
    counts = any(rule.adds for rule in cyclic)
    return RunProblem(prepared, shape, moments, in_loops, operators, bool(cyclic), counts, turns, most_processes)


def _collect_lasting_claims(automaton: Automaton, name: str, formulas: Iterable[Formula]) -> tuple[LastingClaim, ...]:
    return tuple(claim for formula in formulas for claim in build_lasting_claims(automaton, name, formula))


def _list_effective_rules(automaton: Automaton) -> tuple[Rule, ...]:
    """List the rules that change something, without duplicates, and rewrite their guards in thresholds."""
    effective: dict[object, Rule] = {}
    for rule in automaton.rules:
        if rule.source != rule.target or rule.adds:
            guarded = replace(rule, guard=rewrite_in_thresholds(automaton, rule.guard))
            effective.setdefault((rule.source, rule.target, guarded.guard, rule.adds), guarded)
    return tuple(effective.values())


def has_enough_phases(problem: RunProblem, phases: int) -> bool:
    """Return whether every stretch that keeps its sets inhabited can be divided into this many phases.

    docs/explanation/threshold-search.md has the proof.
    """
    sets = problem.inhabited_sets
    if len(sets) == 1:
        return phases >= 3
    # A phase for each choice of a location from each set, and a phase for each step between two choices.
    return not problem.counts_on_cycles and phases >= 2 * prod(len(locations) for locations in sets) - 1


def exceeds_phase_limit(phases: int) -> bool:
    """Return whether there are more phases than a solver can handle."""
    return phases > _MOST_PHASES


@dataclass(frozen=True)
class DriverOutcome:
    """The answer of a driver: no run, a run, or unknown with the facts that the solver could not decide."""

    status: Literal["none", "found", "unknown"]
    reason: str = ""
    run: ConcreteRun | None = None
    facts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class DriverCallbacks:
    """Callbacks that a driver calls while it works."""

    confirm: Callable[[list[Any], str], str | None]
    """Return why a second solver does not confirm the status of these facts, or None if it does."""
    report: Callable[[str], None]
    """Report the progress of the driver."""
