"""A map is made: instances that were not checked before are checked, and every answer is kept at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdverify.discovery.map.grid import Grid, Place
from fdverify.discovery.map.instance import PACKAGE, Answer, sources
from fdverify.discovery.map.processes import over_processes
from fdverify.discovery.map.result import Cell, Map, Panel
from fdverify.discovery.map.store import Store
from fdverify.errors import NoInstance, UsageError, nearby
from fdverify.job import Job
from fdverify.models.catalogue import is_file_reference
from fdverify.models.model import OptionValue
from fdverify.smt.cache import folder
from fdverify.smt.pool import Outcome
from fdverify.smt.worker import TimeLimitReached, WorkerDied, run_in_worker
from fdverify.verdict import Verdict

_MOST_CELLS = 10_000
_COMPARING_SECONDS = 2.0
"""What functions are given to be compared, however little an instance is given."""


@dataclass(frozen=True)
class Question:
    """A model and a property, checked at every instance of a grid under each of several choices of options."""

    model: str
    claim: str
    grid: Grid
    options: Sequence[Mapping[str, OptionValue]]


@dataclass(frozen=True)
class Settings:
    """How to check: with so many worker processes, or by the cluster of a scheduler; the time limit is a cell's."""

    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    scheduler: str | None = None
    time_limit: float | None = None
    cache: bool = True


def survey(question: Question, settings: Settings, report: Callable[[int, int], None]) -> Map:
    """Check every instance; ``report`` is told how many are done, of how many."""
    cells = len(question.options) * question.grid.rows * question.grid.columns
    if cells > _MOST_CELLS:
        raise UsageError(f"a map has at most {_MOST_CELLS} cells, got {cells}", "narrow the ranges")
    return _Survey(question, settings, report).made()


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
            # All of them before the work, so that what is wrong with one is said at once.
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
        wanted = {at: job for at, job in self._jobs.items() if at not in self._no_instance}
        if self._store is not None:
            known = {at: self._store.find(job) for at, job in wanted.items()}
            self._answers = {at: answer for at, answer in known.items() if answer is not None}
        stored, total = len(self._answers), len(wanted)
        left = [at for at in wanted if at not in self._answers]

        def told(number: int, outcome: Outcome) -> None:
            self._take(left[number], outcome)
            self._report(len(self._answers), total)

        lost = self._compare([wanted[at] for at in left])
        for at in left:
            if repr(wanted[at].options) in lost:
                self._answers[at] = Answer(Verdict.UNKNOWN, lost[repr(wanted[at].options)], None, {})
        jobs = {number: wanted[at] for number, at in enumerate(left) if at not in self._answers}
        self._check(jobs, told)
        panels = tuple(self._panel(number) for number in range(len(self._question.options)))
        return Map(self._name, self._claim, self._question.grid, panels, len(left), stored)

    def _compare(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Compare the author's functions for each choice of options; for which that was not possible, and why.

        The first and the last of the instances stand for the others.
        """
        limit = self._settings.time_limit
        by_options: dict[str, list[Job]] = {}
        for job in jobs:
            by_options.setdefault(repr(job.options), []).append(job)
        lost: dict[str, str] = {}
        for options, (first, *others) in by_options.items():
            try:
                for job in (first, *others[-1:]):
                    run_in_worker(job.compare, None if limit is None else max(limit, _COMPARING_SECONDS), _ignore)
            except (TimeLimitReached, WorkerDied) as end:
                why = "the time limit was reached" if isinstance(end, TimeLimitReached) else str(end)
                lost[options] = f"its functions were not compared: {why}"
        return lost

    def _check(self, work: Mapping[int, Job], told: Callable[[int, Outcome], None]) -> None:
        if self._settings.scheduler is None:
            over_processes(work, self._settings.jobs, self._settings.time_limit, told)
        else:
            from fdverify.discovery.map.cluster import over_cluster

            over_cluster(work, self._settings.scheduler, self._settings.time_limit, told)

    def _job(self, options: Mapping[str, OptionValue], place: Place) -> Job:
        return Job("explore", self._model, self._question.grid.parameters(place), options, self._question.claim)

    def _take(self, at: tuple[int, Place], outcome: Outcome) -> None:
        if outcome.error is not None:
            raise outcome.error
        if outcome.lost is not None:
            self._answers[at] = Answer(Verdict.UNKNOWN, outcome.lost, None, {})
            return
        found: Answer = outcome.value
        self._check_sources(found)
        self._answers[at] = found
        if self._store is not None:
            self._store.keep(self._jobs[at], found)

    def _check_sources(self, found: Answer) -> None:
        """Refuse an answer about something else than this process knows."""
        for name, digest in self._sources.items():
            there = found.sources.get(name)
            # What is imported for one instance may not be for another, but all need the package and the model's file.
            if there == digest or (there is None and name not in (PACKAGE, self._file)):
                continue
            if name == PACKAGE:
                raise UsageError("a worker runs another fdverify than this one", "install the same on all machines")
            raise UsageError(f"{nearby(name)} is not what it was when the map was begun", "run it again")

    def _panel(self, number: int) -> Panel:
        return Panel(
            self._described[number],
            {place: self._cell((number, place)) for place in self._question.grid.places()},
        )

    def _cell(self, at: tuple[int, Place]) -> Cell:
        parameters = self._question.grid.parameters(at[1])
        if at in self._no_instance:
            return Cell(parameters, None, self._no_instance[at])
        answer = self._answers[at]
        return Cell(parameters, answer.verdict, answer.detail, answer.rounds)


def _ignore(event: Any) -> None:
    """Comparing functions has no events worth telling."""


def _absolute(model: str) -> tuple[str, str | None]:
    """The reference to a model for processes that may work elsewhere, and its file if it is a user's."""
    if not is_file_reference(model):
        return model, None
    file, _, name = model.rpartition(":")
    path = Path(file).resolve()
    return f"{path}:{name}", str(path)
