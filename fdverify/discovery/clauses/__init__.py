"""Clauses: generated conjuncts, with the sampled states and summarised rounds to find them, and their text."""
