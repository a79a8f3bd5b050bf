"""Small threshold automata, changed at random, with a specification of each shape."""

from tests.threshold.mutants.generate import mutants
from tests.threshold.mutants.specifications import SPECIFICATIONS

__all__ = ["SPECIFICATIONS", "mutants"]
