"""Finding a model: one that ships, or ``file.py:NAME`` of the user's."""

from __future__ import annotations

from pathlib import Path

from fdverify.errors import UsageError, did_you_mean
from fdverify.models.chandra_toueg import CHANDRA_TOUEG
from fdverify.models.model import Model
from fdverify.models.user_files import is_imported, load_module

SHIPPED = {model.name: model for model in (CHANDRA_TOUEG,)}
DEFAULT = CHANDRA_TOUEG.name


def is_file_reference(reference: str) -> bool:
    return ".py:" in reference or reference.endswith(".py")


def find_model(reference: str) -> Model:
    if reference in SHIPPED:
        return SHIPPED[reference]
    if not is_file_reference(reference):
        raise UsageError(f"unknown model {reference}", f"{did_you_mean(reference, SHIPPED)} or file.py:NAME")
    file, _, name = reference.rpartition(":")
    if not file.endswith(".py"):
        raise UsageError(f"{reference} does not name a model", "write file.py:NAME")
    found = getattr(load_module(Path(file)), name, None)
    if not isinstance(found, Model):
        raise UsageError(f"{file} has no model {name}", "define NAME = Model(...) in it")
    _check_only_one(Path(file), name, found)
    return found


def _check_only_one(file: Path, name: str, model: Model) -> None:
    """Refuse a file in which another model has the same name: reports could not tell which of them is meant."""
    if is_imported(file, model) or model in SHIPPED.values():
        return
    for other, value in vars(load_module(file)).items():
        is_twin = isinstance(value, Model) and value is not model and value.name == model.name
        if is_twin and value not in SHIPPED.values() and not is_imported(file, value):
            raise UsageError(f"{file} has two models named {model.name}: {name} and {other}", "rename one")
