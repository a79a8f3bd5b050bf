"""Lookup of a product by name."""

from __future__ import annotations

from pkgutil import resolve_name

from fdverify.detectors.product import Product

_SHIPPED = (
    "fdverify.detectors.deadline_heartbeat.deadline_products:PRODUCTS",
    "fdverify.detectors.missed_checks.check_products:PRODUCTS",
)


def load_products() -> tuple[Product, ...]:
    """Load the products of all shipped detectors."""
    return tuple(product for place in _SHIPPED for product in resolve_name(place))
