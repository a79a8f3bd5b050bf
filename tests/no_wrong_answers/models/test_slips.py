"""Every slip of an author is refused, with its place, by every command that evaluates it."""

from pathlib import Path

import pytest

from tests.no_wrong_answers.models.commands import Written
from tests.no_wrong_answers.models.honest import HONEST
from tests.no_wrong_answers.models.slips import SLIPS
from tests.sampling import every


def test_there_are_slips_of_every_kind() -> None:
    assert len(SLIPS) >= 120
    assert len({name.partition("/")[0] for name in SLIPS}) >= 10


@pytest.mark.parametrize("name", every(4, sorted(SLIPS)))
def test_a_slip_is_refused(name: str, tmp_path: Path) -> None:
    slip = SLIPS[name]
    written = Written(slip.parts, tmp_path, slip.symbolic)
    for command, answer in written.answers().items():
        if command in slip.read_by:
            assert answer.refused, f"{command}: {answer}"
        elif not answer.refused:
            assert written.wrong(command, answer) is None


@pytest.mark.parametrize("name", every(4, sorted(HONEST)))
def test_what_authors_rightly_write_is_not_refused(name: str, tmp_path: Path) -> None:
    written = Written(HONEST[name], tmp_path, symbolic=False)
    for command, answer in written.answers().items():
        assert answer.code in (0, 1, 3), f"{command}: {answer}"
        assert written.wrong(command, answer) is None
