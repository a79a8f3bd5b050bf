"""Threshold automata: processes that count messages, verified for any number of processes and faults."""
