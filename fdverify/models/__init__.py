"""Models: what a system is, what its buffer is made of, and the detectors that ship."""
