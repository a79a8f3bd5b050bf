"""Inductive invariants from nothing."""
