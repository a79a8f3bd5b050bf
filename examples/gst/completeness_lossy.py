"""Strong Completeness for an arbitrary GST, before which messages may be lost."""

from _proofs import completeness

proof = completeness("_detector.py:LOSSY")
