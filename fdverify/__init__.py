"""fdverify: failure detectors under partial synchrony, proved for every bound or refuted by a step table."""

__version__ = "0.1.0"
