"""Reading the source: each slip is refused with its line and a hint, and what means the same everywhere is not."""

from pathlib import Path

import pytest

from fdverify.author_code.source.source_reader import check_sources
from fdverify.errors import UsageError
from tests.no_wrong_answers.source.reading import Case, cases, marked_line, phase_in

REFUSED = cases("identity", "types", "conversions", "containers", "memory", "hidden")
ACCEPTED = cases("accepted")


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("case", REFUSED, ids=[case.name for case in REFUSED])
def test_a_slip_is_refused_where_it_is(case: Case, tmp_path: Path) -> None:
    function = phase_in(tmp_path, case.source)
    with pytest.raises(UsageError) as refused:
        check_sources([function])
    assert f"model.py:{marked_line(case.source)}: phase step " in str(refused.value)
    assert refused.value.hint is not None
    assert case.hint in refused.value.hint


@pytest.mark.parametrize("case", ACCEPTED, ids=[case.name for case in ACCEPTED])
def test_what_means_the_same_everywhere_is_accepted(case: Case, tmp_path: Path) -> None:
    assert check_sources([phase_in(tmp_path, case.source)]) == ()
