"""Lookup of a model by name: a shipped one, or ``file.py:NAME`` in a user's file."""

from __future__ import annotations

from pathlib import Path

from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.detectors.deadline_heartbeat import DEADLINE_HEARTBEAT
from fdverify.errors import SourceLocation, UsageError, suggest_name
from fdverify.models.loading import load_module
from fdverify.models.model import Model

SHIPPED = {model.name: model for model in (CHANDRA_TOUEG, DEADLINE_HEARTBEAT)}
DEFAULT = CHANDRA_TOUEG.name


def is_file_reference(reference: str) -> bool:
    return ".py:" in reference or reference.endswith(".py")


def find_model(reference: str) -> Model:
    if reference in SHIPPED:
        return SHIPPED[reference]
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
