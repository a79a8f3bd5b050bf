"""A proof that was proved is known again while nothing has changed, and never after a change of what it depends on."""

from __future__ import annotations

import importlib
import os
import py_compile
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fdverify import check_proof
from fdverify.cache.signed_records import SignedRecords
from fdverify.models import loading, read_recorder
from fdverify.proofs import known_outcomes
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.testing.collect import collect_obligations
from fdverify.verdict import Verdict

SYSTEM = """
def build(delta):
    return System("m", {}, (Parameter("delta", 0, delta),),
        (Variable("x", Integers(), initial=lambda s: 0, range=lambda s: s.x >= 0),),
        (Phase("grow", lambda s, c: update(x=s.x + 1)),), (Property("p", lambda s: s.x >= LIMIT, "p"),))


M = Model("m", "m", (Parameter("delta", 0, None),), (), "p", build)
"""
CLAIM = """
@proof.invariant
def large(s):
    \"\"\"The number is large enough.\"\"\"
    return s.x >= LIMIT
"""
IMPORTS = """
from fdverify import *
from fdverify.models.model import Model
from fdverify.models.system import *
"""
OWN = f"{IMPORTS}{SYSTEM}\nproof = Proof(M, goal='p')\n{CLAIM}"
"""With a limit of 0 it is proved; with 1 it is not."""
HERE = "from pathlib import Path\nHERE = Path(__file__).parent\n"

Change = Callable[[Path], object]


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path = path if path.suffix else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write(**texts: str) -> Change:
    return lambda folder: put(folder, **texts)


def relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


