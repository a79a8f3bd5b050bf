"""Engines.  Each takes a system and a property, reports progress and returns a result.  None of them prints."""
