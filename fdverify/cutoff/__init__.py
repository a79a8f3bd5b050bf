"""N processes: symmetric point-to-point algorithms, and that one or two processes tell of any number."""

from fdverify.cutoff.template import Claim, Kind, Location, Template

__all__ = ["Claim", "Kind", "Location", "Template"]
