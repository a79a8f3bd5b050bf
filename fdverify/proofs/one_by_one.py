"""Sessions, which check the obligations of one proof on request."""

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
    """Checks one proof in one worker process, which lives until ``close``.  The time limit applies to each request."""

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
        """The result so far; its verdict is not computed yet."""
        return self._course.result

    def checked(self, name: str) -> Checked:
        """Check the obligation of this name."""
        obligation = next(checked for checked in self.result.checked if checked.question.name == name)
        self._run(self._course.deciding([obligation]))
        return obligation

    def vacuity(self) -> VacuityShown:
        """Check all vacuity obligations, which are decided together."""
        self._run(self._course.looking_for_vacuity())
        assert self.result.vacuity is not None, "vacuity was checked"
        if self.result.vacuity.false:
            # A claim is false in a reachable state.  If every obligation holds, the tool contradicts itself.
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
