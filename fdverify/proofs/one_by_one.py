"""A proof whose obligations are checked as they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic

from fdverify.proofs.course import Course, Settings
from fdverify.proofs.result import Checked, ProofResult
from fdverify.proofs.work import VacuityShown
from fdverify.signing import check_key
from fdverify.smt.cache import folder
from fdverify.smt.cache_folder import tidy_once
from fdverify.smt.pool import Pool, Task


class OneByOne:
    """One worker process that stays until this is closed; the time limit is for each thing that is asked."""

    def __init__(self, path: Path, settings: Settings) -> None:
        if settings.cache:
            check_key()
            tidy_once(folder())
        case = settings.case(path)
        self._settings = settings
        self._course = Course(case, path.stem, settings, all_at_once=False)
        self._pool = Pool(1, settings.memory_limit, [case])
        self._run(self._course.first_tasks())

    @property
    def result(self) -> ProofResult:
        """What is known so far; its verdict is not."""
        return self._course.result

    def checked(self, name: str) -> Checked:
        """What comes of an obligation."""
        found = next(checked for checked in self.result.checked if checked.question.name == name)
        self._run(self._course.deciding([found]))
        return found

    def vacuity(self) -> VacuityShown:
        """What comes of the obligations against vacuity, which are looked at together."""
        self._run(self._course.looking_for_vacuity())
        assert self.result.vacuity is not None, "it was looked for"
        if self.result.vacuity.false:
            # A claim is false in a reachable state.  If all of the proof holds, the tool contradicts itself.
            self._run(self._course.deciding(self.result.checked))
            self._course.concluded()
            self._raise_error()
        return self.result.vacuity

    def close(self) -> None:
        self._pool.close()

    def _run(self, tasks: Iterable[Task]) -> None:
        limit = self._settings.time_limit
        self._pool.run(tasks, self._course.finished, None if limit is None else monotonic() + limit)
        self._raise_error()

    def _raise_error(self) -> None:
        if self.result.error is not None:
            self.close()
            raise self.result.error
