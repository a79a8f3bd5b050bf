"""Threshold automata at fixed small parameters, checked by walking through every configuration.

An oracle to compare other engines with: it shares no code with them.  It reads the text by itself, lists all
configurations that can be reached, and searches their product with what is left to be done of the negated
specification for a cycle on which nothing is put off for ever.
"""

from tests.threshold.oracle.answer import broken_at_rest, holds

__all__ = ["broken_at_rest", "holds"]
