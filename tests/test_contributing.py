"""The worked examples of CONTRIBUTING.md, carried out on a copy of the package, do what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
VIOLATED = ("bmc", "--timeout", "1", "--delta", "1", "--phi", "1")


def blocks(title: str) -> list[str]:
    """The blocks of Python code below a heading."""
    section = PAGE.split(f"### Example: {title}\n")[1].split("\n### ")[0].split("\n## ")[0]
    return [dedent(block) for block in re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return copytree(ROOT / "fdverify", tmp_path / "fdverify", ignore=ignore_patterns("__pycache__"))


def run(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fdverify", *words]
    return subprocess.run(command, cwd=package.parent, env=os.environ, capture_output=True, text=True)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{file.name} has {text.count(old)} times {old}"
    file.write_text(text.replace(old, new))


def test_an_output_format_is_a_module_and_a_line(package: Path, tmp_path: Path) -> None:
    module, line = blocks("add an output format")
    (package / "reports" / "csv_run.py").write_text(module)
    replace(package / "reports" / "formats.py", "FORMATS = (\n", f"FORMATS = (\n    {line}")
    done = run(package, *VIOLATED, "--csv", "run.csv")
    assert (done.returncode, done.stderr) == (1, "")
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    assert head.startswith("round,")
    assert "waiting_time" in head
    assert len(rows) > 3
    assert "--csv" not in run(package, "cache", "--help").stdout, "the command shows no run"


@pytest.mark.slow
def test_an_option_of_every_command_is_in_one_file(package: Path) -> None:
    field, use = blocks("add an option to every command")
    file = package / "cli" / "deliver.py"
    replace(file, "    files: Mapping[FileFormat", f"    {field}    files: Mapping[FileFormat")
    shown = re.compile(r"    for line in outcome\.asides:\n        print_line\(line\)\n")
    assert len(shown.findall(file.read_text())) == 1
    file.write_text(shown.sub("".join(f"    {line}\n" for line in use.splitlines()), file.read_text()))
    for words in (("bmc",), ("cache",), ("threshold", "check"), ("bounds",)):
        assert "--no-asides" in run(package, *words, "--help").stdout
    (package.parent / "bad.py").write_text(
        "from fdverify import Proof\n\nProof('chandra-toueg', goal='strong-accuracy')\n"
    )
    code = "import sys; from fdverify.verify_invariant import run; sys.exit(run(['bad.py', *sys.argv[1:]]))"
    said = {}
    for flag in ("--json", "--no-asides"):
        command = [sys.executable, "-c", code, flag]
        said[flag] = subprocess.run(command, cwd=package.parent, capture_output=True, text=True).stderr
    assert "has no invariant" in said["--json"]
    assert said["--no-asides"] == ""
