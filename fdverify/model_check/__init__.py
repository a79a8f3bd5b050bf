"""Checking a property of a model with an engine."""
