"""Clauses: conjuncts that a program makes, from explored states, over summarised rounds, as text."""
