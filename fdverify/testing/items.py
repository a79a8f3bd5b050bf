"""Pytest's view of a proof file: one test item per obligation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from fdverify.errors import FdverifyError, InternalError, SourceLocation, UsageError, check_interpreter, shorten_path
from fdverify.obligations.obligation import ObligationKind, ObligationOutline
from fdverify.printable import make_printable
from fdverify.proofs.proof_files import NoProofInFile
from fdverify.proofs.session import ProofSession
from fdverify.smt.solver_name import SOLVER
from fdverify.testing.collect import ExpectedFailure, collect_obligations
from fdverify.testing.plugin_options import OPTIONS_KEY, CollectDecision
from fdverify.testing.terminal_summary import note_unknown, note_verdict
from fdverify.verdict import Verdict


class ProofFile(pytest.File):
    """A proof file.  Its items share one session, whose worker processes live from setup to teardown."""

    proof_session: ProofSession
    collects: CollectDecision
    decided_names: list[str]
    """The names of the obligations that a solver decides: all but those against vacuity."""

    @classmethod
    def make(cls, parent: pytest.Collector, path: Path, collects: CollectDecision) -> Self:
        file = cls.from_parent(parent, path=path)
        file.collects = collects
        return file

    def collect(self) -> Iterator[ObligationItem]:
        try:
            check_interpreter()
            if self.collects is CollectDecision.MISSES:
                raise NoProofInFile(self.path)
            collected = collect_obligations(self.path, self.config.stash[OPTIONS_KEY].build_settings())
        except NoProofInFile as error:
            if self.collects is CollectDecision.PERHAPS:
                return
            raise self.CollectError(str(error)) from error
        except FdverifyError as error:
            raise self.CollectError(str(error)) from error
        self.decided_names = [
            entry.obligation.name for entry in collected if entry.obligation.kind is not ObligationKind.VACUITY
        ]
        for entry in collected:
            yield ObligationItem.make(self, entry.obligation, entry.line, entry.expected)

    def setup(self) -> None:
        with _fail_on_error():
            settings = self.config.stash[OPTIONS_KEY].build_settings()
            self.proof_session = ProofSession(self.path, settings, self._list_selected_names())
            generated = [checked.question.name for checked in self.proof_session.result.checked]
            if self.proof_session.result.lost is None and generated != self.decided_names:
                message = "the obligations have changed since they were collected"
                raise UsageError(message, place=SourceLocation(self.path))

    def _list_selected_names(self) -> list[str]:
        """List the obligations that are to be checked here; with pytest-xdist, other processes check most of them."""
        shares_work = hasattr(self.config, "workerinput")
        return [] if shares_work else [item.name for item in self.session.items if item.parent is self]

    def teardown(self) -> None:
        if hasattr(self, "proof_session"):
            self.proof_session.close()


class ObligationItem(pytest.Item):
    """A test that passes if its obligation is proved, or fails as expected."""

    obligation: ObligationOutline
    line: int
    expected: ExpectedFailure | None

    @classmethod
    def make(cls, file: ProofFile, obligation: ObligationOutline, line: int, expected: ExpectedFailure | None) -> Self:
        item = cls.from_parent(file, name=obligation.name)
        item.obligation, item.line, item.expected = obligation, line, expected
        item.add_marker("fdverify")
        return item

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name

    def runtest(self) -> None:
        with _fail_on_error():
            outcome = self._check_obligation(self.obligation)
            if outcome is None:
                pytest.skip("the assumptions are unsatisfiable, so there is nothing to check")
            verdict, detail, effort = outcome
            note_verdict(self, verdict, SOLVER, effort, self._is_cached())
            if verdict is Verdict.UNKNOWN:
                # The command has no option for vacuity obligations alone.
                only = None if self.obligation.kind is ObligationKind.VACUITY else self.name
                note_unknown(self, detail, self.config.stash[OPTIONS_KEY].format_proof_command(self.path, only))
            if self.expected is not None and verdict is not Verdict.UNKNOWN:
                self._check_expected(verdict, self.expected)
            elif verdict is not Verdict.PROVED:
                pytest.fail(self._format_failure(verdict, detail), pytrace=False)

    def _check_expected(self, verdict: Verdict, expected: ExpectedFailure) -> None:
        """Fail the test unless the claim fails as expected, by this obligation or, if this one holds, by another."""
        outcomes = [self._check_obligation(obligation) for obligation in expected.about]
        wanted = expected.verdicts[0]
        fails = any(outcome is not None and outcome[0] is wanted for outcome in outcomes)
        if verdict not in (*expected.verdicts, Verdict.PROVED) or not fails:
            head = f"{shorten_path(self.path)}:{self.line}: {self.name} is {verdict}, but {wanted} was expected"
            pytest.fail(
                head if verdict is Verdict.PROVED else f"{head}\n{self._format_failure(verdict, '')}", pytrace=False
            )

    def _check_obligation(self, obligation: ObligationOutline) -> tuple[Verdict, str, int] | None:
        """Return verdict, detail and effort; ``None`` for a vacuity obligation that another one makes meaningless."""
        checks = self._proof_session
        if checks.result.lost is not None:
            return Verdict.UNKNOWN, checks.result.lost, 0
        if obligation.kind is not ObligationKind.VACUITY:
            checked = checks.check_obligation(obligation.name)
            decided = checked.build_obligation()
            return decided.verdict, decided.detail, checked.effort
        by_name = {entry.name: entry for entry in checks.check_vacuity().obligations}
        entry = by_name.get(obligation.name) or by_name.get(str(ObligationKind.VACUITY))
        return None if entry is None else (entry.verdict, entry.detail, 0)

    def _is_cached(self) -> bool:
        return any(
            checked.cached for checked in self._proof_session.result.checked if checked.question.name == self.name
        )

    @property
    def _proof_session(self) -> ProofSession:
        assert isinstance(self.parent, ProofFile), "proof files make the items"
        return self.parent.proof_session

    def _format_failure(self, verdict: Verdict, detail: str) -> str:
        from fdverify.proofs.report import render_obligation

        text = render_obligation(self._proof_session.result, self.name)
        return text or make_printable(f"{shorten_path(self.path)}: {self.name} is {verdict}: {detail}")


@contextmanager
def _fail_on_error() -> Iterator[None]:
    """Turn an error of this package into a test failure with one line and no traceback."""
    try:
        yield
    except FdverifyError as error:
        message = f"internal error: {error}" if isinstance(error, InternalError) else str(error)
        raise pytest.fail.Exception(message, pytrace=False) from None
