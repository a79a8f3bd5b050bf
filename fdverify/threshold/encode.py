"""Runs of every length, for all parameters, as one formula.

Between two changes of the context every rule is allowed or not, and the order in which processes take rules does not
matter: how often each rule is taken says it all.  So a run is at most as many *stretches* as there are thresholds, plus
one, with a single step between two of them that may reach thresholds.  In a stretch the context is the same at both
ends, so it is the same throughout.

A stretch is a flow of processes through locations.  There is an order in which it can happen if every location that it
leaves is marked at the start, or is reached from such a one along rules that are taken.

What holds for good constrains stretches.  A location that stays empty is neither entered nor left.  Of locations of
which one is never empty, at least one process is in some at both ends; and there is an order in which that is so
throughout if none of them is left to the outside, or if two processes are in them at the start: one of those moves only
once another one is there to stay.  A stretch in which one process at a time holds the place is therefore cut in two: at
first nobody leaves; then, if anybody does, there are two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import z3

from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.formula import And, Comparison, Constant, Formula, Implies, Linear, Not, Or, compared
from fdverify.threshold.specification import Lasting, Shape
from fdverify.threshold.thresholds import Threshold, thresholds

Values = Mapping[str, Any]
"""Of each name (a parameter, a shared variable, a location), a Z3 term."""


def linear(expression: Linear, values: Values) -> Any:
    terms = [values[name] if factor == 1 else factor * values[name] for name, factor in expression.factors]
    if expression.constant or not terms:
        terms.append(z3.IntVal(expression.constant))
    return terms[0] if len(terms) == 1 else z3.Sum(terms)


def truth(formula: Formula, values: Values) -> Any:
    """A formula without temporal operators, of these values."""
    match formula:
        case Comparison(left, operator, right):
            return compared(linear(left, values), operator, linear(right, values))
        case Constant(value):
            return z3.BoolVal(value)
        case Not(operand):
            return z3.Not(truth(operand, values))
        case And(left, right):
            return z3.And(truth(left, values), truth(right, values))
        case Or(left, right):
            return z3.Or(truth(left, values), truth(right, values))
        case Implies(left, right):
            return z3.Implies(truth(left, values), truth(right, values))
        case _:
            raise AssertionError("a state does not tell what holds later")


@dataclass(frozen=True)
class Leg:
    """How often each rule is taken on the way to the next configuration, and the values there."""

    taken: tuple[Any, ...]
    before: Values
    after: Values
    single: bool
    """Whether it is one step, and not a stretch."""
    nobody_leaves: bool
    """Whether nobody leaves locations of which one is never empty."""


class Runs:
    """The runs of an automaton that have a shape: the values at the start, legs, and when the moments of the shape are.

    ``lasting`` has, for each moment, what holds from it on.
    """

    def __init__(self, automaton: Automaton, shape: Shape, lasting: list[list[Lasting]]) -> None:
        self.automaton = automaton
        self.lasting = lasting
        self.thresholds = thresholds(automaton, (each.unless for claims in lasting for each in claims))
        self.facts: list[Any] = []
        self._counted = [*(location.name for location in automaton.locations), *automaton.shared]
        self._loops = _has_loops(automaton)
        self.parameters = {name: self._natural(name) for name in (*automaton.parameters, *automaton.unknowns)}
        self.start: Values = {**self.parameters, **{name: self._natural(f"{name}@0") for name in self._counted}}
        self.facts += [truth(claim, self.start) for claim in (*automaton.assumptions, *automaton.initial)]
        self.legs: list[Leg] = []
        self._enter_context()
        # Each moment but the start may end a stretch; after the last one nothing need move.
        in_two = any(each.inhabited for claims in lasting for each in claims)
        for number in range(len(self.thresholds) + 1):
            if number > 0:
                self._step()
                self._enter_context()
            for _ in range(max(1, len(shape.moments) - 1)):
                if in_two:
                    self._stretch(nobody_leaves=True)
                self._stretch(nobody_leaves=False)
        self._place_moments(shape, lasting)

    @property
    def configurations(self) -> list[Values]:
        return [self.start, *(leg.after for leg in self.legs)]

    def _natural(self, name: str) -> Any:
        constant = z3.Int(name)
        self.facts.append(constant >= 0)
        return constant

    def _enter_context(self) -> None:
        """From here to the next single step, that included, guards are what they are here."""
        here = self.configurations[-1]
        self._reached = [_is_reached(threshold, here) for threshold in self.thresholds]
        guards = dict.fromkeys(rule.guard for rule in self.automaton.rules if rule.guard != Constant(True))
        self._guards = {guard: truth(guard, here) for guard in guards}

    def _leg(self, single: bool, nobody_leaves: bool) -> Leg:
        before, at = self.configurations[-1], len(self.legs) + 1
        rules = self.automaton.rules
        taken = tuple(self._natural(f"rule{rule.number}@{at}") for rule in rules)
        after = {**self.parameters, **{name: self._natural(f"{name}@{at}") for name in self._counted}}
        for name in self._counted:
            changes = [(_change(rule, name), times) for rule, times in zip(rules, taken, strict=True)]
            total = [before[name], *(change * times for change, times in changes if change != 0)]
            self.facts.append(after[name] == z3.Sum(total))
        for guard, allowed in self._guards.items():
            together = [times for rule, times in zip(rules, taken, strict=True) if rule.guard == guard]
            self.facts.append(z3.Implies(z3.Sum(together) > 0, allowed))
        leg = Leg(taken, before, after, single, nobody_leaves)
        self.legs.append(leg)
        return leg

    def _stretch(self, nobody_leaves: bool) -> None:
        """Any number of steps that leave the context as it is."""
        leg = self._leg(single=False, nobody_leaves=nobody_leaves)
        for threshold, reached in zip(self.thresholds, self._reached, strict=True):
            self.facts.append(reached == _is_reached(threshold, leg.after))
        if self._loops:
            self._connect(leg)

    def _step(self) -> None:
        """One process takes one rule, or none does."""
        leg = self._leg(single=True, nobody_leaves=False)
        self.facts.append(z3.Sum(list(leg.taken)) <= 1)
        for location in (location.name for location in self.automaton.locations):
            leaving = [times for rule, times in self.taken(leg) if rule.source == location]
            if leaving:
                self.facts.append(z3.Sum(leaving) <= leg.before[location])

    def _connect(self, leg: Leg) -> None:
        """Each location that is left is marked, or is entered from one that comes before it in some order."""
        at = len(self.legs)
        order = {location.name: z3.Int(f"order {location.name}@{at}") for location in self.automaton.locations}
        for location in order:
            leaving = [times > 0 for rule, times in self.taken(leg) if rule.source == location]
            entering = [
                z3.And(times > 0, order[rule.source] < order[location])
                for rule, times in self.taken(leg)
                if rule.target == location != rule.source
            ]
            if leaving:
                self.facts.append(z3.Implies(z3.Or(*leaving), z3.Or(leg.before[location] > 0, *entering)))

    def taken(self, leg: Leg) -> list[tuple[Rule, Any]]:
        return list(zip(self.automaton.rules, leg.taken, strict=True))

    def _place_moments(self, shape: Shape, lasting: list[list[Lasting]]) -> None:
        """Each moment is at one of the configurations, and what it says holds there, or from there on."""
        places = [z3.IntVal(0), *(z3.Int(f"moment{at}") for at in range(1, len(shape.moments)))]
        for moment, place, claims in zip(shape.moments, places, lasting, strict=True):
            earliest = places[moment.after] if moment.after is not None else z3.IntVal(0)
            self.facts += [place >= earliest, place <= len(self.legs)]
            for at, values in enumerate(self.configurations):
                now = [truth(formula, values) for formula in moment.holds]
                for_good = [_lasts(claim, values) for claim in claims]
                self.facts.append(z3.Implies(place == at, _all(now)))
                self.facts.append(z3.Implies(place <= at, _all(for_good)))
            for at, leg in enumerate(self.legs):
                if not leg.single:
                    kept = [z3.Or(truth(claim.unless, leg.before), self._kept(claim, leg)) for claim in claims]
                    self.facts.append(z3.Implies(place <= at, _all(kept)))

    def _kept(self, claim: Lasting, leg: Leg) -> Any:
        """That there is an order in which the claim holds throughout a stretch, given that it does at both ends."""
        touched = [
            times == 0 for rule, times in self.taken(leg) if rule.source in claim.empty or rule.target in claim.empty
        ]
        held = []
        for some in claim.inhabited:
            leaving = [times for rule, times in self.taken(leg) if rule.source in some and rule.target not in some]
            nobody = _all([times == 0 for times in leaving])
            held.append(nobody if leg.nobody_leaves else z3.Or(nobody, _total(some, leg.before) >= 2))
        return _all([*touched, *held])


def _all(terms: list[Any]) -> Any:
    """A conjunction; one of nothing is written as true, since not every solver reads an empty one."""
    return z3.And(*terms) if terms else z3.BoolVal(True)


def _lasts(claim: Lasting, values: Values) -> Any:
    empty = [values[location] == 0 for location in sorted(claim.empty)]
    inhabited = [_total(some, values) >= 1 for some in claim.inhabited]
    return z3.Or(truth(claim.unless, values), _all([*empty, *inhabited]))


def _total(locations: frozenset[str], values: Values) -> Any:
    return z3.Sum([values[location] for location in sorted(locations)])


def _change(rule: Rule, name: str) -> int:
    """By how much taking a rule once changes a count."""
    return rule.added().get(name, 0) + (name == rule.target) - (name == rule.source)


def _is_reached(threshold: Threshold, values: Values) -> Any:
    return linear(threshold.reached, values) >= linear(threshold.needed, values)


def _has_loops(automaton: Automaton) -> bool:
    """Whether a process can come back, or count where it is; to stay without an effect is no loop."""
    moves = [(rule.source, rule.target) for rule in automaton.rules if rule.source != rule.target or rule.adds]
    graph: Any = nx.DiGraph(moves)
    return not nx.is_directed_acyclic_graph(graph)
