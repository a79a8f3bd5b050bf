"""Control flow automata: what one process does in a step, and the threshold automaton of all of them."""

from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.flow.translate import threshold_automaton, threshold_text

__all__ = ["ControlFlow", "threshold_automaton", "threshold_text"]
