"""Run every test in full and write the counts, the commit and the date to docs/reference/test-record.md."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "reference" / "test-record.md"
LEAST_COVERAGE = 95


def main(arguments: list[str]) -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", action="store_true", help="measure which lines of the package are run, too")
    chosen, for_pytest = parser.parse_known_args(arguments)
    module = ["coverage", "run", "-m"] if chosen.coverage else []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        code = run("-m", *module, "pytest", "-q", "-rs", f"--junitxml={report}", *for_pytest)
        if not report.exists():
            return code
        suite = next(ElementTree.parse(report).iter("testsuite")).attrib
    total, bad, skipped = (int(suite[key]) for key in ("tests", "failures", "skipped"))
    bad += int(suite["errors"])
    covered = "–"
    if chosen.coverage:
        run("-m", "coverage", "combine", "--quiet")
        code = code or run("-m", "coverage", "report", f"--fail-under={LEAST_COVERAGE}")
        covered = f"{read('-m', 'coverage', 'report', '--format=total')} % of lines"
    RECORD.write_text(
        "# The last full test run\n\n"
        "Written by `make test-full` or `make coverage`: every test, the random ones with 20 times the examples of "
        "`make test`.\n\n"
        "| passed | failed | skipped | coverage | commit | date |\n| --- | --- | --- | --- | --- | --- |\n"
        f"| {total - bad - skipped} | {bad} | {skipped} | {covered} | {commit()} | {datetime.now(UTC):%Y-%m-%d} |\n"
    )
    return code


def run(*arguments: str) -> int:
    """Run Python with these arguments and return its exit code."""
    environment = {**os.environ, "FDVERIFY_TESTS": "full"}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment).returncode


def read(*arguments: str) -> str:
    """Run Python with these arguments and return what it prints."""
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def commit() -> str:
    """The commit that was tested, marked if the tree differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
