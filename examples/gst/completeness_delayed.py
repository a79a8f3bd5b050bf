"""Strong Completeness for an arbitrary GST, before which message delays have no bound."""

from _proofs import completeness

proof = completeness("_detector.py:DELAYED")
