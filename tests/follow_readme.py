"""Follow the README in a clean clone: run what it tells to run, in order, and compare what is shown.

    python -m tests.follow_readme          # the commands, as they are installed here
    python -m tests.follow_readme --all    # everything, from make verify on, with what that installs

What was not committed is not in the clone.
"""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser
from difflib import unified_diff
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from tests.pages import ROOT, Command, printed, run, steps

_SET_UP = re.compile(r"```sh\n(.*?)```", flags=re.DOTALL)


def follow(clone: Path, cache: Path, everything: bool) -> int:
    """How many commands did something else than the README says."""
    page = (clone / "README.md").read_text()
    wrong = 0
    if everything:
        for line in "".join(_SET_UP.findall(page)).splitlines():
            code = run(line, clone, cache).returncode
            wrong += _told(line, [] if code == 0 else [f"exit code {code}"])
    scripts = clone / ".venv" / "bin" if everything else None
    for step in steps(page):
        if isinstance(step, Command):
            found = printed(run(step.line, clone, cache, scripts))
            difference = unified_diff(step.output.splitlines(), found.splitlines(), "README.md", "found", lineterm="")
            wrong += _told(step.line, list(difference))
            for kept in cache.iterdir():
                rmtree(kept)  # the README shows what nothing cached gives
    return wrong


def _told(line: str, difference: list[str]) -> int:
    print(f"{'differs' if difference else 'as shown'}: {line}", *difference, sep="\n  ", flush=True)
    return 1 if difference else 0


def main() -> int:
    parser = ArgumentParser(description="Follow the README in a clean clone.")
    parser.add_argument("--all", action="store_true", help="set up and test as it says, too")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        clone, cache = Path(folder, "clone"), Path(folder, "cache")
        cache.mkdir()
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        return 1 if follow(clone, cache, arguments.all) else 0


if __name__ == "__main__":
    sys.exit(main())
