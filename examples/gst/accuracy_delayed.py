"""Eventually Strong Accuracy for an arbitrary GST, before which message delays have no bound."""

from _proofs import accuracy

proof = accuracy("_detector.py:DELAYED")
