"""A proof that was proved is known again while nothing has changed, and never after a change of what it depends on."""

from __future__ import annotations

import importlib
import os
import py_compile
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdverify import check_proof
from fdverify.author_code import author_check
from fdverify.cache.signed_records import SignedRecords
from fdverify.models import loading, read_recorder
from fdverify.proofs import known_outcomes
from fdverify.proofs.check_proofs import check_proofs
from fdverify.proofs.proof_files import load_proof
from fdverify.proofs.proof_result import ProofResult
from fdverify.proofs.proof_settings import ProofSettings
from fdverify.proofs.session import ProofSession
from fdverify.proofs.tasks import import_worker_modules
from fdverify.testing.collect import collect_obligations
from fdverify.verdict import Verdict
from fdverify.workers.software import digest_running_package
from tests.sampling import every

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
from fdverify import Proof, expect_verdict, load_module
from fdverify.models.model import Model
from fdverify.models.system import *
"""
OWN = f"{IMPORTS}{SYSTEM}\nproof = Proof(M, goal='p')\n{CLAIM}"
"""With a limit of 0 it is proved; with 1 it is not."""
HERE = "from pathlib import Path\nHERE = Path(__file__).parent\n"

Change = Callable[[Path], object]

# Workers would import these again and again, because the tests write no bytecode.
import_worker_modules(compares=True)
importlib.import_module("fdverify.obligations.counterexample")


def put(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("//init/", "/__init__").replace("_DOT_", ".")
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
    "a file whose existence matters": (
        {"proof": f"{HERE}LIMIT = 1 if (HERE / 'limit.txt').exists() else 0\n{OWN}"},
        write(limit_DOT_txt=""),
    ),
    "a file whose kind matters": (
        {"proof": f"{HERE}import os\nLIMIT = 1 if os.path.isfile(HERE / 'limit.txt') else 0\n{OWN}"},
        write(limit_DOT_txt=""),
    ),
    "a file whose size matters": (
        {"proof": f"{HERE}LIMIT = (HERE / 'limit.txt').stat().st_size\n{OWN}", "limit_DOT_txt": ""},
        write(limit_DOT_txt="1"),
    ),
    "a file whose rights matter": (
        {"proof": f"{HERE}import os\nLIMIT = int(os.access(HERE / 'limit.txt', os.R_OK))\n{OWN}"},
        write(limit_DOT_txt=""),
    ),
    "the name that a link has": (
        {"proof": f"{HERE}import os\nLIMIT = int(os.readlink(HERE / 'limit'))\n{OWN}", "limit": "->0"},
        lambda folder: relink(folder / "limit", "1"),
    ),
    "where the link to a folder leads": (
        {
            "proof": f"{HERE}LIMIT = int((HERE / 'link' / 'limit.txt').read_text())\n{OWN}",
            "a__limit_DOT_txt": "0",
            "b__limit_DOT_txt": "1",
            "link": "->a",
        },
        lambda folder: relink(folder / "link", "b"),
    ),
    "a module that is looked for in a folder": (
        {
            "proof": f"{HERE}from importlib.machinery import PathFinder\n"
            f"LIMIT = 0 if PathFinder.find_spec('extra', [str(HERE / 'inner')]) is None else 1\n{OWN}",
            "inner__other": "",
        },
        write(inner__extra=""),
    ),
    "a folder that becomes a package": (
        {
            "proof": f"from installed_limits import LIMIT\n{OWN}",
            "elsewhere__installed_limits": "LIMIT = 0",
            "installed_limits__other": "",
        },
        write(installed_limits____init__="LIMIT = 1"),
    ),
    "a folder on the path that becomes a package": (
        {
            "proof": f"{HERE}import sys\nsys.path[:0] = [str(HERE / 'first'), str(HERE / 'second')]\n"
            f"from limits_on_path import LIMIT\n{OWN}",
            "first__limits_on_path__other": "",
            "second__limits_on_path": "LIMIT = 0",
        },
        write(first__limits_on_path____init__="LIMIT = 1"),
    ),
    "a folder that gets its first module": (
        {
            "proof": f"try:\n    from inner.part import LIMIT\nexcept ImportError:\n    LIMIT = 0\n{OWN}",
            "inner__data_DOT_txt": "",
        },
        write(inner__part="LIMIT = 1"),
    ),
    "another part of a namespace": (
        {
            "proof": f"{HERE}import sys\nsys.path[:0] = [str(HERE / 'first'), str(HERE / 'second')]\n"
            f"from space.limits import LIMIT\n{OWN}",
            "first__space__other": "",
            "second__space__limits": "LIMIT = 0",
        },
        write(first__space__limits="LIMIT = 1"),
    ),
    "a file that is run": (
        {
            "proof": f"{HERE}import runpy\nLIMIT = runpy.run_path(str(HERE / 'inner' / 'x.py'))['LIMIT']\n{OWN}",
            "inner__x": "LIMIT = 0",
        },
        write(inner__x="LIMIT = 1"),
    ),
    "a file that is loaded late": (
        {
            "proof": f"{IMPORTS}{HERE}LIMIT = 0\ndef build(delta):\n"
            "    return load_module(HERE / 'inner' / 'x.py').build(delta)\n"
            "M = Model('m', 'm', (Parameter('delta', 0, None),), (), 'p', build)\n"
            f"proof = Proof(M, goal='p')\n{CLAIM}",
            "inner__x": f"{IMPORTS}LIMIT = 0\n{SYSTEM}",
        },
        write(inner__x=f"{IMPORTS}LIMIT = 1\n{SYSTEM}"),
    ),
    "data that numpy reads": (
        {
            "proof": f"{HERE}import numpy\nLIMIT = int(numpy.fromfile(HERE / 'limit.txt', 'u1')[0]) - 48\n{OWN}",
            "limit_DOT_txt": "0",
        },
        write(limit_DOT_txt="1"),
    ),
    "data by a descriptor": (
        {
            "proof": f"{HERE}import os\nLIMIT = int(os.read(os.open(HERE / 'limit.txt', os.O_RDONLY), 9))\n{OWN}",
            "limit_DOT_txt": "0",
        },
        write(limit_DOT_txt="1"),
    ),
    "a variable of bytes": (
        {"proof": f"import os\nLIMIT = int(os.getenvb(b'NO_LIMIT', b'0'))\n{OWN}"},
        lambda folder: os.environ.update(NO_LIMIT="1"),
    ),
    "a variable in a path": (
        {"proof": f"import os\nLIMIT = int(os.path.expandvars('$THE_LIMIT'))\n{OWN}"},
        lambda folder: os.environ.update(THE_LIMIT="1"),
    ),
    "a variable that the C library reads": (
        {"proof": f"import time\ntime.tzset()\nLIMIT = time.timezone\n{OWN}"},
        lambda folder: os.environ.update(TZ="XYZ1"),
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
    "globs without a pattern": "import glob\nLIMIT = len(glob.glob(str(HERE / 'absent')))\n",
    "reads the variables as a dictionary": "import os\nLIMIT = int((os.environ | {}).get('NO_LIMIT', '0'))\n",
    "reads a folder of a package": "import importlib.resources as r\nLIMIT = 0 * len([*r.files('numpy').iterdir()])\n",
    "opens a file by its number": "import os\nLIMIT = 0 * len(os.fdopen(os.dup(0), 'w').mode)\n",
    "maps a file": "import mmap\nLIMIT = mmap.mmap(-1, 1)[0]\n",
    "changes the rights of a file": "import os\nos.chmod(HERE / 'limit.txt', 0o600)\nLIMIT = 0\n",
    "calls the C library": "import ctypes\nLIMIT = ctypes.pythonapi.getenv(b'NO_LIMIT')\n",
    "starts a worker": "import multiprocessing\nfrom fdverify.workers.worker_process import run_in_worker\n"
    "multiprocessing.current_process()._config['daemon'] = False\n"
    "LIMIT = run_in_worker(lambda send: int((HERE / 'limit.txt').read_text()), None, print)\n",
    "asks a database": "import sqlite3\nLIMIT = sqlite3.connect(':memory:').execute('select 0').fetchone()[0]\n",
}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_recorder, "_recorders", [])  # a test that loads a proof itself has begun to record
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("THE_LIMIT", "0")
    monkeypatch.setenv("NO_LIMIT", "")
    monkeypatch.delenv("NO_LIMIT")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [os.path.abspath(place) for place in sys.path])  # as a command has it


def check(path: Path, **settings: object) -> ProofResult:
    (result,) = check_proofs([path], ProofSettings(jobs=1, **settings))  # type: ignore[arg-type]
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


@pytest.mark.parametrize("case", every(2, CASES))
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


@pytest.mark.parametrize("case", every(2, UNREPEATABLE))
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
def test_another_question_is_asked_anew(settings: dict[str, Any], proved: Path) -> None:
    assert not is_known(check(proved, **settings))
    assert is_known(check(proved)), "nor does it replace what is known"


def test_texts_are_written_anew(proved: Path, tmp_path: Path) -> None:
    assert not is_known(check(proved, smtlib=tmp_path / "texts"))
    assert any((tmp_path / "texts").iterdir())


@pytest.mark.parametrize("name", ["digest_running_package", "version"])
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
    key = known_outcomes._compute_keys([bad], ProofSettings())[bad]
    assert key is not None
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
        key = known_outcomes._compute_keys([proved], ProofSettings())[proved]
    assert key != known_outcomes._compute_keys([proved], ProofSettings())[proved]


@pytest.mark.parametrize("content", ["", "null", "[{}, 1]", '[{"missing": []}, "AAAA"]', '[{"missing": []}, ""]'])
def test_a_signed_record_of_another_layout_is_missing(content: str, proved: Path, tmp_path: Path) -> None:
    key = known_outcomes._compute_keys([proved], ProofSettings())[proved]
    assert key is not None
    SignedRecords(tmp_path / "cache" / "fdverify" / "checked").write(key, content)
    assert not is_known(check(proved))


def test_another_package_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": f"LIMIT = 0\n{OWN}"})
    digest_running_package()
    monkeypatch.setattr(known_outcomes, "digest_package", lambda: "changed since the process began")
    assert check(path).verdict is Verdict.PROVED
    assert not is_known(check(path))


@pytest.mark.parametrize(
    ("name", "value"), [("PYTHONHASHSEED", "1"), ("LC_ALL", "C"), ("LANG", "de_DE"), ("PYTHONWARNINGS", "error")]
)
def test_other_variables_of_python_are_noticed(
    name: str, value: str, proved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert not is_known(check(proved))


def test_warnings_that_are_errors_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": f"import warnings\nwarnings.warn('old')\nLIMIT = 0\n{OWN}"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(path).verdict is Verdict.PROVED
        assert is_known(check(path))
        warnings.simplefilter("error")
        assert check(path).error is not None


def test_what_pytest_has_proved_is_not_known_to_a_command(proved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = known_outcomes._compute_keys([proved], ProofSettings())[proved]
    monkeypatch.delitem(sys.modules, "pytest")
    assert key != known_outcomes._compute_keys([proved], ProofSettings())[proved]


def test_a_proof_by_two_links_is_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": f"{HERE}LIMIT = int((HERE / 'limit.txt').read_text())\n{OWN}"})
    for name in ("0", "1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "limit.txt").write_text(name)
        (tmp_path / name / "proof.py").symlink_to(path)
    assert check(tmp_path / "0" / "proof.py").verdict is Verdict.PROVED
    assert check(tmp_path / "1" / "proof.py").verdict is not Verdict.PROVED


def test_bytecode_that_is_not_of_its_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(tmp_path, monkeypatch, {"proof": LOADED, "below__limits": "LIMIT = 0"})
    module = path.parent / "below" / "limits.py"
    py_compile.compile(str(module))
    status = module.stat()
    module.write_text("LIMIT = 1")
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert check(path).verdict is Verdict.PROVED  # Python runs the old bytecode
    shutil.rmtree(module.parent / "__pycache__")
    assert check(path).verdict is not Verdict.PROVED


def test_an_archive_that_gets_a_module_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"proof": f"from limits_in_archive import LIMIT\n{OWN}", "elsewhere__limits_in_archive": "LIMIT = 0"}
    path = set_up(tmp_path, monkeypatch, texts)
    archive = tmp_path / "modules.zip"
    for modules in ({"other.py": ""}, {"limits_in_archive.py": "LIMIT = 1"}):
        with zipfile.ZipFile(archive, "w") as file:
            for name, text in modules.items():
                file.writestr(name, text)
        if "other.py" in modules:
            monkeypatch.syspath_prepend(archive)
            assert check(path).verdict is Verdict.PROVED
            assert is_known(check(path))
    sys.path_importer_cache.pop(str(archive), None)
    importlib.invalidate_caches()
    assert check(path).verdict is not Verdict.PROVED


@pytest.mark.parametrize("name", ["lesser.pth", "lesser-1.0.dist-info/METADATA"])
def test_an_installation_is_noticed(name: str, proved: Path) -> None:
    file = proved.parent / "elsewhere" / name
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert not is_known(check(proved))


def test_data_that_changes_before_it_is_read_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"proof": f"{HERE}LIMIT = int((HERE / 'limit.txt').read_text())\n{OWN}", "limit_DOT_txt": "1"}
    path = set_up(tmp_path, monkeypatch, texts)
    record_file = read_recorder._record_file

    def record_another_content(readers: list[read_recorder._FileReads], name: str) -> None:
        is_data = name.endswith("limit.txt")
        if is_data:
            put(path.parent, limit_DOT_txt="1")
        record_file(readers, name)
        if is_data:
            put(path.parent, limit_DOT_txt="0")

    with monkeypatch.context() as patch:
        patch.setattr(read_recorder, "_record_file", record_another_content)
        assert check(path).verdict is Verdict.PROVED
    put(path.parent, limit_DOT_txt="1")
    assert check(path).verdict is not Verdict.PROVED


def test_data_that_is_read_twice_and_differs_is_not_repeatable(tmp_path: Path) -> None:
    reads = read_recorder._FileReads()
    for text in ("0", "1"):
        put(tmp_path, limit_DOT_txt=text)
        read_recorder._record_file([reads], str(tmp_path / "limit.txt"))
    assert reads.unrepeatable is not None


def test_a_process_that_has_changed_a_module_knows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"proof": f"from limits_of_script import LIMIT\n{OWN}", "elsewhere__limits_of_script": "LIMIT = 0"}
    path = set_up(tmp_path, monkeypatch, texts)
    assert check(path).verdict is Verdict.PROVED
    module = importlib.import_module("limits_of_script")
    monkeypatch.setattr(module, "LIMIT", 1)
    try:
        assert check_proof(path).verdict is not Verdict.PROVED
    finally:
        del sys.modules["limits_of_script"]


def test_functions_are_compared_again_if_their_data_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = CLAIM.replace("s.x >= LIMIT", "HOLDS(s.x)")
    text = f"import os\nLIMIT = 0\nHOLDS = eval(os.environ['HOLDS'])\n{OWN.replace(CLAIM, claim)}"
    path = set_up(tmp_path, monkeypatch, {"proof": text})
    monkeypatch.setenv("HOLDS", "lambda x: x >= 0")
    assert check(path).verdict is Verdict.PROVED
    monkeypatch.setenv("HOLDS", "lambda x: x >= 0 if not isinstance(x, int) else x >= 1")
    assert check(path).error is not None, "it means something else to the solver than to Python"


def test_functions_that_passed_are_not_compared_again(
    proved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / "cache" / "fdverify" / "checked")
    monkeypatch.setattr(author_check, "check_author_code", None)
    assert check(proved).verdict is Verdict.PROVED


def test_a_command_remembers_functions_that_passed(proved: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from fdverify.cli import verify_invariant; verify_invariant()", str(proved)]
    subprocess.run(command, check=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "another cache")})
    assert [path for path in (tmp_path / "another cache" / "fdverify" / "passed").rglob("*") if path.is_file()]


def test_a_check_in_a_folder_that_is_gone_knows_nothing(proved: Path, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert known_outcomes.KnownOutcomes(tmp_path / "cache").find([proved], ProofSettings()) == {}


LAZY = """
import importlib.util, sys
spec = importlib.util.find_spec("lazy_limits")
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules["lazy_limits"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["lazy_limits"])
"""
"""Registers a module that is run when it is first asked for something."""
LAZY_LIMITS = {"elsewhere__lazy_limits": f"{HERE}LIMIT = int((HERE / 'limit.txt').read_text())"}


def test_what_a_lazy_module_of_the_calling_process_reads_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"import lazy_limits\nLIMIT = lazy_limits.LIMIT\n{OWN}"
    path = set_up(tmp_path, monkeypatch, {"proof": text, "elsewhere__limit_DOT_txt": "0", **LAZY_LIMITS})
    exec(LAZY)
    try:
        assert check(path).verdict is Verdict.PROVED
        put(path.parent, elsewhere__limit_DOT_txt="1")
        assert check(path).verdict is not Verdict.PROVED
    finally:
        del sys.modules["lazy_limits"]


def test_a_lazy_module_that_cannot_be_run_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = set_up(
        tmp_path, monkeypatch, {"proof": f"LIMIT = 0\n{OWN}", "elsewhere__lazy_limits": "raise ImportError('absent')"}
    )
    exec(LAZY)
    import_worker_modules(compares=True)  # it looks at modules, too
    del sys.modules["lazy_limits"]
    assert check(path).verdict is Verdict.PROVED


def test_what_a_lazy_module_reads_while_functions_are_compared_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is used in plain states only, so that nothing runs it before."""
    holds = "HOLDS = eval(\"lambda x: x >= 0 if not isinstance(x, int) else x != sys.modules['lazy_limits'].LIMIT\")"
    own = OWN.replace(CLAIM, CLAIM.replace("s.x >= LIMIT", "HOLDS(s.x)"))
    texts = {"proof": f"{LAZY}{holds}\nLIMIT = 0\n{own}", "elsewhere__limit_DOT_txt": "-1", **LAZY_LIMITS}
    path = set_up(tmp_path, monkeypatch, texts)
    settings = ProofSettings(jobs=2)
    assert check_proofs([path], settings)[0].verdict is Verdict.PROVED
    put(path.parent, elsewhere__limit_DOT_txt="12")
    assert check_proofs([path], settings)[0].error is not None, "it means something else to the solver than to Python"


