"""What a command asks for, as plain data that a worker process can be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fdverify.errors import FdverifyError, UsageError
from fdverify.models.catalogue import find_model, in_user_file, is_file_reference, line_in
from fdverify.models.model import OptionValue
from fdverify.models.system import System
from fdverify.verdict import Report, Result

if TYPE_CHECKING:
    from fdverify.proofs.proof import Proof

Found = TypeVar("Found")
_ENGINES = {
    "explore": ("fdverify.engines.explore", "explore"),
    "bmc": ("fdverify.engines.bmc", "bmc"),
    "induct": ("fdverify.engines.kinduction", "k_induction"),
    "simulate": ("fdverify.engines.simulate", "simulate"),
}


@dataclass(frozen=True)
class Job:
    """A system, a property, and the engine to check it with; ``settings`` are the engine's own arguments."""

    command: str
    model: str
    parameters: Mapping[str, int | None]
    options: Mapping[str, OptionValue]
    claim: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def system(self) -> System:
        return self._blaming_the_file(lambda: find_model(self.model).instantiate(self.parameters, self.options))

    def run(self, report: Report) -> Result:
        engine = _engine(self.command)
        system, settings = self.system(), dict(self.settings)
        if settings.get("lemmas") is not None:
            proof = self._lemmas(settings["lemmas"])
            system, settings["lemmas"] = proof.assuming(system), proof.lemmas()
        elif "lemmas" in settings:
            settings["lemmas"] = ()
        return self._blaming_the_file(lambda: engine(system, system.property(self.claim), report=report, **settings))

    def _lemmas(self, file: Path) -> Proof:
        from fdverify.proofs.files import load_proof

        proof, model = load_proof(file), find_model(self.model)
        if proof.model.name != model.name:
            raise UsageError(f"{file} is about {proof.model.name}, not about {model.name}")
        return proof

    def _blaming_the_file(self, work: Callable[[], Found]) -> Found:
        """An exception that a user's model raises is bad input, told with the place in their file."""
        try:
            return work()
        except FdverifyError:
            raise
        except (Exception, SystemExit) as error:
            path = Path(self.model.rpartition(":")[0])
            if not is_file_reference(self.model) or line_in(error, path) is None:
                raise
            raise in_user_file(error, path) from error


def _engine(command: str) -> Callable[..., Result]:
    # Imported here: an engine brings a solver or numpy along, and --help needs neither.
    module, name = _ENGINES[command]
    engine: Callable[..., Result] = getattr(import_module(module), name)
    return engine
