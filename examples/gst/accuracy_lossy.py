"""Eventually Strong Accuracy for an arbitrary GST, before which messages may be lost."""

from _proofs import accuracy

proof = accuracy("_detector.py:LOSSY")
