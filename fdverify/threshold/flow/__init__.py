"""Control flow automata: the step of one process, and its translation to a threshold automaton."""

from fdverify.threshold.flow.automaton import ControlFlow
from fdverify.threshold.flow.translate import threshold_automaton, threshold_text

__all__ = ["ControlFlow", "threshold_automaton", "threshold_text"]
