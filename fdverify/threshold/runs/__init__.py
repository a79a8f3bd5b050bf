"""Is there a run of a certain shape?  Encodings, and the drivers that ask a solver."""
