"""What a proof file is when it is loaded: all of it, as it is now, with the modules that are beside it."""

from pathlib import Path

import pytest

from fdverify.cache.signed_records import compute_digest
from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG, ReceiverPc
from fdverify.engines.explore import explore
from fdverify.errors import UsageError
from fdverify.model_check.check_request import CheckRequest
from fdverify.models.system import Property
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.file_watch import is_affected
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.session import ProofSession
from fdverify.verdict import Verdict, ignore_progress
from tests.cli import written_proofs as files


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def checked(path: Path) -> ProofResult:
    (result,) = check_proofs([path], ProofSettings(jobs=1))
    return result


def test_a_module_that_is_imported_late_is_the_one_that_was_imported_before(tmp_path: Path) -> None:
    """A second copy of it would have forgotten what the first one was told."""
    text = files.VIOLATED.replace(', goal="strong-accuracy"', "")
    proof = f"from claims import CLAIMS, claim\n{text}" + (
        "\n\nclaim(lambda s: Not(s.suspected))\n\n\n@proof.goal\ndef all_claims(s):\n"
        '    """All of them."""\n    from claims import CLAIMS\n\n'
        "    return And(*(claim(s) for claim in CLAIMS), s.phi > 0)\n"
    )
    write(tmp_path, claims="CLAIMS = []\n\ndef claim(f):\n    CLAIMS.append(f)\n    return f\n", mine=proof)
    assert checked(tmp_path / "mine.py").verdict is Verdict.VIOLATED


def test_a_model_that_a_proof_names_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    model = (
        "from dataclasses import replace\nfrom fdverify.detectors.chandra_toueg import CHANDRA_TOUEG\n"
        'M = replace(CHANDRA_TOUEG, name="{name}")\n'
    )
    write(tmp_path, m=model.format(name="first"), mine=files.GOOD.replace('"chandra-toueg"', '"m.py:M"'))
    assert load_proof(tmp_path / "mine.py").model.name == "first"
    write(tmp_path, m=model.format(name="second"))
    assert load_proof(tmp_path / "mine.py").model.name == "second"


def test_a_model_is_looked_for_beside_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG\nfrom dataclasses import replace\n"
    write(tmp_path / "here", m=model + 'M = replace(CHANDRA_TOUEG, name="there")\n')
    write(tmp_path / "proofs", m=model + 'M = replace(CHANDRA_TOUEG, name="beside")\n')
    write(tmp_path / "proofs", mine=files.GOOD.replace('"chandra-toueg"', '"m.py:M"'))
    monkeypatch.chdir(tmp_path / "here")
    assert load_proof(tmp_path / "proofs" / "mine.py").model.name == "beside"


def test_which_of_two_modules_a_late_import_means_is_not_guessed(tmp_path: Path) -> None:
    late = "from fdverify.detectors.chandra_toueg import CHANDRA_TOUEG as C\nfrom dataclasses import replace\n" + (
        "def build(**chosen):\n    import limits\n    return C.build(**chosen)\n\nM = replace(C, build=build)\n"
    )
    write(tmp_path / "models", m=late, limits="LIMIT = -5\n")
    named = f'"{tmp_path / "models" / "m.py"}:M"'
    write(tmp_path / "proofs", mine=files.GOOD.replace('"chandra-toueg"', named), limits="LIMIT = 0\n")
    result = checked(tmp_path / "proofs" / "mine.py")
    assert isinstance(result.error, UsageError)
    assert "limits exists beside the proof and beside its model" in str(result.error)


def test_a_proof_that_a_function_elsewhere_makes_is_the_files(tmp_path: Path) -> None:
    factory = f"{files.HEAD}def made():\n    return Proof('chandra-toueg', goal='strong-accuracy')\n"
    write(tmp_path, factory=factory, both=f"from factory import made\nother = made()\n{files.GOOD}")
    with pytest.raises(UsageError, match="a second proof in the same file"):
        load_proof(tmp_path / "both.py")
    write(tmp_path, one="from factory import made\nproof = made()\n")
    assert load_proof(tmp_path / "one.py").source.file.name == "one.py"


