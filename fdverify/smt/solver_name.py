"""The name and the version of the solver, known without loading it."""

from importlib.metadata import version

SOLVER = f"z3 {'.'.join(version('z3-solver').split('.')[:3])}"
