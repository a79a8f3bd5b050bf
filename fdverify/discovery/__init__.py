"""Search for bounds and invariants, suggestions of missing conjuncts, and sweeps over parameters."""
