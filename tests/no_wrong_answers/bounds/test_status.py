"""A bound is called exact only if both halves are proved for all parameters, in text and in JSON alike."""

import json
from dataclasses import replace

import jsonschema
import pytest

from fdverify.discovery.bounds.bound import ALL, Bound, Evidence
from fdverify.discovery.bounds.find import Found
from fdverify.discovery.bounds.formula import Case, Factor, Formula, Sum
from fdverify.discovery.bounds.subject import Subject
from fdverify.reports.bounds import bounds_text
from fdverify.reports.bounds_document import SCHEMA, bounds_document

LINE = Sum((((Factor("delta"),), 2), ((), 1)))
EVERYWHERE, SEEN = Evidence(ALL, "by a proof"), Evidence("delta 0..6", "as explored")
BOUND = Bound(
    name="least-safe-timeout",
    meaning="the least of all",
    formula=Formula((Case((), (), Sum((((Factor("delta", "up", 2),), 2), ((), 1)))),)),
    enough=None,
    needed=SEEN,
    measured=7,
    linear=LINE,
    linear_attained=4,
)
CASES = [
    (replace(BOUND, enough=EVERYWHERE, needed=EVERYWHERE), "exact", "2*(delta+(-delta)%2)+1", 0),
    (replace(BOUND, enough=EVERYWHERE), "upper bound, attained in 7 instances", "2*(delta+(-delta)%2)+1", 0),
    (replace(BOUND, linear_enough=EVERYWHERE), "upper bound, attained in 4 instances", "2*delta+1", 0),
    (
        replace(BOUND, linear_enough=EVERYWHERE, needed=EVERYWHERE),
        "upper bound, attained in 4 instances",
        "2*delta+1",
        0,
    ),
    (replace(BOUND, needed=EVERYWHERE), "lower bound", None, 3),
    (BOUND, "measured in 7 instances", None, 3),
]


@pytest.mark.parametrize(("bound", "status", "upper", "code"), CASES)
def test_a_bound_is_called_what_is_proved_of_it(bound: Bound, status: str, upper: str | None, code: int) -> None:
    found = Found(Subject("beats", {"timeout": "any"}, "accuracy"), (bound,))
    assert found.exit_code == code
    assert f"least-safe-timeout: {status}\n" in bounds_text(found, 1.0)
    document = json.loads(bounds_document("accuracy", found, 1.0))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert (document["status"], document["upper_bound"]) == (status, upper)


def test_a_document_that_calls_it_otherwise_is_none() -> None:
    document = json.loads(bounds_document("accuracy", Found(Subject("beats", {}, "accuracy"), (BOUND,)), 1.0))
    schema = json.loads(SCHEMA.read_text())
    for status in ("upper and lower bound", "upper bound", "exact, surely"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, "status": status}, schema)
