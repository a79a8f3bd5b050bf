"""Modules that have moved: files that import them by their former names still work for one version, with a warning."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

FORMER_MODULES = {
    "fdverify.models.cast": "fdverify.models.participants",
    "fdverify.models.catalogue": "fdverify.detectors.model_catalogue",
    "fdverify.models.chandra_toueg": "fdverify.detectors.chandra_toueg",
    "fdverify.models.growing": "fdverify.models.planned_runs",
    "fdverify.models.growing_loop": "fdverify.models.planned_runs",
    "fdverify.models.user_files": "fdverify.models.loading",
    "fdverify.models.worst_run": "fdverify.models.planned_runs",
    "fdverify.cutoff.chandra_toueg": "fdverify.cutoff.chandra_toueg_template",
    "fdverify.threshold.author": "fdverify.threshold.builder",
    "fdverify.threshold.check": "fdverify.threshold.check_specification",
    "fdverify.threshold.flow.automaton": "fdverify.threshold.flow.control_flow",
}
"""The modules that documents showed, by their former names."""


class _FormerModules:
    """Finds a module by its former name, and fills it with what the module has now.

    It has no base class, since importing the one that there is takes longer than all else here.
    """

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in FORMER_MODULES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        import warnings  # only those who use a former name need it

        present = FORMER_MODULES[module.__name__]
        warnings.warn(f"{module.__name__} is called {present} now", DeprecationWarning, stacklevel=2)
        now = import_module(present)
        vars(module).update({name: value for name, value in vars(now).items() if name[:2] != "__"})
        if hasattr(now, "__getattr__"):
            vars(module)["__getattr__"] = now.__getattr__


def install_former_modules() -> None:
    if not any(isinstance(finder, _FormerModules) for finder in sys.meta_path):
        sys.meta_path.append(_FormerModules())
