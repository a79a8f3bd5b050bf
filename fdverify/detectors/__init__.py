"""The detectors that ship with the package, and how a model is found by name."""
