"""A proof file as pytest sees it: one item an obligation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from fdverify.engines.inductive import Kind, Outlined
from fdverify.errors import FdverifyError, InternalError, UsageError, check_interpreter, nearby
from fdverify.printable import printable
from fdverify.proofs.files import NoProof
from fdverify.proofs.one_by_one import OneByOne
from fdverify.smt.decide import SOLVER
from fdverify.testing.collect import Expected, find_obligations
from fdverify.testing.options import KEY, Collects
from fdverify.testing.properties import note_unknown, note_verdict
from fdverify.verdict import Verdict


class ProofFile(pytest.File):
    """The checks of its obligations share one worker process, which is there while they run."""

    checks: OneByOne
    collects: Collects
    decided: list[str]
    """The obligations that a solver decides."""

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path, collects: Collects) -> Self:
        file = cls.from_parent(parent, path=path)
        file.collects = collects
        return file

    def collect(self) -> Iterator[ObligationItem]:
        try:
            check_interpreter()
            if self.collects is Collects.MISSES:
                raise NoProof(self.path)
            found = find_obligations(self.path, self.config.stash[KEY].settings(jobs=1))
        except NoProof as error:
            if self.collects is Collects.PERHAPS:
                return
            raise self.CollectError(str(error)) from error
        except FdverifyError as error:
            raise self.CollectError(str(error)) from error
        self.decided = [each.obligation.name for each in found if each.obligation.kind is not Kind.VACUITY]
        for each in found:
            yield ObligationItem.make(self, each.obligation, each.line, each.expected)

    def setup(self) -> None:
        with _errors_told():
            self.checks = OneByOne(self.path, self.config.stash[KEY].settings(jobs=1))
            made = [checked.question.name for checked in self.checks.result.checked]
            if self.checks.result.lost is None and made != self.decided:
                raise UsageError(f"{nearby(self.path)}: the proof has other obligations than when it was collected")

    def teardown(self) -> None:
        if hasattr(self, "checks"):
            self.checks.close()


class ObligationItem(pytest.Item):
    obligation: Outlined
    line: int
    expected: Expected | None

    @classmethod
    def make(cls, file: ProofFile, obligation: Outlined, line: int, expected: Expected | None) -> Self:
        item = cls.from_parent(file, name=obligation.name)
        item.obligation, item.line, item.expected = obligation, line, expected
        item.add_marker("fdverify")
        return item

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name

    def runtest(self) -> None:
        with _errors_told():
            outcome = self._outcome(self.obligation)
            if outcome is None:
                pytest.skip("the assumptions cannot hold, so there is nothing to look at")
            verdict, detail, effort = outcome
            note_verdict(self, verdict, SOLVER, effort, self._is_cached())
            if verdict is Verdict.UNKNOWN:
                # What shows that a proof says something is not checked apart from the rest.
                only = None if self.obligation.kind is Kind.VACUITY else self.name
                note_unknown(self, detail, self.config.stash[KEY].proof_command(self.path, only))
            if self.expected is not None and verdict is not Verdict.UNKNOWN:
                self._check_expected(verdict, self.expected)
            elif verdict is not Verdict.PROVED:
                pytest.fail(self._text(verdict, detail), pytrace=False)

    def _check_expected(self, verdict: Verdict, expected: Expected) -> None:
        """The claim fails in the way expected: this obligation does, or it holds and another one does."""
        outcomes = [self._outcome(each) for each in expected.about]
        wanted = expected.verdicts[0]
        fails = any(outcome is not None and outcome[0] is wanted for outcome in outcomes)
        if verdict not in (*expected.verdicts, Verdict.PROVED) or not fails:
            head = f"{nearby(self.path)}:{self.line}: {self.name} is {verdict}, but {wanted} is what it should be"
            pytest.fail(head if verdict is Verdict.PROVED else f"{head}\n{self._text(verdict, '')}", pytrace=False)

    def _outcome(self, obligation: Outlined) -> tuple[Verdict, str, int] | None:
        """The verdict, in words why, and the effort; none if the obligation makes no sense without another."""
        checks = self._checks
        if checks.result.lost is not None:
            return Verdict.UNKNOWN, checks.result.lost, 0
        if obligation.kind is not Kind.VACUITY:
            checked = checks.checked(obligation.name)
            found = checked.obligation()
            return found.verdict, found.detail, checked.effort
        vacuity = checks.vacuity()
        by_name = {found.name: found for found in vacuity.obligations}
        found_here = by_name.get(obligation.name) or by_name.get(str(Kind.VACUITY))
        return None if found_here is None else (found_here.verdict, found_here.detail, 0)

    def _is_cached(self) -> bool:
        return any(each.cached for each in self._checks.result.checked if each.question.name == self.name)

    @property
    def _checks(self) -> OneByOne:
        assert isinstance(self.parent, ProofFile), "that is where it is made"
        return self.parent.checks

    def _text(self, verdict: Verdict, detail: str) -> str:
        from fdverify.proofs.report import render_obligation

        found = render_obligation(self._checks.result, self.name)
        return found or printable(f"{nearby(self.path)}: {self.name} is {verdict}: {detail}")


@contextmanager
def _errors_told() -> Iterator[None]:
    """An error of this package fails a test with its line, and no traceback."""
    try:
        yield
    except FdverifyError as error:
        told = f"internal error: {error}" if isinstance(error, InternalError) else str(error)
        raise pytest.fail.Exception(told, pytrace=False) from None
