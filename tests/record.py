"""Run every test in full and write the counts, the commit and the date to docs/reference/test-record.md."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "reference" / "test-record.md"


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, "FDVERIFY_TESTS": "full"}).returncode
        if not report.exists():
            return code
        suite = next(ElementTree.parse(report).iter("testsuite")).attrib
    total, bad, skipped = (int(suite[key]) for key in ("tests", "failures", "skipped"))
    bad += int(suite["errors"])
    RECORD.write_text(
        "# The last full test run\n\n"
        "Written by `make test-full`: every test, the random ones with 20 times the examples of `make test`.\n\n"
        "| passed | failed | skipped | commit | date |\n| --- | --- | --- | --- | --- |\n"
        f"| {total - bad - skipped} | {bad} | {skipped} | {commit()} | {datetime.now(UTC):%Y-%m-%d} |\n"
    )
    return code


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
