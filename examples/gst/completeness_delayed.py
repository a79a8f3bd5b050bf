"""Strong Completeness for an arbitrary GST before which messages may take as long as they like."""

from _proofs import completeness

proof = completeness("_detector.py:DELAYED")
