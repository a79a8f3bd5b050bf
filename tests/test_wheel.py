"""The wheel alone, in a fresh environment and an empty folder: what a user has who installs it."""

import json
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER
from tests.cli.repair import repair
from tests.cli.script import environment
from tests.launch import HANG_SECONDS

ROOT = Path(__file__).parents[1]
SHIPPED = sorted(path.stem for path in (ROOT / "invariants").rglob("[!_]*.py"))
PARTS = ("fdverify", "invariants", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE")


@dataclass(frozen=True)
class Installed:
    wheel: Path
    scripts: Path
    package: Path
    cache: Path

    def run(self, program: str, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        env = environment(XDG_CACHE_HOME=str(self.cache), PYTEST_ADDOPTS="-p no:hypothesispytest")
        del env["PYTHONDONTWRITEBYTECODE"]
        command = [str(self.scripts / program), *arguments]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=HANG_SECONDS)


def called(*arguments: str, cwd: Path) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def copy_checkout(source: Path) -> None:
    """What a build needs of the repository."""
    source.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, source / part, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / part, source)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Built from a copy, and installed with the dependencies that are here but without what is being worked on."""
    folder = tmp_path_factory.mktemp("wheel")
    source, built, home = folder / "source", folder / "built", folder / "environment"
    copy_checkout(source)
    called("pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), ".", cwd=source)
    (wheel,) = built.glob("*.whl")
    called("venv", "--without-pip", str(home), cwd=folder)
    python = home / "bin" / "python"
    called("pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-compile", str(wheel), cwd=folder)
    names = {"base": str(home), "platbase": str(home)}
    libraries = Path(sysconfig.get_path("purelib", vars=names))
    (libraries / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    package = libraries / "fdverify"
    for path in (package, *package.rglob("*")):
        os.chmod(path, path.stat().st_mode & ~0o222)
    yield Installed(wheel, home / "bin", package, folder / "cache")
    for path in (package, *package.rglob("*")):
        os.chmod(path, path.stat().st_mode | 0o200)


def test_what_is_in_it(installed: Installed) -> None:
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"fdverify"}
    inside = {Path(name).stem for name in names if re.fullmatch(r"fdverify/invariants/(\w+/)?[^_/][^/]*\.py", name)}
    assert sorted(inside) == SHIPPED
    assert {"fdverify/templates/proof.py", "fdverify/templates/model.py"} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["proof", "model"])
def test_a_first_proof(kind: str, installed: Installed, tmp_path: Path) -> None:
    where = installed.run("python", "-c", "import fdverify; print(fdverify.__file__)", cwd=tmp_path)
    assert Path(where.stdout.strip()).parent == installed.package
    assert installed.run("fdverify", "new", kind, "demo", cwd=tmp_path).returncode == 0
    failing = installed.run("verify-invariant", "demo.py", cwd=tmp_path)
    assert failing.returncode == 1
    assert "┃ round ┃ choices" in failing.stdout
    tests = installed.run("python", "-m", "pytest", "-q", cwd=tmp_path)
    assert tests.returncode == 1
    failed = set(re.findall(r"(\w+-step) fails", failing.stdout))
    assert set(re.findall(r"^FAILED demo\.py::(\S+)", tests.stdout, flags=re.MULTILINE)) == failed != set()
    repair(tmp_path, failing.stdout)
    assert installed.run("verify-invariant", "demo.py", cwd=tmp_path).returncode == 0
    tests = installed.run("python", "-m", "pytest", "-q", cwd=tmp_path)
    assert tests.returncode == 0
    assert "failed" not in tests.stdout


@pytest.mark.slow
def test_the_shipped_proofs(installed: Installed, tmp_path: Path) -> None:
    found = installed.run("verify-invariant", "--shipped", "--json", cwd=tmp_path)
    assert found.returncode == 0
    proofs = json.loads(found.stdout)["proofs"]
    assert {proof["proof"]: proof["verdict"] for proof in proofs} == dict.fromkeys(SHIPPED, "proved")
    assert list(tmp_path.iterdir()) == []
    assert not (installed.package / "invariants" / "__pycache__").exists()


@pytest.mark.slow
def test_shipped_proofs_and_others(installed: Installed, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    assert installed.run("fdverify", "new", "proof", "strong_accuracy", cwd=mine).returncode == 0
    found = installed.run("verify-invariant", "strong_accuracy.py", "--shipped", "--only", "goal", cwd=mine)
    assert found.returncode == 0
    rows = re.findall(r"^│ (\S+) +│ partial", found.stdout, flags=re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert {"mine-strong_accuracy", "invariants-strong_accuracy", "tight_accuracy_tla"} <= set(rows)


def shipped_folder(checkout: Path) -> str:
    """Where a bare checkout, in which nothing was installed, finds the shipped proofs."""
    code = "from fdverify.proofs.shipped_proofs import SHIPPED_FOLDER; print(SHIPPED_FOLDER)"
    env = {**environment(), "PYTHONPATH": str(checkout)}
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, env=env, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_checkout_has_the_proofs_beside_the_package(tmp_path: Path) -> None:
    assert Path(SHIPPED_FOLDER) == ROOT / "invariants"
    copy_checkout(tmp_path / "bare")
    assert not any(path.is_symlink() for path in (tmp_path / "bare").rglob("*"))
    assert shipped_folder(tmp_path / "bare") == str(tmp_path / "bare" / "invariants")


@pytest.mark.slow
def test_a_source_distribution_builds_the_same_wheel(installed: Installed, tmp_path: Path) -> None:
    copy_checkout(tmp_path / "source")
    build = "from setuptools.build_meta import build_sdist; print(build_sdist('built'))"
    called_code = [sys.executable, "-c", build]
    done = subprocess.run(called_code, cwd=tmp_path / "source", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "source" / "built").glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    called("pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", "out", ".", cwd=source)
    (wheel,) = (source / "out").glob("*.whl")
    assert sorted(zipfile.ZipFile(wheel).namelist()) == sorted(zipfile.ZipFile(installed.wheel).namelist())


def test_nothing_to_check(installed: Installed, tmp_path: Path) -> None:
    told = installed.run("verify-invariant", "--delta", "1", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr == "error: there is nothing to check (hint: name proof files or folders, or give --shipped)\n"
