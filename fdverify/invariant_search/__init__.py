"""Inference of inductive invariants without help from an author."""
