"""The cutoff theorem: properties of N symmetric processes follow from systems of one and two processes."""

from fdverify.cutoff.template import Claim, Kind, Location, Template

__all__ = ["Claim", "Kind", "Location", "Template"]
