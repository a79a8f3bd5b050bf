"""A bound is called exact only if both halves are proved for all parameters, in text and in JSON alike."""

import json
from dataclasses import replace

import jsonschema
import pytest

from fdverify.bounds.bound_formula import BoundFormula, Factor, FormulaCase, Polynomial
from fdverify.bounds.bounds_search import BoundSearch
from fdverify.bounds.detector_bound import ALL_PARAMETERS, BoundSubject, DetectorBound, Evidence
from fdverify.bounds.report import report_bounds
from fdverify.reports.documents import write_document
from fdverify.reports.step_table import render_text
from fdverify.schemas import find_schema

LINE = Polynomial((((Factor("delta"),), 2), ((), 1)))
EVERYWHERE, SEEN = Evidence(ALL_PARAMETERS, "by a proof"), Evidence("delta 0..6", "as explored")
BOUND = DetectorBound(
    name="least-safe-timeout",
    meaning="the least of all",
    formula=BoundFormula((FormulaCase((), (), Polynomial((((Factor("delta", "up", 2),), 2), ((), 1)))),)),
    enough=None,
    witness=SEEN,
    explored=7,
    linear=LINE,
    linear_attained=4,
)
CASES = [
    (replace(BOUND, enough=EVERYWHERE, witness=EVERYWHERE), "exact", "2*(delta+(-delta)%2)+1", 0),
    (replace(BOUND, enough=EVERYWHERE), "upper bound, attained in 7 instances", "2*(delta+(-delta)%2)+1", 0),
    (replace(BOUND, linear_enough=EVERYWHERE), "upper bound, attained in 4 instances", "2*delta+1", 0),
    (
        replace(BOUND, linear_enough=EVERYWHERE, witness=EVERYWHERE),
        "upper bound, attained in 4 instances",
        "2*delta+1",
        0,
    ),
    (replace(BOUND, witness=EVERYWHERE), "lower bound", None, 3),
    (BOUND, "measured in 7 instances", None, 3),
]


@pytest.mark.parametrize(("bound", "status", "upper", "code"), CASES)
def test_a_bound_is_called_what_is_proved_of_it(
    bound: DetectorBound, status: str, upper: str | None, code: int
) -> None:
    found = BoundSearch(BoundSubject("beats", {"timeout": "any"}, "accuracy"), (bound,))
    assert found.exit_code == code
    assert f"least-safe-timeout: {status}\n" in render_text(report_bounds("accuracy", found, 1.0).render)
    document = json.loads(write_document(report_bounds("accuracy", found, 1.0).document))
    jsonschema.validate(document, json.loads(find_schema("bounds")))
    assert (document["status"], document["upper_bound"]) == (status, upper)


def test_a_document_that_calls_it_otherwise_is_none() -> None:
    found = BoundSearch(BoundSubject("beats", {}, "accuracy"), (BOUND,))
    document = json.loads(write_document(report_bounds("accuracy", found, 1.0).document))
    schema = json.loads(find_schema("bounds"))
    for status in ("upper and lower bound", "upper bound", "exact, surely"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, "status": status}, schema)
