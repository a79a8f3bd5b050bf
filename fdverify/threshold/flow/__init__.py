"""Control flow automata: the step of one process, and its translation to a threshold automaton."""

from fdverify.threshold.flow.control_flow import ControlFlow
from fdverify.threshold.flow.translate import build_threshold_automaton, write_threshold_text

__all__ = ["ControlFlow", "build_threshold_automaton", "write_threshold_text"]
