"""What nobody has to write: bounds, invariants, missing conjuncts, maps of parameters."""
