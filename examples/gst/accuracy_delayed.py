"""Eventually Strong Accuracy for an arbitrary GST before which messages may take as long as they like."""

from _proofs import accuracy

proof = accuracy("_detector.py:DELAYED")
