"""The search for runs of a given shape: SMT encodings, and the drivers that use them."""
