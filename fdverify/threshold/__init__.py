"""Threshold automata: processes that count messages, checked for every number of processes and of faults."""
