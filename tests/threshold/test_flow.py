"""Control flow automata: what is none is refused, and every promise of the broadcasts has a change that breaks it."""

from dataclasses import replace
from pathlib import Path

import pytest

from fdverify.errors import UsageError
from fdverify.threshold.flow import ControlFlow, build_threshold_automaton
from fdverify.threshold.flow.control_flow import Edge
from fdverify.verdict import Verdict
from tests.cli.script import run
from tests.threshold.small import found
from tests.threshold.test_dialog import FLOWS, FOLDER

RECEIVE = ("qI", "rcvd := e where rcvd <= e <= nsnt", "r")


def one(*edges: Edge) -> ControlFlow:
    """A process that goes from A to B."""
    return ControlFlow(
        name="One",
        parameters=("N", "T"),
        assumptions=("N >= 1",),
        processes="N",
        statuses=("A", "B", "C"),
        initial=("A",),
        shared=("nsnt",),
        edges=edges,
        due={"rcvd": "nsnt"},
        specifications={"s": "[](B == 0)"},
    )


BAD = {
    "a cycle": (
        (RECEIVE, ("r", "inc nsnt", "q"), ("q", "inc nsnt", "r"), ("q", "sv := B", "qF")),
        "the edges of a step form a cycle: r -> q",
    ),
    "no way through": ((RECEIVE,), "no path leads from qI to qF"),
    "an unbound variable": (
        (("qI", "T <= rcv", "qF"),),
        "One: T <= rcv:1:6: there is no rcv (hint: did you mean rcvd?)",
    ),
    "a counter that is not received": ((("qI", "T <= rcvd", "qF"),), "rcvd is not received earlier in this step"),
    "no counter of that name": ((("qI", "rcv := e where rcv <= e <= nsnt", "qF"),), "there is no counter rcv"),
    "no shared variable of that name": ((("qI", "inc snt", "qF"),), "there is no shared variable snt"),
    "no status of that name": ((("qI", "sv := D", "qF"),), "there is no status D"),
    "a guard over shared variables": ((RECEIVE, ("r", "T <= rcvd + nsnt", "qF")), "this is not a threshold"),
    "a guard that is an equation": ((RECEIVE, ("r", "rcvd == T", "qF")), "this is not a threshold"),
    "a guard that counts twice": ((RECEIVE, ("r", "2 * rcvd >= T", "qF")), "this is not a threshold"),
    "a guard of parameters": ((RECEIVE, ("r", "N >= T", "qF")), "this is not a threshold"),
    "a status that is more than another": ((("qI", "sv > A", "qF"),), "a status is compared by sv == STATUS"),
    "two receptions": ((RECEIVE, ("r", RECEIVE[1], "qF")), "rcvd is received twice in a step"),
    "a counter that falls": ((("qI", "rcvd := e where nsnt <= e <= nsnt", "qF"),), "a counter does not decrease"),
    "messages that are lost": (
        (("qI", "rcvd := e where rcvd <= e <= N - nsnt", "qF"),),
        "the bound of a counter does not decrease",
    ),
}


@pytest.mark.parametrize(("edges", "says"), BAD.values(), ids=BAD)
def test_what_is_no_control_flow_automaton_is_refused(edges: tuple[Edge, ...], says: str) -> None:
    with pytest.raises(UsageError) as raised:
        build_threshold_automaton(one(*edges))
    assert says in str(raised.value)
    assert str(raised.value).startswith("One: ")


def test_the_command_line_says_so_in_one_line(tmp_path: Path) -> None:
    text = (FOLDER / "byz.py").read_text().replace('"N - T <= rcvd"', '"N - T <= rcvd * 2"')
    (tmp_path / "_broadcast.py").write_text((FOLDER / "_broadcast.py").read_text())
    file = tmp_path / "odd.py"
    file.write_text(text)
    for command in ("check", "show"):
        outcome = run("threshold", command, str(file))
        assert (outcome.code, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith("error: BYZ: N - T <= rcvd * 2: this is not a threshold")
        assert outcome.stderr.count("\n") == 1
    file.write_text("x = 1\n")
    outcome = run("threshold", "check", str(file))
    assert (outcome.code, outcome.stderr.count("\n")) == (2, 1)
    assert "has 0 automata" in outcome.stderr


CHANGES: dict[tuple[str, str], dict[str, str]] = {
    ("BYZ", "unforg"): {"T + 1 <= rcvd": "T <= rcvd", "rcvd < T + 1": "rcvd < T"},
    ("BYZ", "corr"): {"N - T <= rcvd": "N - T + 1 <= rcvd", "rcvd < N - T": "rcvd < N - T + 1"},
    ("BYZ", "relay"): {"T + 1 <= rcvd": "T + 2 <= rcvd", "rcvd < T + 1": "rcvd < T + 2"},
    ("SYMM", "unforg"): {"T + 1 <= rcvd": "T <= rcvd", "rcvd < T + 1": "rcvd < T"},
    ("SYMM", "corr"): {"T + 1 <= rcvd": "T + 2 <= rcvd", "rcvd < T + 1": "rcvd < T + 2"},
    ("SYMM", "relay"): {"nsnt + Fs": "nsnt + Fs + 1"},
    ("OMIT", "unforg"): {"&& 1 <= rcvd": "&& 0 <= rcvd", "rcvd < 1": "rcvd < 0"},
    ("OMIT", "corr"): {"To + 1 <= rcvd": "To + 2 <= rcvd", "rcvd < To + 1": "rcvd < To + 2"},
    ("OMIT", "relay"): {"&& 1 <= rcvd": "&& 2 <= rcvd", "rcvd < 1": "rcvd < 2"},
    ("CLEAN", "unforg"): {"N - Tc <= rcvd": "N - Tc - 1 <= rcvd", "rcvd < N - Tc": "rcvd < N - Tc - 1"},
    ("CLEAN", "corr"): {"inc nsnt": "sv == V1"},
    ("CLEAN", "relay"): {"nsnt - Fnc": "nsnt - Fnc + 1"},
}
"""A threshold off by one, a missing send, a message more."""


@pytest.mark.parametrize(("algorithm", "name"), CHANGES)
def test_every_promise_can_be_broken(algorithm: str, name: str) -> None:
    flow = FLOWS[algorithm]
    edges = list(flow.edges)
    for old, new in CHANGES[algorithm, name].items():
        changed = [(source, operation.replace(old, new), target) for source, operation, target in edges]
        assert changed != edges
        edges = changed
    checked = found(build_threshold_automaton(replace(flow, edges=edges)), name)
    assert checked.verdict is Verdict.VIOLATED
    assert checked.trace is not None


def test_every_promise_is_among_these() -> None:
    assert set(CHANGES) == {(algorithm, name) for algorithm, flow in FLOWS.items() for name in flow.specifications}
