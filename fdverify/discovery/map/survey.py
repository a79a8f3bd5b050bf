"""A sweep: check every instance that has no stored answer, and store each new answer at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fdverify.deadline import lift_deadline, renew_deadline
from fdverify.discovery.map.grid import Grid, Place
from fdverify.discovery.map.instance import PACKAGE, Answer, sources
from fdverify.discovery.map.processes import over_processes
from fdverify.discovery.map.result import Cell, Map, Panel
from fdverify.discovery.map.store import Store
from fdverify.errors import NoInstance, UsageError, nearby
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.catalogue import is_file_reference
from fdverify.models.model import OptionValue
from fdverify.signing import check_key
from fdverify.smt.cache import folder
from fdverify.smt.cache_folder import tidy_once
from fdverify.smt.pool import Outcome
from fdverify.verdict import Verdict

_MOST_CELLS = 10_000


@dataclass(frozen=True)
class Question:
    """A model and a property, to be checked at every instance of a grid under each of several choices of options."""

    model: str
    claim: str
    grid: Grid
    options: Sequence[Mapping[str, OptionValue]]


@dataclass(frozen=True)
class Settings:
    """The number of worker processes, or the scheduler of a cluster; the time limit is for each cell."""

    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    scheduler: str | None = None
    time_limit: float | None = None
    cache: bool = True


def survey(question: Question, settings: Settings, report: Callable[[int, int], None]) -> Map:
    """Check every instance; ``report`` receives the number of cells done and the total."""
    if settings.cache:
        check_key()
    cells = len(question.options) * question.grid.rows * question.grid.columns
    if cells > _MOST_CELLS:
        raise UsageError(f"a map has at most {_MOST_CELLS} cells, got {cells}", "narrow the ranges")
    result = _Survey(question, settings, report).made()
    if settings.cache:
        tidy_once(folder())
    return result


class _Survey:
    def __init__(self, question: Question, settings: Settings, report: Callable[[int, int], None]) -> None:
        self._question = question
        self._settings = settings
        self._report = report
        self._model, self._file = _absolute(question.model)
        places = list(question.grid.places())
        self._jobs = {
            (panel, place): self._job(options, place)
            for panel, options in enumerate(question.options)
            for place in places
        }
        self._no_instance: dict[tuple[int, Place], str] = {}
        self._described: dict[int, Mapping[str, str]] = {}
        for (panel, place), job in self._jobs.items():
            # Build all systems first, so that bad input is reported at once.  Each has its own deadline.
            renew_deadline()
            system = job.system()
            self._name, self._claim = system.name, job.property_of(system)
            self._described.setdefault(panel, system.options)
            try:
                system.fixed_values()
            except NoInstance as why:
                self._no_instance[panel, place] = str(why)
        self._sources = sources()
        self._store = Store(folder(), self._sources) if settings.cache else None
        self._answers: dict[tuple[int, Place], Answer] = {}

    def made(self) -> Map:
        wanted = {cell: job for cell, job in self._jobs.items() if cell not in self._no_instance}
        if self._store is not None:
            known = {cell: self._store.find(job) for cell, job in wanted.items()}
            self._answers = {cell: answer for cell, answer in known.items() if answer is not None}
        lift_deadline()
        stored, total = len(self._answers), len(wanted)
        left = [cell for cell in wanted if cell not in self._answers]
        compared = self._compared(left)

        def told(number: int, outcome: Outcome) -> None:
            self._take(compared[number], outcome)
            self._report(len(self._answers), total)

        self._check({number: wanted[cell] for number, cell in enumerate(compared)}, told)
        panels = tuple(self._panel(number) for number in range(len(self._question.options)))
        return Map(self._name, self._claim, self._question.grid, panels, len(left), stored)

    def _compared(self, cells: Sequence[tuple[int, Place]]) -> list[tuple[int, Place]]:
        """Compare the author's functions in the first and last instance of each panel; return the cells to check."""
        left: list[tuple[int, Place]] = []
        for panel in dict.fromkeys(panel for panel, _ in cells):
            own = [cell for cell in cells if cell[0] == panel]
            ends = dict.fromkeys((own[0], own[-1]))
            reasons = (self._jobs[cell].compare_in_worker(self._settings.time_limit) for cell in ends)
            why = next((reason for reason in reasons if reason is not None), None)
            if why is None:
                left += own
            else:
                self._answers.update(dict.fromkeys(own, Answer(Verdict.UNKNOWN, why, None, {})))
        return left

    def _check(self, work: Mapping[int, CheckRequest], handle: Callable[[int, Outcome], None]) -> None:
        if self._settings.scheduler is None:
            over_processes(work, self._settings.jobs, self._settings.time_limit, handle)
        else:
            from fdverify.discovery.map.cluster import over_cluster

            over_cluster(work, self._settings.scheduler, self._settings.time_limit, handle)

    def _job(self, options: Mapping[str, OptionValue], place: Place) -> CheckRequest:
        return CheckRequest(
            "explore", self._model, self._question.grid.parameters(place), options, self._question.claim
        )

    def _take(self, cell: tuple[int, Place], outcome: Outcome) -> None:
        if outcome.error is not None:
            raise outcome.error
        if outcome.lost is not None:
            self._answers[cell] = Answer(Verdict.UNKNOWN, outcome.lost, None, {})
            return
        answer: Answer = outcome.value
        self._check_sources(answer)
        self._answers[cell] = answer
        if self._store is not None:
            self._store.keep(self._jobs[cell], answer)

    def _check_sources(self, answer: Answer) -> None:
        """Refuse an answer from other sources than those of this process."""
        for name, digest in self._sources.items():
            used = answer.sources.get(name)
            # Instances may import different files, but all of them need the package and the model's file.
            if used == digest or (used is None and name not in (PACKAGE, self._file)):
                continue
            if name == PACKAGE:
                raise UsageError("a worker runs another fdverify than this one", "install the same on all machines")
            raise UsageError(f"{nearby(name)} has changed since the map was started", "run it again")

    def _panel(self, number: int) -> Panel:
        return Panel(
            self._described[number],
            {place: self._cell((number, place)) for place in self._question.grid.places()},
        )

    def _cell(self, cell: tuple[int, Place]) -> Cell:
        parameters = self._question.grid.parameters(cell[1])
        if cell in self._no_instance:
            return Cell(parameters, None, self._no_instance[cell])
        answer = self._answers[cell]
        return Cell(parameters, answer.verdict, answer.detail, answer.rounds)


def _absolute(model: str) -> tuple[str, str | None]:
    """Resolve the reference to a model for processes in other folders; return its file too if it is a user's."""
    if not is_file_reference(model):
        return model, None
    file, _, name = model.rpartition(":")
    path = Path(file).resolve()
    return f"{path}:{name}", str(path)