CASES: dict[str, tuple[dict[str, str], Change]] = {
    "the proof": ({"proof": f"LIMIT = 0\n{OWN}"}, write(proof=f"LIMIT = 1\n{OWN}")),
    "the proof, one claim more": (
        {"proof": f"LIMIT = 0\n{OWN}"},
        write(proof=f"LIMIT = 0\n{OWN}\nLIMIT = 1\n{CLAIM.replace('large', 'larger')}"),
    ),
    "a helper": ({"proof": f"from helper import LIMIT\n{OWN}", "helper": "LIMIT = 0"}, write(helper="LIMIT = 1")),
    "a helper's helper": (
        {"proof": f"from helper import LIMIT\n{OWN}", "helper": "from deep import LIMIT", "deep": "LIMIT = 0"},
        write(deep="LIMIT = 1"),
    ),
    "a package": (
        {"proof": f"from inner.part import LIMIT\n{OWN}", "inner____init__": "", "inner__part": "LIMIT = 0"},
        write(inner__part="LIMIT = 1"),
    ),
    "a helper that is deleted": (
        {"proof": f"from helper import LIMIT\n{OWN}", "helper": "LIMIT = 0"},
        lambda folder: (folder / "helper.py").unlink(),
    ),
    "the model": (
        {
            "proof": f"{IMPORTS}LIMIT = 0\nproof = Proof('model.py:M', goal='p')\n{CLAIM}",
            "model": f"{IMPORTS}LIMIT = 0\n{SYSTEM}",
        },
        write(model=f"{IMPORTS}LIMIT = 1\n{SYSTEM}"),
    ),
    "the model's helper": (
        {
            "proof": f"{IMPORTS}LIMIT = 0\nproof = Proof('model.py:M', goal='p')\n{CLAIM}",
            "model": f"{IMPORTS}from helper import LIMIT\n{SYSTEM}",
            "helper": "LIMIT = 0",
        },
        write(helper="LIMIT = 1"),
    ),
    "data": (
        {"proof": f"{HERE}LIMIT = int((HERE / 'limit.txt').read_text())\n{OWN}", "limit_DOT_txt": "0"},
        write(limit_DOT_txt="1"),
    ),
    "a helper's data": (
        {
            "proof": f"from helper import LIMIT\n{OWN}",
            "helper": f"{HERE}import json\nLIMIT = json.load(open(HERE / 'limit.json'))",
            "limit_DOT_json": "0",
        },
        write(limit_DOT_json="1"),
    ),
    "the model's data": (
        {
            "proof": f"{IMPORTS}LIMIT = 0\nproof = Proof('model.py:M', goal='p')\n{CLAIM}",
            "model": f"{IMPORTS}{HERE}LIMIT = int((HERE / 'limit.txt').read_text())\n{SYSTEM}",
            "limit_DOT_txt": "0",
        },
        write(limit_DOT_txt="1"),
    ),
    "data that is read late": (
        {
            "proof": f"{HERE}LIMIT = 0\n{OWN}".replace(
                "def build(delta):\n", "def build(delta):\n    LIMIT = int((HERE / 'limit.txt').read_text())\n"
            ),
            "limit_DOT_txt": "0",
        },
        write(limit_DOT_txt="1"),
    ),
    "data that was not there": (
        {
            "proof": f"{HERE}try:\n    LIMIT = int(open(HERE / 'limit.txt').read())\n"
            f"except FileNotFoundError:\n    LIMIT = 0\n{OWN}"
        },
        write(limit_DOT_txt="1"),
    ),
    "a module that was not there": (
        {"proof": f"try:\n    from helper import LIMIT\nexcept ImportError:\n    LIMIT = 0\n{OWN}"},
        write(helper="LIMIT = 1"),
    ),
    "a module that replaces an installed one": (
        {"proof": f"from installed_limits import LIMIT\n{OWN}", "elsewhere__installed_limits": "LIMIT = 0"},
        write(installed_limits="LIMIT = 1"),
    ),
    "an installed module": (
        {"proof": f"from installed_limits import LIMIT\n{OWN}", "elsewhere__installed_limits": "LIMIT = 0"},
        write(elsewhere__installed_limits="LIMIT = 100"),
    ),
    "an installed module that was not there": (
        {
            "proof": f"try:\n    from installed_limits import LIMIT\nexcept ImportError:\n    LIMIT = 0\n{OWN}",
            "elsewhere__other": "",
        },
        write(elsewhere__installed_limits="LIMIT = 1"),
    ),
    "a variable": (
        {"proof": f"import os\nLIMIT = int(os.environ['THE_LIMIT'])\n{OWN}"},
        lambda folder: os.environ.update(THE_LIMIT="1"),
    ),
    "a variable with a default": (
        {"proof": f"import os\nLIMIT = int(os.getenv('NO_LIMIT', '0'))\n{OWN}"},
        lambda folder: os.environ.update(NO_LIMIT="1"),
    ),
    "whether there is a variable": (
        {"proof": f"import os\nLIMIT = 1 if 'NO_LIMIT' in os.environ else 0\n{OWN}"},
        lambda folder: os.environ.update(NO_LIMIT=""),
    ),
    "where a link leads": (
        {
            "proof": f"{HERE}LIMIT = int((HERE / 'limit.txt').read_text())\n{OWN}",
            "a_DOT_txt": "0",
            "b_DOT_txt": "1",
            "limit_DOT_txt": "->a.txt",
        },
        lambda folder: relink(folder / "limit.txt", "b.txt"),
    ),
    "where the link to the model leads": (
        {
            "proof": f"{IMPORTS}LIMIT = 0\nproof = Proof('model.py:M', goal='p')\n{CLAIM}",
            "one": f"{IMPORTS}LIMIT = 0\n{SYSTEM}",
            "two": f"{IMPORTS}LIMIT = 1\n{SYSTEM}",
            "model_DOT_py": "->one.py",
        },
        lambda folder: relink(folder / "model.py", "two.py"),
    ),
    "data of a library that builds the model": (
        {
            "proof": f"{IMPORTS}from installed_limits import M\nLIMIT = 0\nproof = Proof(M, goal='p')\n{CLAIM}",
            "elsewhere__installed_limits": f"{IMPORTS}{HERE}{SYSTEM}".replace(
                "def build(delta):\n", "def build(delta):\n    LIMIT = int((HERE / 'limit.txt').read_text())\n"
            ),
            "elsewhere__limit_DOT_txt": "0",
        },
        write(elsewhere__limit_DOT_txt="1"),
    ),
    "a module that a library missed": (
        {
            "proof": f"from installed_limits import LIMIT\n{OWN}",
            "elsewhere__installed_limits": "try:\n    from more import LIMIT\nexcept ImportError:\n    LIMIT = 0\n",
        },
        write(elsewhere__more="LIMIT = 1"),
    ),
    "a module that was looked for by name": (
        {
            "proof": "import importlib\ntry:\n    LIMIT = importlib.import_module('more').LIMIT\n"
            f"except ImportError:\n    LIMIT = 0\n{OWN}",
            "elsewhere__installed_limits": "",
        },
        write(elsewhere__more="LIMIT = 1"),
    ),
    "a module that precedes another one": (
        {
            "proof": f"{HERE}import sys\nsys.path[:0] = [str(HERE / 'first'), str(HERE / 'second')]\n"
            f"from limits_on_path import LIMIT\n{OWN}",
            "first__other": "",
            "second__limits_on_path": "LIMIT = 0",
        },
        write(first__limits_on_path="LIMIT = 1"),
    ),
    "a part of a package that was not there": (
        {
            "proof": f"try:\n    from inner.extra import LIMIT\nexcept ImportError:\n    LIMIT = 0\n{OWN}",
            "inner__part": "",
        },
        write(inner__extra="LIMIT = 1"),
    ),
    "data that a thread reads": (
        {
            "proof": f"{HERE}from concurrent.futures import ThreadPoolExecutor\n"
            f"LIMIT = int(ThreadPoolExecutor(1).submit(Path.read_text, HERE / 'limit.txt').result())\n{OWN}",
            "limit_DOT_txt": "0",
        },
        write(limit_DOT_txt="1"),
    ),
    "the working directory": (
        {
            "proof": f"from pathlib import Path\nLIMIT = int(Path('../limit.txt').resolve().read_text())\n{OWN}",
            "limit_DOT_txt": "0",
            "inner__limit_DOT_txt": "1",
            "inner__here__part": "",
            "here__part": "",
        },
        lambda folder: os.chdir(folder / "inner" / "here"),
    ),
}
UNREPEATABLE = {
    "lists a folder": "import os\nLIMIT = len(os.listdir(HERE / 'empty'))\n",
    "scans a folder": "LIMIT = len(list((HERE / 'empty').iterdir()))\n",
    "globs": "LIMIT = len(list((HERE / 'empty').glob('*')))\n",
    "runs a program": "import subprocess\nLIMIT = int(subprocess.run(['echo', '0'], capture_output=True).stdout)\n",
    "asks a shell": "import os\nLIMIT = os.system('true')\n",
    "writes a file": "LIMIT = 0\nwith open(HERE / 'log.txt', 'a') as log:\n    log.write('x')\n",
    "reads all variables": "import os\nLIMIT = int(dict(os.environ).get('NO_LIMIT', '0'))\n",
    "reads what the working directory has": "LIMIT = int(open('limit.txt').read())\n",
    "reads a device": "LIMIT = len(open('/dev/null').read())\n",
    "counts the variables": "import os\nLIMIT = 0 * len(os.environ)\n",
    "shows the variables": "import os\nLIMIT = 0 * len(repr(os.environ))\n",
    "asks a database": "import sqlite3\nLIMIT = sqlite3.connect(':memory:').execute('select 0').fetchone()[0]\n",
}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_recorder, "_recorders", [])  # a test that loads a proof itself has begun to record
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("THE_LIMIT", "0")
    monkeypatch.setenv("NO_LIMIT", "")
    monkeypatch.delenv("NO_LIMIT")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [os.path.abspath(place) for place in sys.path])  # as a command has it


