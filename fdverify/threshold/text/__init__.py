"""Threshold automata as text: ByMC's format read and written, and flowcharts."""