def test_misuse_is_noticed_through_a_property_within_a_claim(tmp_path: Path) -> None:
    text = files.GOOD.replace(
        'Φ."""\n    return s.receiver_timer < s.phi',
        'Φ."""\n    try:\n        return INNER.holds(s)\n'
        "    except Exception:\n        return s.receiver_timer < s.phi",
    ).replace(
        "@proof.goal",
        "from fdverify.models.system import Property\n"
        'INNER = Property("inner", lambda s: s.suspected and s.suspected, "inner")\n\n\n@proof.goal',
    )
    write(tmp_path, mine=text)
    assert isinstance(checked(tmp_path / "mine.py").error, UsageError)


@pytest.mark.parametrize("claim", ["s.suspected is not True", "s.receiver_pc is not ReceiverPc.Receive"])
def test_symbols_compared_as_objects_are_refused(tmp_path: Path, claim: str) -> None:
    head = "from fdverify.detectors.chandra_toueg import ReceiverPc\n"
    write(tmp_path, mine=head + files.VIOLATED.replace("return Not(s.suspected)", f"return {claim}"))
    result = checked(tmp_path / "mine.py")
    assert isinstance(result.error, UsageError)
    assert "compare with ==" in str(result.error)


def test_engines_refuse_them_too() -> None:
    claim = Property("idle", lambda s: s.receiver_pc is not ReceiverPc.Receive, "it never receives")
    options = {option.name: option.default for option in CHANDRA_TOUEG.options}
    engines: tuple[tuple[str, dict[str, int]], ...] = (("explore", {}), ("bmc", {"depth": 3}), ("induct", {"max_k": 3}))
    for command, settings in engines:
        job = CheckRequest(command, CHANDRA_TOUEG, {"delta": 1, "phi": 1}, options, claim, settings)
        with pytest.raises(UsageError, match=r"test_loading.py:\d+: "):
            job.compare_and_decide(ignore_progress)


def test_a_claim_that_is_constant_at_these_parameters_is_none_of_them() -> None:
    system = CHANDRA_TOUEG.build(delta=0, phi=2, variant="tla", crash=False, timeout="6*phi+delta", buffer=None)
    claim = Property("young", lambda s: s.buffer.any(0, s.delta - 1) == False, "nothing is younger than 0")  # noqa: E712
    assert explore(system, claim).verdict is Verdict.PROVED


def test_a_folder_of_a_librarys_name_is_not_the_library(tmp_path: Path) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "plots.py").write_text("")
    write(tmp_path, mine="import numpy\nnumpy.array([1])\n" + files.GOOD)
    assert checked(tmp_path / "mine.py").verdict is Verdict.PROVED


COUNTED = """
from pathlib import Path

with Path(__file__).with_suffix(".log").open("a") as log:
    log.write("loaded\\n")
"""


def test_a_file_is_loaded_once_for_its_obligations_and_once_for_its_functions(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(COUNTED + files.GOOD)
    (result,) = check_proofs([path], ProofSettings(jobs=2, cache=False))
    assert result.verdict is Verdict.PROVED
    assert path.with_suffix(".log").read_text().splitlines() == ["loaded"] * 2


def test_a_session_loads_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(COUNTED + files.GOOD)
    session = ProofSession(path, ProofSettings(jobs=1, cache=False))
    try:
        for checked in session.result.checked:
            assert session.check_obligation(checked.question.name).verdict is Verdict.PROVED
        session.check_vacuity()
    finally:
        session.close()
    assert path.with_suffix(".log").read_text().splitlines() == ["loaded"]


CHANGING = """
from pathlib import Path
from time import sleep

came, went = (Path(__file__).with_suffix(suffix) for suffix in (".came", ".went"))
try:
    came.touch(exist_ok=False)
except FileExistsError:  # the second process that loads it changes the helper, which the first one has read
    while not went.exists():
        sleep(0.01)
    Path(__file__).with_name("helper.py").write_text("LEAST = -1\\n")
import helper

went.touch()
"""


def test_a_file_that_changes_during_the_check_is_refused(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("LEAST = 0\n")
    path = tmp_path / "mine.py"
    path.write_text(CHANGING + files.GOOD)
    (result,) = check_proofs([path], ProofSettings(jobs=2, cache=False))
    assert isinstance(result.error, UsageError)
    assert "helper.py: it was changed while" in str(result.error)
    helper = tmp_path / "helper.py"
    assert is_affected(result, result.files, {**result.files, helper: compute_digest(helper.read_bytes())}), "it is due"
