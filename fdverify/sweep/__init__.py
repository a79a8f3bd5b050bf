"""Sweeps: one property checked at every instance of a grid of parameters, for ``fdverify map``."""
