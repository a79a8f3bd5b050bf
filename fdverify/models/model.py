"""Models: families of systems, with the parameters and options that select one of them.

The command line takes its options from here, so a model in a user's file is as convenient as a shipped one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fdverify.errors import UsageError
from fdverify.models.system import Parameter, System
from fdverify.models.unique_names import check_unique

OptionValue = str | bool | None


@dataclass(frozen=True)
class Option:
    """One of several words (``choices``), free text, or a switch if the default is a truth value."""

    name: str
    meaning: str
    default: OptionValue
    choices: tuple[str, ...] = ()
    metavar: str = "TEXT"


@dataclass(frozen=True)
class Model:
    """A family of systems; ``build`` gets all parameters (``None``: arbitrary) and all options by name."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    options: tuple[Option, ...]
    default_property: str
    build: Callable[..., System]
    default_liveness: str | None = None

    def check_names(self) -> None:
        """Refuse two parameters or options of one name; only on use, since other models in the file may be right."""
        both = [*(p.name for p in self.parameters), *(o.name for o in self.options)]
        check_unique(f"model {self.name}", "parameters or options", [(name, None) for name in both])

    def instantiate(self, parameters: Mapping[str, int | None], options: Mapping[str, OptionValue]) -> System:
        self.check_names()
        for parameter in self.parameters:
            value = parameters.get(parameter.name)
            if value is not None and value < parameter.least:
                raise UsageError(f"--{parameter.name} must be at least {parameter.least}, got {value}")
        for option in self.options:
            chosen = options.get(option.name, option.default)
            switch = isinstance(option.default, bool)
            if not isinstance(chosen, bool if switch else (str, type(None), type(option.default))):
                raise UsageError(f"--{option.name} must be {'true or false' if switch else 'text'}, got {chosen!r}")
            if option.choices and chosen is not None and chosen not in option.choices:
                raise UsageError(f"--{option.name} must be one of {', '.join(option.choices)}, got {chosen}")
        system = self.build(**parameters, **options)
        if not isinstance(system, System):
            raise UsageError(f"the build function of {self.name} returns {type(system).__name__}, not a System")
        return system
