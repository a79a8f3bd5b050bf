"""The commands on a written model, run in this process, and what their answers must have to do with the oracle's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

from fdverify.detectors.model_catalogue import find_model
from fdverify.proofs.proof_files import load_proof
from tests.no_wrong_answers.models.oracle import Instance, Search
from tests.no_wrong_answers.models.written import MODEL_NAME, PROOF_NAME, Parts

DEPTH = 6
DELTA = 1
"""Where Δ is fixed."""
LARGEST = 6
"""Up to which Δ is tried where it is arbitrary."""
_PLACE = re.compile(r"\w+\.py:\d+")


@dataclass(frozen=True)
class Answer:
    code: int
    verdict: str | None
    stderr: str

    @property
    def refused(self) -> bool:
        """Whether it was refused as bad input, in one line with a place in one of the author's files."""
        names = [name for name in (MODEL_NAME, PROOF_NAME) if re.search(rf"{re.escape(name)}:\d+", self.stderr)]
        return self.code == 2 and bool(names)


def run_command(module: str, arguments: Sequence[str]) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a console script."""
    run: Callable[[Sequence[str]], int] = import_module(module).run
    stdout, stderr = StringIO(), StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = run(arguments)
    return code, stdout.getvalue(), stderr.getvalue()


class Written:
    """A model and a proof in files, with the commands to check them and the oracle to compare with."""

    def __init__(self, parts: Parts, folder: Path, symbolic: bool) -> None:
        self.symbolic = symbolic
        self.model, self.proof = folder / MODEL_NAME, folder / PROOF_NAME
        self.model.write_text(parts.model())
        self.proof.write_text(parts.proof())

    def answers(self) -> dict[str, Answer]:
        fixed = ["--delta", str(DELTA)]
        chosen = [] if self.symbolic else fixed
        reference = f"{self.model}:MODEL"
        return {
            "explore": self._answer("explore", reference, *fixed),
            "bmc": self._answer("bmc", reference, *chosen, "--depth", str(DEPTH)),
            "induct": self._answer("induct", reference, *chosen, "--max-k", "3"),
            "verify-invariant": self._verified(str(self.proof), *chosen, "--no-cache", "--jobs", "1"),
        }

    def _answer(self, *arguments: str) -> Answer:
        code, stdout, stderr = run_command("fdverify.app", [*arguments, "--json"])
        return Answer(code, json.loads(stdout)["verdict"] if stdout else None, stderr)

    def _verified(self, *arguments: str) -> Answer:
        code, stdout, stderr = run_command("fdverify.verify_invariant", [*arguments, "--json"])
        return Answer(code, json.loads(stdout)["proofs"][0]["verdict"] if stdout else None, stderr)

    def wrong(self, command: str, answer: Answer) -> str | None:
        """Why an answer is not the oracle's, if it is not."""
        deltas = [DELTA] if command == "explore" or not self.symbolic else range(LARGEST + 1)
        searches = [self._searched(delta) for delta in deltas if self._instance(delta).is_admissible()]
        depths = [search.violation for search in searches if search.violation is not None]
        told = f"{command} says {answer.verdict} ({answer.code}), and the claim is first false after {depths} rounds"
        match command, answer.verdict:
            case _, "violated":
                return None if depths else told
            case "explore" | "induct", "proved":
                return told if depths else None
            case "bmc", "bounded":
                return told if any(depth <= DEPTH for depth in depths) else None
            case "verify-invariant", "proved":
                return told if depths else self._false_conjunct(searches)
            case ("verify-invariant", "not-inductive") | ("induct", "not-inductive" | "unknown"):
                return None
        return f"{told}: {answer.stderr}"

    def _instance(self, delta: int) -> Instance:
        return Instance(find_model(f"{self.model}:MODEL").build(delta=delta), {})

    def _searched(self, delta: int) -> Search:
        instance = self._instance(delta)
        return Search(instance, instance.system.properties[0]).run(depth=40)

    def _false_conjunct(self, searches: list[Search]) -> str | None:
        authored: tuple[Any, ...] = load_proof(self.proof).build_invariant({}, {}).authored
        for search in searches:
            for state in search.reached():
                false = [each.name for each in authored if not search.instance.holds(each, state)]
                if false or not search.instance.in_ranges(state):
                    return f"verify-invariant says proved, but {false or 'a range'} is false in {state}"
        return None
