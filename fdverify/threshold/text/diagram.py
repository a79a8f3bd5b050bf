"""Threshold automata as Mermaid flowcharts, for web pages."""

from __future__ import annotations

from fdverify.printable import make_printable
from fdverify.threshold.automaton import Automaton, Rule
from fdverify.threshold.ltl_formula import Constant
from fdverify.threshold.text.write import format_formula


def format_mermaid(automaton: Automaton) -> str:
    """Draw locations as nodes and rules as edges, labelled with number, guard and updates."""
    # A location's name may be a Mermaid keyword, so nodes have names of their own.
    nodes = {location.name: f"l{number}" for number, location in enumerate(automaton.locations)}
    lines = ["flowchart LR"]
    lines += [f'    {node}["{_escape_text(name)}"]' for name, node in nodes.items()]
    lines += [f'    {nodes[rule.source]} -->|"{_format_label(rule)}"| {nodes[rule.target]}' for rule in automaton.rules]
    return "\n".join([*lines, ""])


def _format_label(rule: Rule) -> str:
    guard = "" if rule.guard == Constant(True) else f": {format_formula(rule.guard)}"
    adds = ", ".join(f"{name} += {growth}" for name, growth in rule.adds)
    return _escape_text(f"{rule.number}{guard}" + (f" / {adds}" if adds else ""))


def _escape_text(text: str) -> str:
    """Escape quotes and angle brackets, which have a meaning in Mermaid."""
    return make_printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
