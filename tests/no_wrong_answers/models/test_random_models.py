"""Random small models: every engine, and what a proof is said to be, against an explicit-state search."""

from pathlib import Path

import pytest

from tests.no_wrong_answers.models.compare import Comparison, compare_proofs
from tests.no_wrong_answers.models.generate import generate
from tests.sampling import every

MODELS, BATCH = 2400, 20


@pytest.mark.parametrize("first", every(20, range(0, MODELS, BATCH)))
def test_every_answer_about_random_models_is_the_oracles(first: int, tmp_path: Path) -> None:
    comparisons = [Comparison(generate(seed), tmp_path) for seed in range(first, first + BATCH)]
    for comparison in comparisons:
        comparison.compare_engines()
    compare_proofs(comparisons)
    assert [difference for each in comparisons for difference in each.differences] == []
