"""Threshold automata as Mermaid flowcharts, for pages that show them."""

from __future__ import annotations

from fdverify.printable import printable
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.formula import Constant
from fdverify.threshold.text.write import formula_text


def mermaid(automaton: Automaton) -> str:
    """A node a location, an edge a rule: its number, its guard, and what it adds."""
    nodes = {location.name: f"l{at}" for at, location in enumerate(automaton.locations)}  # a name may mean something
    lines = ["flowchart LR"]
    lines += [f'    {node}["{_escaped(name)}"]' for name, node in nodes.items()]
    lines += [f'    {nodes[rule.source]} -->|"{_label(rule)}"| {nodes[rule.target]}' for rule in automaton.rules]
    return "\n".join([*lines, ""])


def _label(rule: Rule) -> str:
    guard = "" if rule.guard == Constant(True) else f": {formula_text(rule.guard)}"
    adds = ", ".join(f"{name} += {growth}" for name, growth in rule.adds)
    return _escaped(f"{rule.number}{guard}" + (f" / {adds}" if adds else ""))


def _escaped(text: str) -> str:
    """Quotes and angle brackets mean something to Mermaid."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