def check(path: Path, **settings: object) -> ProofResult:
    (result,) = check_proofs([path], ProofSettings(jobs=2, **settings))  # type: ignore[arg-type]
    return result


def is_known(result: ProofResult) -> bool:
    return result.verdict is Verdict.PROVED and result.is_from_cache and result.reads is None


def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]) -> Path:
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    put(folder, **{name: text for name, text in texts.items() if not text.startswith("->")})
    for name, text in texts.items():
        if text.startswith("->"):
            (folder / name.replace("_DOT_", ".")).symlink_to(text.removeprefix("->"))
    monkeypatch.syspath_prepend(folder / "elsewhere")
    return folder / "proof.py"


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_noticed(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, change = CASES[case]
    path = set_up(tmp_path, monkeypatch, texts)
    first = check(path)
    assert first.verdict is Verdict.PROVED, first.error or first.detail
    assert not first.is_from_cache
    assert is_known(check(path)), first.reads
    change(path.parent)
    changed = check(path)
    assert changed.verdict is not Verdict.PROVED or changed.error is not None


@pytest.mark.parametrize("case", UNREPEATABLE)
def test_what_cannot_be_told_to_be_the_same_is_checked_again(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": f"{HERE}{UNREPEATABLE[case]}{OWN}", "limit_DOT_txt": "0"})
    (path.parent / "empty").mkdir()
    monkeypatch.chdir(path.parent)
    for _ in range(2):
        result = check(path)
        assert result.verdict is Verdict.PROVED, result.error or result.detail
        assert result.reads is not None
        assert result.reads.unrepeatable is not None


@pytest.fixture
def proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = set_up(tmp_path, monkeypatch, {"proof": f"LIMIT = 0\n{OWN}"})
    assert check(path).verdict is Verdict.PROVED
    assert is_known(check(path))
    return path


@pytest.mark.parametrize(
    "settings",
    [
        {"parameters": {"delta": 1}},
        {"k": 2},
        {"seed": 1},
        {"stability": 1},
        {"cache": False},
        {"second_opinion": "cvc5"},
        {"only": ("large-init",)},
    ],
    ids=str,
)
def test_another_question_is_asked_anew(settings: dict[str, object], proved: Path) -> None:
    assert not is_known(check(proved, **settings))
    assert is_known(check(proved)), "nor does it replace what is known"


def test_texts_are_written_anew(proved: Path, tmp_path: Path) -> None:
    assert not is_known(check(proved, smtlib=tmp_path / "texts"))
    assert any((tmp_path / "texts").iterdir())


@pytest.mark.parametrize("name", ["digest_package", "version"])
def test_another_package_or_library_is_noticed(name: str, proved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_outcomes, name, lambda *arguments: "another")
    assert not is_known(check(proved))


def test_the_same_proof_elsewhere_is_another(proved: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "proof.py").write_text(proved.read_text())
    assert not is_known(check(tmp_path / "other" / "proof.py"))


def test_a_record_of_another_proof_is_none_of_this_one(proved: Path, tmp_path: Path) -> None:
    (record,) = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and "checked" in path.parts]
    (tmp_path / "bad").mkdir()
    bad = tmp_path / "bad" / "proof.py"
    bad.write_text(f"LIMIT = 1\n{OWN}")
    key = known_outcomes._compute_key(bad, ProofSettings())
    target = record.parent.parent / key[:2] / key
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(record.read_bytes())
    assert check(bad).verdict is not Verdict.PROVED


def test_a_forged_record_is_not_believed(proved: Path, tmp_path: Path) -> None:
    (record,) = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and "checked" in path.parts]
    signature, content = record.read_text().splitlines()
    record.write_text(f"{signature}\n{content.replace('true', 'false') if 'true' in content else content + ' '}\n")
    assert not is_known(check(proved))


