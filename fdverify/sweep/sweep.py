"""A sweep: check every instance that has no stored answer, and store each new answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fdverify.cache.cache_folder import get_cache_folder, tidy_folder_once
from fdverify.cache.signing import check_key
from fdverify.deadline import lift_deadline, renew_deadline
from fdverify.detectors.model_catalogue import is_file_reference
from fdverify.errors import NoInstance, UsageError, shorten_path
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.model import OptionValue
from fdverify.sweep.answer_store import AnswerStore
from fdverify.sweep.cell_check import PACKAGE, CellAnswer, check_cells, digest_sources
from fdverify.sweep.parameter_grid import CellPosition, Grid
from fdverify.sweep.sweep_result import Cell, Panel, ParameterMap
from fdverify.verdict import Verdict
from fdverify.workers.backends import WorkerSettings
from fdverify.workers.executor import TaskOutcome

_MOST_CELLS = 10_000


@dataclass(frozen=True)
class SweepRequest:
    """A model and a property, to be checked at every instance of a grid under each of several choices of options."""

    model: str
    claim: str
    grid: Grid
    options: Sequence[Mapping[str, OptionValue]]


@dataclass(frozen=True)
class SweepSettings:
    """The workers that check cells; the time limit is for each cell."""

    workers: WorkerSettings = field(default_factory=WorkerSettings)
    time_limit: float | None = None
    cache: bool = True


def run_sweep(question: SweepRequest, settings: SweepSettings, report: Callable[[int, int], None]) -> ParameterMap:
    """Check every instance; ``report`` receives the number of cells done and the total."""
    if settings.cache:
        check_key()
    cells = len(question.options) * question.grid.rows * question.grid.columns
    if cells > _MOST_CELLS:
        raise UsageError(f"a map has at most {_MOST_CELLS} cells, got {cells}", "narrow the ranges")
    result = _Sweep(question, settings, report).run()
    if settings.cache:
        tidy_folder_once(get_cache_folder())
    return result


class _Sweep:
    def __init__(self, question: SweepRequest, settings: SweepSettings, report: Callable[[int, int], None]) -> None:
        self._question = question
        self._settings = settings
        self._report = report
        self._model, self._file = _resolve_reference(question.model)
        places = list(question.grid.enumerate_positions())
        self._requests = {
            (panel, place): self._build_request(options, place)
            for panel, options in enumerate(question.options)
            for place in places
        }
        self._no_instance: dict[tuple[int, CellPosition], str] = {}
        self._described: dict[int, Mapping[str, str]] = {}
        for (panel, place), request in self._requests.items():
            # Build all systems first, so that bad input is reported at once.  Each has its own deadline.
            renew_deadline()
            system = request.build_system()
            self._name, self._claim = system.name, request.find_property(system)
            self._described.setdefault(panel, system.options)
            try:
                system.compute_fixed_parameters()
            except NoInstance as why:
                self._no_instance[panel, place] = str(why)
        self._sources = digest_sources()
        self._store = AnswerStore(get_cache_folder(), self._sources) if settings.cache else None
        self._answers: dict[tuple[int, CellPosition], CellAnswer] = {}

    def run(self) -> ParameterMap:
        wanted = {cell: request for cell, request in self._requests.items() if cell not in self._no_instance}
        if self._store is not None:
            known = {cell: self._store.find(request) for cell, request in wanted.items()}
            self._answers = {cell: answer for cell, answer in known.items() if answer is not None}
        lift_deadline()
        stored, total = len(self._answers), len(wanted)
        left = [cell for cell in wanted if cell not in self._answers]
        compared = self._compare_functions(left)

        def handle_outcome(number: int, outcome: TaskOutcome) -> None:
            self._record_outcome(compared[number], outcome)
            self._report(len(self._answers), total)

        numbered = {number: wanted[cell] for number, cell in enumerate(compared)}
        check_cells(numbered, self._settings.workers, self._settings.time_limit, handle_outcome)
        panels = tuple(self._build_panel(number) for number in range(len(self._question.options)))
        return ParameterMap(self._name, self._claim, self._question.grid, panels, len(left), stored)

    def _compare_functions(self, cells: Sequence[tuple[int, CellPosition]]) -> list[tuple[int, CellPosition]]:
        """Compare the author's functions in the first and last instance of each panel; return the cells to check."""
        left: list[tuple[int, CellPosition]] = []
        for panel in dict.fromkeys(panel for panel, _ in cells):
            own = [cell for cell in cells if cell[0] == panel]
            ends = dict.fromkeys((own[0], own[-1]))
            reasons = (self._requests[cell].compare_in_worker(self._settings.time_limit) for cell in ends)
            why = next((reason for reason in reasons if reason is not None), None)
            if why is None:
                left += own
            else:
                self._answers.update(dict.fromkeys(own, CellAnswer(Verdict.UNKNOWN, why, None, {})))
        return left

    def _build_request(self, options: Mapping[str, OptionValue], place: CellPosition) -> CheckRequest:
        return CheckRequest(
            "explore", self._model, self._question.grid.get_parameters(place), options, self._question.claim
        )

    def _record_outcome(self, cell: tuple[int, CellPosition], outcome: TaskOutcome) -> None:
        if outcome.error is not None:
            raise outcome.error
        if outcome.lost is not None:
            self._answers[cell] = CellAnswer(Verdict.UNKNOWN, outcome.lost, None, {})
            return
        answer: CellAnswer = outcome.value
        self._check_sources(answer)
        self._answers[cell] = answer
        if self._store is not None:
            self._store.keep(self._requests[cell], answer)

    def _check_sources(self, answer: CellAnswer) -> None:
        """Refuse an answer from other sources than those of this process."""
        for name, digest in self._sources.items():
            used = answer.sources.get(name)
            # Instances may import different files, but all of them need the package and the model's file.
            if used == digest or (used is None and name not in (PACKAGE, self._file)):
                continue
            if name == PACKAGE:
                raise UsageError("a worker runs another fdverify than this one", "install the same on all machines")
            raise UsageError(f"{shorten_path(name)} has changed since the map was started", "run it again")

    def _build_panel(self, number: int) -> Panel:
        return Panel(
            self._described[number],
            {place: self._build_cell((number, place)) for place in self._question.grid.enumerate_positions()},
        )

    def _build_cell(self, cell: tuple[int, CellPosition]) -> Cell:
        parameters = self._question.grid.get_parameters(cell[1])
        if cell in self._no_instance:
            return Cell(parameters, None, self._no_instance[cell])
        answer = self._answers[cell]
        return Cell(parameters, answer.verdict, answer.detail, answer.rounds)


def _resolve_reference(model: str) -> tuple[str, str | None]:
    """Resolve the reference to a model for processes in other folders; return its file too if it is a user's."""
    if not is_file_reference(model):
        return model, None
    file, _, name = model.rpartition(":")
    path = Path(file).resolve()
    return f"{path}:{name}", str(path)
