"""Four broadcasts as control flow automata: the published tables, the composition of processes, and all sizes."""

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fdverify.models.loading import load_module
from fdverify.threshold.fixed_parameters import fix_parameters
from fdverify.threshold.flow import ControlFlow, build_threshold_automaton, write_threshold_text
from fdverify.threshold.text.read import parse_automaton
from fdverify.verdict import Verdict
from tests.sampling import every
from tests.threshold.composition import Composition
from tests.threshold.small import found

FOLDER = Path(__file__).parents[2] / "examples" / "threshold" / "dialog"
FLOWS: dict[str, ControlFlow] = {
    name.upper(): getattr(load_module(FOLDER / f"{name}.py"), name) for name in ("byz", "symm", "omit", "clean")
}
SPECIFICATIONS = ("unforg", "corr", "relay")
HOLDS: dict[Verdict | None, bool] = {Verdict.PROVED: True, Verdict.VACUOUS: True, Verdict.VIOLATED: False}


def published() -> list[tuple[str, dict[str, int], str, str]]:
    with (FOLDER / "published.csv").open() as file:
        return [
            (
                row["algorithm"],
                {name: int(number) for name, number in (part.split("=") for part in row["parameters"].split())},
                row["spec"],
                row["verdict"],
            )
            for row in csv.DictReader(file)
        ]


ROWS = published()


def verdict_at(flow: ControlFlow, parameters: Mapping[str, int], name: str) -> bool:
    """Whether a specification holds at certain parameters, whatever the resilience condition."""
    automaton = fix_parameters(replace(build_threshold_automaton(flow), assumptions=()), parameters)
    return HOLDS[found(automaton, name).verdict]


def test_the_tables_are_whole() -> None:
    assert len(ROWS) == 210
    assert sum(verdict != "out-of-memory" for *_, verdict in ROWS) == 198


def test_every_published_row_agrees_and_what_ran_out_of_memory_is_answered() -> None:
    for algorithm, parameters, name, verdict in every(6, ROWS):
        holds = verdict_at(FLOWS[algorithm], parameters, name)
        assert verdict in (("holds", "out-of-memory") if holds else ("violated", "out-of-memory")), (
            algorithm,
            parameters,
        )


SMALL = [row for row in ROWS if Composition(FLOWS[row[0]], row[1]).processes <= 4]


def test_the_composition_of_few_processes_agrees() -> None:
    assert len({(algorithm, verdict) for algorithm, _, _, verdict in SMALL}) >= 7
    for algorithm, parameters, name, verdict in every(19, SMALL):
        assert Composition(FLOWS[algorithm], parameters).holds(name) == (verdict == "holds"), (algorithm, parameters)


@pytest.mark.parametrize("name", SPECIFICATIONS)
@pytest.mark.parametrize("algorithm", FLOWS)
def test_they_hold_for_all_parameters(algorithm: str, name: str) -> None:
    assert found(build_threshold_automaton(FLOWS[algorithm]), name).verdict is Verdict.PROVED


TOO_MANY_FAULTS = {
    "BYZ": ("F <= T", "F <= T + 1", SPECIFICATIONS),
    "SYMM": ("Fp <= T", "Fp <= T + 1", ("unforg", "corr")),
    "OMIT": ("Fo <= To", "Fo <= To + 1", ("corr", "relay")),
    "CLEAN": ("Fnc <= Fc", "Fnc <= Fc + 1", ("corr",)),
}
TOO_FEW_PROCESSES = {
    "BYZ": ("N > 3 * T", "N >= 3 * T", ("relay",)),
    "SYMM": ("N > 2 * T", "N >= 2 * T", ("corr",)),
    "OMIT": ("N > 2 * To", "N >= 2 * To", ("corr", "relay")),
    "CLEAN": ("N > Tc", "N >= Tc", ("unforg", "corr", "relay")),
}


@pytest.mark.parametrize("weaker", [TOO_MANY_FAULTS, TOO_FEW_PROCESSES], ids=["a fault too many", "a process too few"])
@pytest.mark.parametrize("algorithm", FLOWS)
def test_they_break_just_outside_of_their_resilience_condition(
    algorithm: str, weaker: Mapping[str, tuple[str, str, tuple[str, ...]]]
) -> None:
    old, new, broken = weaker[algorithm]
    flow = FLOWS[algorithm]
    assert old in flow.assumptions
    changed = replace(flow, assumptions=[new if claim == old else claim for claim in flow.assumptions])
    automaton = build_threshold_automaton(changed)
    for name in SPECIFICATIONS:
        checked = found(automaton, name)
        assert (checked.verdict is Verdict.VIOLATED) == (name in broken), name
        example = checked.trace
        if example is not None and Composition(flow, example.parameters).processes <= 3:
            assert not Composition(flow, example.parameters).holds(name)


@pytest.mark.parametrize("algorithm", FLOWS)
def test_the_shipped_text_is_the_translation(algorithm: str) -> None:
    text = (FOLDER / f"{algorithm.lower()}.ta").read_text()
    assert text == write_threshold_text(FLOWS[algorithm])
    assert parse_automaton(text, "t") == build_threshold_automaton(FLOWS[algorithm])