def test_a_claim_that_is_meant_to_fail_is_still_meant_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = OWN.replace("@proof.invariant", "@expect_verdict('not-inductive')\n@proof.invariant")
    path = set_up(tmp_path, monkeypatch, {"proof": f"LIMIT = 0\n{marked}"})
    assert check(path).verdict is Verdict.PROVED
    assert any(each.expected is not None for each in collect_obligations(path, ProofSettings()))


def test_a_failure_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": f"LIMIT = 1\n{OWN}"})
    for _ in range(2):
        assert check(path).verdict is not Verdict.PROVED
    assert not [each for each in (tmp_path / "cache").rglob("*") if "checked" in each.parts and each.is_file()]


def test_what_is_known_is_reported_as_it_was(proved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another cache"))
    first, again = check(proved), check(proved)
    assert [(c.question.name, c.question.kind, c.verdict) for c in first.checked] == [
        (c.question.name, c.question.kind, c.verdict) for c in again.checked
    ]
    assert (first.subject, first.vacuity, first.author_code) == (again.subject, again.vacuity, again.author_code)
    assert (first.verdict, first.detail, first.files, first.name) == (
        again.verdict,
        again.detail,
        again.files,
        again.name,
    )


LOADED = f"""{HERE}import importlib.util
spec = importlib.util.spec_from_file_location('anything', HERE / 'below' / 'limits.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
LIMIT = module.LIMIT
{OWN}"""


def test_a_module_is_noticed_though_its_bytecode_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": LOADED, "below__limits": "LIMIT = 0"})
    py_compile.compile(str(path.parent / "below" / "limits.py"))
    assert check(path).verdict is Verdict.PROVED
    assert is_known(check(path))
    put(path.parent, below__limits="LIMIT = 100")
    assert check(path).verdict is not Verdict.PROVED


def test_a_module_without_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(
        tmp_path,
        monkeypatch,
        {"proof": f"from inner.part import LIMIT\n{OWN}", "inner____init__": "", "a": "LIMIT = 0", "b": "LIMIT = 1"},
    )
    compiled = str(path.parent / "inner" / "part.pyc")
    py_compile.compile(str(path.parent / "a.py"), compiled)
    assert check(path).verdict is Verdict.PROVED
    assert is_known(check(path))
    py_compile.compile(str(path.parent / "b.py"), compiled)
    assert check(path).verdict is not Verdict.PROVED


def test_a_module_that_the_calling_process_had_imported_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"proof": f"from limits_of_caller import LIMIT\n{OWN}", "elsewhere__limits_of_caller": "LIMIT = 0"}
    path = set_up(tmp_path, monkeypatch, texts)
    importlib.import_module("limits_of_caller")
    try:
        assert check(path).verdict is Verdict.PROVED
    finally:
        del sys.modules["limits_of_caller"]
    put(path.parent, elsewhere__limits_of_caller="LIMIT = 100")
    assert check(path).verdict is not Verdict.PROVED


def test_data_is_noticed_though_the_calling_process_had_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, change = CASES["data"]
    path = set_up(tmp_path, monkeypatch, texts)
    assert check_proof(path).verdict is Verdict.PROVED  # it loads the file in this process, too
    change(path.parent)
    loading._loaded.clear()  # as in another process
    assert check_proof(path).verdict is not Verdict.PROVED


def test_other_flags_of_python_are_noticed(proved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "flags", (*sys.flags, "another"))
        key = known_outcomes._compute_key(proved, ProofSettings())
    assert key != known_outcomes._compute_key(proved, ProofSettings())


@pytest.mark.parametrize("content", ["", "null", "[{}, 1]", '[{"missing": []}, "AAAA"]', '[{"missing": []}, ""]'])
def test_a_signed_record_of_another_layout_is_missing(content: str, proved: Path, tmp_path: Path) -> None:
    key = known_outcomes._compute_key(proved, ProofSettings())
    SignedRecords(tmp_path / "cache" / "fdverify" / "checked").write(key, content)
    assert not is_known(check(proved))
