"""Every slip of an author is refused, with its place, by every command that evaluates it."""

import re
from pathlib import Path

import pytest

from tests.no_wrong_answers.models.commands import Written, run_command
from tests.no_wrong_answers.models.honest import HONEST
from tests.no_wrong_answers.models.live_slips import LIVE_SLIPS, Argument
from tests.no_wrong_answers.models.slips import SLIPS
from tests.sampling import every


def test_there_are_slips_of_every_kind() -> None:
    assert len(SLIPS) >= 120
    assert len({name.partition("/")[0] for name in SLIPS}) >= 10


@pytest.mark.parametrize("name", every(19, sorted(SLIPS)))
def test_a_slip_is_refused(name: str, tmp_path: Path) -> None:
    slip = SLIPS[name]
    written = Written(slip.parts, tmp_path, slip.symbolic)
    for command, answer in written.answers().items():
        if command in slip.read_by:
            assert answer.refused, f"{command}: {answer}"
        elif not answer.refused:
            assert written.wrong(command, answer) is None


@pytest.mark.parametrize("name", every(17, sorted(HONEST)))
def test_what_authors_rightly_write_is_not_refused(name: str, tmp_path: Path) -> None:
    written = Written(HONEST[name], tmp_path, symbolic=False)
    for command, answer in written.answers().items():
        assert answer.code in (0, 1, 3), f"{command}: {answer}"
        assert written.wrong(command, answer) is None


def _verified(argument: Argument, folder: Path) -> tuple[int, str]:
    (folder / "model_of_it.py").write_text(argument.model())
    (folder / "proof_of_it.py").write_text(argument.proof())
    proof = str(folder / "proof_of_it.py")
    code, _, stderr = run_command("fdverify.verify_invariant", [proof, "--no-cache", "--jobs", "1"])
    return code, stderr


@pytest.mark.parametrize("name", every(4, sorted(LIVE_SLIPS)))
def test_a_slip_in_an_argument_is_refused(name: str, tmp_path: Path) -> None:
    code, stderr = _verified(LIVE_SLIPS[name], tmp_path)
    assert (code, bool(re.search(r"_of_it\.py:\d+", stderr))) == (2, True), stderr


def test_the_argument_without_a_slip_is_a_proof(tmp_path: Path) -> None:
    assert _verified(Argument(), tmp_path)[0] == 0


def test_the_argument_is_no_proof_of_what_is_false(tmp_path: Path) -> None:
    assert _verified(Argument(end=1), tmp_path)[0] == 1
