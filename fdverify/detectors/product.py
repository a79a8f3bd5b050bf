"""Products: detectors that people run, with the names and defaults of their settings, and the rules that are proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fdverify.logic import Number, Truth
from fdverify.models.planned_runs import WorstRun
from fdverify.models.system import Property, State


@dataclass(frozen=True)
class Setting:
    """Something that an engineer knows or chooses; it is a parameter of the model, or its timeout.

    A setting without a ``default`` has to be given.  ``key`` is what the product calls it.
    """

    name: str
    parameter: str
    meaning: str
    example: str
    is_time: bool = True
    least: int = 0
    default: int | None = None
    key: str = ""


def set_defaults(settings: Sequence[Setting], defaults: Mapping[str, tuple[int, str]]) -> tuple[Setting, ...]:
    """Set the defaults of a product, each with what the product calls the setting."""
    return tuple(
        replace(each, default=defaults[each.name][0], key=defaults[each.name][1]) if each.name in defaults else each
        for each in settings
    )


@dataclass(frozen=True)
class SafetyRule:
    """A condition under which a correct process is never suspected: a setting is at least ``compute_least``.

    It is proved to be enough.  Where ``is_tight`` holds, less is proved not to be: ``build_plan`` builds a run that
    breaks it, and ``plan_for`` computes what the run needs of parameters that are no settings.
    """

    setting: str
    compute_least: Callable[[State], Number]
    formula: str
    is_tight: Callable[[State], Truth]
    build_plan: Callable[[], WorstRun]
    plan_for: Callable[[State], Mapping[str, Number]] = lambda s: {}


@dataclass(frozen=True)
class Product:
    """A detector as a product runs it: a model with options, its settings, and what is proved of it."""

    name: str
    summary: str
    model: str
    options: Mapping[str, str]
    settings: tuple[Setting, ...]
    rules: tuple[SafetyRule, ...]
    limits: tuple[Property, ...]
    """What the proofs assume of the settings."""
    compute_detection: Callable[[State], Number]
    """The ticks after which a crash is noticed, for settings in ticks."""
    detection_formula: str
    chosen: Mapping[str, int]
    """Values of parameters that are no settings."""
    proofs: tuple[str, ...]
    """The shipped proofs that all this rests on."""
    rests_on: tuple[str, ...]
    """What the model assumes of the world, besides the settings."""
    page: str
    is_strict: bool = False
    """Whether the product suspects only after its timeout, not when it is reached."""

    def find_setting(self, name: str) -> Setting:
        return next(setting for setting in self.settings if setting.name == name)
