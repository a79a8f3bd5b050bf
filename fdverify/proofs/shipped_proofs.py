"""The proofs that ship with the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fdverify.detectors.model_catalogue import is_shipped
from fdverify.models.model import Model, OptionValue
from fdverify.models.python_files import list_python_files
from fdverify.proofs.proof_files import load_proof

if TYPE_CHECKING:
    from fdverify.proofs.proof import Proof

_PACKAGE = Path(__file__).parents[1]


def find_shipped_folder() -> Path:
    """Find the folder of the shipped proofs: beside the package in a checkout, inside it where it is installed."""
    checkout = _PACKAGE.parent
    beside = checkout / "invariants"
    return beside if (checkout / "pyproject.toml").is_file() and beside.is_dir() else _PACKAGE / "invariants"


SHIPPED_FOLDER = find_shipped_folder()


def find_tight_proof(model: Model, options: Mapping[str, OptionValue], quantity: str) -> Proof | None:
    """Find the shipped proof of a tight bound on this quantity, for this model with these options.

    Only a shipped model has such proofs; another model of the same name has none.
    """
    if not is_shipped(model):
        return None
    defaults = {option.name: option.default for option in model.options}
    for path in list_python_files(SHIPPED_FOLDER):
        proof = load_proof(path)
        chosen = {**defaults, **proof.options}
        is_wanted = proof.bounds == quantity and proof.model.name == model.name
        if is_wanted and all(chosen[name] == value for name, value in options.items()):
            return proof
    return None
