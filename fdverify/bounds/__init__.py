"""Bounds on timeouts and detection times: measured on small instances, fitted by a formula, and proved in general."""
