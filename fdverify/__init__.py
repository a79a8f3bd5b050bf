"""fdverify proves that failure detectors are correct under partial synchrony, and checks threshold automata.

This module is the public API: what is needed to model, prove and check from a script or a notebook.  All else is
internal, except the parts of models in :mod:`fdverify.parts`, the vocabulary of the shipped detectors in
:mod:`fdverify.detectors`, and templates of N processes in :mod:`fdverify.cutoff`.  Names are imported when they are
used: importing fdverify loads no solver.
"""

from __future__ import annotations

from importlib import import_module

from fdverify.former_names import install_former_modules

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from fdverify.api import Report as Report
    from fdverify.api import check_automaton as check_automaton
    from fdverify.api import check_liveness as check_liveness
    from fdverify.api import check_proof as check_proof
    from fdverify.api import configure_detector as configure_detector
    from fdverify.api import explore_states as explore_states
    from fdverify.api import find_bounds as find_bounds
    from fdverify.api import infer_invariant as infer_invariant
    from fdverify.api import prove_by_induction as prove_by_induction
    from fdverify.api import search_runs as search_runs
    from fdverify.api import simulate_run as simulate_run
    from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG as CHANDRA_TOUEG
    from fdverify.errors import FdverifyError as FdverifyError
    from fdverify.errors import UsageError as UsageError
    from fdverify.liveness.goals import Always as Always
    from fdverify.liveness.goals import EventuallyAlways as EventuallyAlways
    from fdverify.liveness.goals import LeadsTo as LeadsTo
    from fdverify.logic import And as And
    from fdverify.logic import If as If
    from fdverify.logic import Iff as Iff
    from fdverify.logic import Implies as Implies
    from fdverify.logic import Max as Max
    from fdverify.logic import Min as Min
    from fdverify.logic import Not as Not
    from fdverify.logic import Number as Number
    from fdverify.logic import Or as Or
    from fdverify.logic import Truth as Truth
    from fdverify.models import partial_synchrony as partial_synchrony
    from fdverify.models.detector import Detector as Detector
    from fdverify.models.detector import Raise as Raise
    from fdverify.models.detector import Stabilisation as Stabilisation
    from fdverify.models.expression import parse_expression as parse_expression
    from fdverify.models.loading import load_module as load_module
    from fdverify.models.model import Model as Model
    from fdverify.models.model import Option as Option
    from fdverify.models.participants import Cast as Cast
    from fdverify.models.participants import Channel as Channel
    from fdverify.models.participants import Role as Role
    from fdverify.models.planned_runs import GrowingLoop as GrowingLoop
    from fdverify.models.planned_runs import WorstRun as WorstRun
    from fdverify.models.process import Process as Process
    from fdverify.models.system import Ages as Ages
    from fdverify.models.system import Amount as Amount
    from fdverify.models.system import Choices as Choices
    from fdverify.models.system import Flag as Flag
    from fdverify.models.system import Flags as Flags
    from fdverify.models.system import Integers as Integers
    from fdverify.models.system import Labels as Labels
    from fdverify.models.system import Parameter as Parameter
    from fdverify.models.system import Phase as Phase
    from fdverify.models.system import Property as Property
    from fdverify.models.system import State as State
    from fdverify.models.system import Subset as Subset
    from fdverify.models.system import System as System
    from fdverify.models.system import Update as Update
    from fdverify.models.system import Variable as Variable
    from fdverify.models.system import update as update
    from fdverify.proofs.proof import Proof as Proof
    from fdverify.proofs.proof import expect_verdict as expect_verdict
    from fdverify.proofs.proof import hint as hint
    from fdverify.testing.verify import Verify as Verify
    from fdverify.threshold.automaton import Automaton as Automaton
    from fdverify.threshold.builder import build_automaton as build_automaton
    from fdverify.threshold.builder import move as move
    from fdverify.threshold.flow.control_flow import ControlFlow as ControlFlow
    from fdverify.threshold.flow.control_flow import Edge as Edge
    from fdverify.threshold.text.read import read_automaton as read_automaton
    from fdverify.verdict import Verdict as Verdict

__version__ = "0.1.0"

_NAMES = {
    "fdverify.api": (
        "Report",
        "check_automaton",
        "check_liveness",
        "check_proof",
        "configure_detector",
        "explore_states",
        "find_bounds",
        "infer_invariant",
        "prove_by_induction",
        "search_runs",
        "simulate_run",
    ),
    "fdverify.detectors.chandra_toueg": ("CHANDRA_TOUEG",),
    "fdverify.errors": ("FdverifyError", "UsageError"),
    "fdverify.liveness.goals": ("Always", "EventuallyAlways", "LeadsTo"),
    "fdverify.logic": ("And", "If", "Iff", "Implies", "Max", "Min", "Not", "Number", "Or", "Truth"),
    "fdverify.models": ("partial_synchrony",),
    "fdverify.models.detector": ("Detector", "Raise", "Stabilisation"),
    "fdverify.models.expression": ("parse_expression",),
    "fdverify.models.loading": ("load_module",),
    "fdverify.models.model": ("Model", "Option"),
    "fdverify.models.participants": ("Cast", "Channel", "Role"),
    "fdverify.models.planned_runs": ("GrowingLoop", "WorstRun"),
    "fdverify.models.process": ("Process",),
    "fdverify.models.system": (
        "Ages",
        "Amount",
        "Choices",
        "Flag",
        "Flags",
        "Integers",
        "Labels",
        "Parameter",
        "Phase",
        "Property",
        "State",
        "Subset",
        "System",
        "Update",
        "Variable",
        "update",
    ),
    "fdverify.proofs.proof": ("Proof", "expect_verdict", "hint"),
    "fdverify.testing.verify": ("Verify",),
    "fdverify.threshold.automaton": ("Automaton",),
    "fdverify.threshold.builder": ("build_automaton", "move"),
    "fdverify.threshold.flow.control_flow": ("ControlFlow", "Edge"),
    "fdverify.threshold.text.read": ("read_automaton",),
    "fdverify.verdict": ("Verdict",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)

install_former_modules()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _HOMES[name]
    value = import_module(f"{module}.{name}") if module == "fdverify.models" else getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
