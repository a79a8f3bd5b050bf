"""Conjuncts that are missing in a proof."""