def test_a_module_that_a_link_leads_to_is_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = OWN.replace(CLAIM, CLAIM.replace("s.x >= LIMIT", "HOLDS(s.x)"))
    texts = {
        "proof": f"from linked_holds import HOLDS\nLIMIT = 0\n{own}",
        "first__linked_holds": "HOLDS = eval('lambda x: x >= 0')",
        "second__linked_holds": "HOLDS = eval('lambda x: x >= 0 if not isinstance(x, int) else x != 12')",
        "elsewhere": "->first",
    }
    path = set_up(tmp_path, monkeypatch, texts)
    linked = importlib.import_module("linked_holds")
    try:
        assert check(path).verdict is Verdict.PROVED
        relink(path.parent / "elsewhere", "second")
        importlib.invalidate_caches()
        importlib.reload(linked)
        assert check(path).error is not None, "it means something else to the solver than to Python"
    finally:
        del sys.modules["linked_holds"]


def test_what_rests_on_a_file_of_unknown_content_has_no_key(proved: Path) -> None:
    invariant = load_proof(proved).build_invariant({}, {}, 1)
    known, unknown = ({"limits.py": content} for content in ("0", read_recorder.UNKNOWN_CONTENT))
    assert author_check.compute_check_key(invariant.system, [], read_recorder.Reads(known)) is not None
    assert author_check.compute_check_key(invariant.system, [], read_recorder.Reads(unknown)) is None


def test_a_proof_that_is_given_twice_has_two_names(proved: Path) -> None:
    results = check_proofs([proved, proved], ProofSettings(jobs=1))
    assert [result.name for result in results] == ["proof-1", "proof-2"]


def test_a_known_outcome_is_not_looked_at_again(proved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_outcomes, "digest_package", None)
    session = ProofSession(proved, ProofSettings(jobs=1))
    session.close()
    assert is_known(session.result)
