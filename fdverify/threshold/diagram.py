"""Threshold automata as Mermaid flowcharts, for pages that show them."""

from __future__ import annotations

from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.formula import Constant
from fdverify.threshold.write import formula_text


def mermaid(automaton: Automaton) -> str:
    """A node a location, an edge a rule: its number, its guard, and what it adds."""
    lines = ["flowchart LR"]
    lines += [f'    {location.name}["{location.name}"]' for location in automaton.locations]
    lines += [f'    {rule.source} -->|"{_label(rule)}"| {rule.target}' for rule in automaton.rules]
    return "\n".join([*lines, ""])


def _label(rule: Rule) -> str:
    guard = "" if rule.guard == Constant(True) else f": {formula_text(rule.guard)}"
    adds = ", ".join(f"{name} += {growth}" for name, growth in rule.adds)
    text = f"{rule.number}{guard}" + (f" / {adds}" if adds else "")
    # Quotes and angle brackets mean something to Mermaid.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
