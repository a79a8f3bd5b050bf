"""Threshold automata as text: a reader and a writer of ByMC's format, and flowcharts."""
