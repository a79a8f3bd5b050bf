"""Lookup of a model by name: a shipped one, or ``file.py:NAME`` in a user's file."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name

from fdverify.errors import SourceLocation, UsageError, suggest_name
from fdverify.models.loading import load_module
from fdverify.models.model import Model

SHIPPED = {
    "chandra-toueg": "fdverify.detectors.chandra_toueg:CHANDRA_TOUEG",
    "deadline-heartbeat": "fdverify.detectors.deadline_heartbeat:DEADLINE_HEARTBEAT",
    "missed-checks": "fdverify.detectors.missed_checks:MISSED_CHECKS",
}
"""The shipped models and where they are: a model is loaded when it is used, so no model slows down the others."""
DEFAULT = "chandra-toueg"


def is_file_reference(reference: str) -> bool:
    return ".py:" in reference or reference.endswith(".py")


def find_model(reference: str) -> Model:
    if reference in SHIPPED:
        return _load_shipped_model(reference)
    if not is_file_reference(reference):
        raise UsageError(f"unknown model {reference}", f"{suggest_name(reference, SHIPPED)} or file.py:NAME")
    file, _, name = reference.rpartition(":")
    if not file.endswith(".py"):
        raise UsageError(f"{reference} does not name a model", "write file.py:NAME")
    model = getattr(load_module(Path(file)), name, None)
    if not isinstance(model, Model):
        raise UsageError(f"{file} has no model {name}", "define NAME = Model(...) in it")
    try:
        model.check_names()
    except UsageError as clash:
        raise UsageError(clash.message, clash.hint, SourceLocation(Path(file))) from None
    return model


def is_shipped(model: Model) -> bool:
    """Tell whether a model is one of the shipped ones; another model may have the name of one."""
    return model.name in SHIPPED and _load_shipped_model(model.name) is model


def _load_shipped_model(name: str) -> Model:
    model: Model = resolve_name(SHIPPED[name])
    return model
