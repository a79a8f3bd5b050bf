"""Suggestions of conjuncts that a proof lacks."""
