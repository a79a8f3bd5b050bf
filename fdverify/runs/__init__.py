"""Runs as plain data, and their replay by the concrete interpreter."""
