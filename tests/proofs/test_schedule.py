"""What is reported of a proof does not depend on which of its tasks ends first, and no lost task is bad input."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fdverify.errors import FdverifyError, InternalError, ResourcesExhausted, SourceLocation, UsageError
from fdverify.models.read_recorder import Reads
from fdverify.obligations.obligation import ObligationKind
from fdverify.proofs import tasks
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.file_watch import is_affected
from fdverify.proofs.proof_result import CheckedObligation, ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.schedule import ProofSchedule
from fdverify.smt.script import Decision
from fdverify.workers.executor import TaskOutcome
from fdverify.workers.task_flow import FlowEnded
from tests.cli import written_proofs as files

PLAIN, LINE, OTHER = (
    UsageError("no such option"),
    UsageError("ValueError", place=SourceLocation(Path("mine.py"), 3)),
    UsageError("KeyError", place=SourceLocation(Path("mine.py"), 7)),
)
BROKEN = InternalError("a replay does not confirm the run")
DISAGREEMENT = "two solvers disagree"


def failed(error: FdverifyError) -> TaskOutcome:
    return TaskOutcome(error=error)


def answered(error: FdverifyError) -> TaskOutcome:
    return TaskOutcome(value=tasks.AnswerOnProof(None, error, {}, Reads()))


def orders(outcomes: dict[str, TaskOutcome]) -> Iterator[str]:
    """The error that is reported for each order in which these outcomes come."""
    for order in permutations(outcomes):
        schedule: Any = ProofSchedule(tasks.ProofCase(Path("mine.py"), {}, {}, 1), "mine", ProofSettings())
        schedule._keep_undecided = lambda checked: None
        question: Any = SimpleNamespace(name="a", about="a", script=None, kind=ObligationKind.GOAL, rounds=0)
        checked = CheckedObligation(question)
        flows = {
            "prepare": schedule.prepare_obligations(tasks.NO_OBLIGATIONS),
            "compare": schedule.check_vacuity(),
            "explain": schedule._explain_failure(checked, True),
            "explain another": schedule._explain_failure(checked, True),
            "second": schedule._ask_second_solver(checked, "cvc5", "unsat"),
        }
        for flow in flows.values():
            flow.send(None)
        for name in order:
            with pytest.raises((FlowEnded, StopIteration)):
                flows[name].send(outcomes[name])
        yield str(schedule.result.error)


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({"prepare": answered(LINE), "compare": failed(OTHER)}, LINE),
        ({"prepare": answered(PLAIN), "compare": failed(LINE)}, LINE),
        ({"prepare": failed(BROKEN), "compare": answered(PLAIN)}, PLAIN),
        ({"compare": answered(PLAIN), "explain": failed(LINE)}, PLAIN),
        ({"compare": answered(LINE), "second": TaskOutcome(value=Decision("sat"))}, LINE),
        ({"explain": answered(OTHER), "explain another": answered(LINE)}, LINE),
    ],
)
def test_which_error_is_reported_is_no_matter_of_timing(outcomes: dict[str, TaskOutcome], said: FdverifyError) -> None:
    assert set(orders(outcomes)) == {str(said)}


def test_solvers_that_disagree_are_reported() -> None:
    (said,) = orders({"second": TaskOutcome(value=Decision("sat"))})
    assert DISAGREEMENT in said


def written(folder: Path) -> Path:
    path = folder / "mine.py"
    path.write_text(files.GOOD)
    return path


def test_the_names_in_a_file_that_was_not_loaded_are_unknown(tmp_path: Path) -> None:
    (result,) = check_proofs([written(tmp_path)], ProofSettings(cache=False, only=("bounded",), time_limit=1e-6))
    assert result.exit_code == 3


def exhausted(system: object) -> None:
    raise ResourcesExhausted("out of memory")


def test_no_memory_for_the_obligations_is_no_error_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "check_parameters", exhausted)
    (result,) = check_proofs([written(tmp_path)], ProofSettings(cache=False, jobs=1))
    assert result.error is None
    assert result.detail == "its obligations were not generated: out of memory"


def test_a_file_that_was_not_loaded_may_depend_on_those_beside_it(tmp_path: Path) -> None:
    result = ProofResult(tmp_path / "mine.py", "mine", lost="it was not loaded: the time limit was reached")
    before, after = ({tmp_path / "mine.py": "same", tmp_path / "helper.py": text} for text in ("old", "new"))
    assert is_affected(result, before, after)
