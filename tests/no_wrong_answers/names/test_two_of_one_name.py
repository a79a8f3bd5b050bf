"""Two of one name: whoever asks for one of them would be told about the other, so both are refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG
from fdverify.detectors.model_catalogue import find_model
from fdverify.errors import SourceLocation, UsageError
from fdverify.logic import Truth
from fdverify.models.model import Model, Option
from fdverify.models.system import Parameter, Phase, Property, State, System, update
from fdverify.obligations.inductive import Invariant
from fdverify.proofs import Proof
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_settings import ProofSettings
from tests.cli import written_proofs as files
from tests.cli.test_verify_invariant import cache as cache
from tests.cli.test_verify_invariant import verify
from tests.engines.small import counter, up_to_limit

HERE = Path(__file__)


def first(s: State) -> Truth:
    return s.limit >= 0


def second(s: State) -> Truth:
    return s.limit >= 1


def small(**parts: Any) -> System:
    return replace(counter(up_to_limit, lambda s: s.x >= 0), **parts)


def twins(one: Callable[[State], Truth] = first, other: Callable[[State], Truth] = second) -> tuple[Property, ...]:
    return (Property("same", one, "one"), Property("same", other, "another"))


CLAIMS = {
    "properties": "properties",
    "assumptions": "assumptions",
    "liveness": "liveness properties",
    "fairness": "fairness conditions",
}


@pytest.mark.parametrize(("part", "kind"), CLAIMS.items(), ids=CLAIMS)
def test_two_claims_of_one_kind(part: str, kind: str) -> None:
    with pytest.raises(UsageError) as refused:
        small(**{part: twins()})
    lines = [function.__code__.co_firstlineno for function in (first, second)]
    places = " and ".join(f"at {HERE.relative_to(Path.cwd())}:{line}" for line in lines)
    assert str(refused.value) == f"counter has two {kind} same, {places} (hint: rename one)"
    assert refused.value.place == SourceLocation(HERE, lines[1])


@pytest.mark.parametrize("part", CLAIMS)
def test_the_same_claim_twice_is_two(part: str) -> None:
    with pytest.raises(UsageError, match="has two"):
        small(**{part: (twins()[0], twins()[0])})


def test_claims_of_different_kinds_may_share_a_name() -> None:
    one, other = twins()
    assert small(properties=(one,), liveness=(other,)).find_property("same") is one


def test_two_phases() -> None:
    phases = (Phase("go", lambda s, c: update()), Phase("go", lambda s, c: update(x=s.x)))
    with pytest.raises(UsageError, match=r"counter has two phases go, at .*:\d+ and at .*:\d+"):
        small(phases=phases)


def test_two_options_or_parameters_of_a_model() -> None:
    option, parameter = Option("mode", "how", "fast"), Parameter("mode", 0, None)
    for parameters, options in (((), (option, option)), ((parameter, parameter), ()), ((parameter,), (option,))):
        model = Model("m", "a model", parameters, options, "p", lambda **chosen: small())
        with pytest.raises(UsageError, match="model m has two parameters or options mode"):
            model.instantiate({}, {})


def test_two_conjuncts() -> None:
    with pytest.raises(UsageError, match="the proof has two conjuncts same, at"):
        Invariant(small(), Property("goal", first, "the goal"), twins())


def test_an_assumption_of_the_proof_and_one_of_the_model() -> None:
    def build(**chosen: Any) -> System:
        return replace(CHANDRA_TOUEG.build(**chosen), assumptions=(Property("slow", lambda s: s.phi > 1, "slow"),))

    proof = Proof(replace(CHANDRA_TOUEG, build=build), goal="strong-accuracy")

    @proof.assumption
    def slow(s: State) -> Truth:
        """It is slow."""
        return s.phi >= 1

    with pytest.raises(UsageError, match=r"chandra-toueg has two assumptions slow, at .*:\d+ and at .*:\d+"):
        proof.build_system({}, {})


def test_two_conjuncts_of_a_proof(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(files.NAME_CLASH)
    with pytest.raises(UsageError, match=r"mine.py:\d+: the name bounded is already used at .*mine.py:\d+"):
        load_proof(tmp_path / "mine.py")


def test_two_proofs_in_a_file_are_told_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(files.GOOD + 'proof = Proof("chandra-toueg", goal="strong-accuracy")\n')
    with pytest.raises(UsageError, match=r"mine.py:19: a second proof in the same file, the first is at .*mine.py:6"):
        load_proof(tmp_path / "mine.py")


def test_a_clash_in_a_users_file_is_told_when_its_model_is_named(tmp_path: Path) -> None:
    text = (
        "from fdverify.models.model import Model, Option\n"
        "M = Model('m', 's', (), (Option('a', '', ''), Option('a', '', '')), 'p', None)\n"
    )
    (tmp_path / "models.py").write_text(text)
    with pytest.raises(UsageError, match=r"models.py: model m has two parameters or options a"):
        find_model(f"{tmp_path / 'models.py'}:M")


def test_the_command_says_it_in_one_line(tmp_path: Path, cache: dict[str, str]) -> None:
    (tmp_path / "mine.py").write_text(files.UNSATISFIABLE.replace("def impossible", "def timers"))
    outcome = verify(str(tmp_path / "mine.py"), env=cache)
    assert outcome.code == 2
    (line,) = outcome.stderr.splitlines()
    assert "the name timers is already used at" in line


FOLDERS = ("a/x", "b/x", "b-x")


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """By as many folders as it takes."""
    paths = [tmp_path / folder / "p.py" for folder in FOLDERS]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(files.GOOD)
    settings = ProofSettings(only=("bounded-init",), jobs=1, cache=False, smtlib=tmp_path / "texts")
    results = check_proofs(paths, settings)
    assert [result.error for result in results] == [None] * len(paths)
    assert len({result.name for result in results}) == len(paths)
    assert len(list((tmp_path / "texts").iterdir())) == len(paths), "none was written over another"


def test_proofs_at_hand_of_one_file_are_told_apart() -> None:
    def made() -> Proof:
        proof = Proof("chandra-toueg", goal="strong-accuracy")
        proof.invariants(lambda_free)
        return proof

    results = check_proofs([made(), made()], ProofSettings(only=("lambda_free-init",), jobs=1, cache=False))
    assert len({result.name for result in results}) == 2


def lambda_free(s: State) -> Truth:
    """Nobody waits for less than nothing."""
    return s.waiting_time >= 0
