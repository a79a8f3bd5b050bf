"""``verify-invariant`` as a user runs it: every verdict, every kind of bad file, limits, reports."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fdverify.schemas import find_schema
from fdverify.smt.script import Decision
from tests.cli import written_proofs as files
from tests.cli.processes import heed_interrupts, wait_until
from tests.cli.script import Outcome, environment, run
from tests.cluster import Cluster, drop_times
from tests.launch import HANG_SECONDS, script
from tests.sampling import choose, every

ROOT = Path(__file__).parents[2]
INVARIANTS = ROOT / "invariants"
PROOFS = sorted(path.stem for path in INVARIANTS.glob("[!_]*.py"))
OF_ONE_VARIANT = {name: name.rpartition("_")[2] for name in PROOFS if name.startswith("tight_")}
LIVENESS = {"asynchronous_completeness", "eventual_trust", "lasting_suspicion"}
_PROGRESS = re.compile(r"verify-invariant: .*, \d+ s")


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_CACHE_HOME=str(tmp_path / "cache"))


def verify(*arguments: str, env: dict[str, str], cwd: Path | None = None) -> Outcome:
    done = run(*arguments, name="verify-invariant", cwd=cwd, env=env)
    errors = "\n".join(line for line in done.stderr.splitlines() if not _PROGRESS.fullmatch(line))
    return Outcome(done.code, done.stdout, errors)


def found(*arguments: str, env: dict[str, str]) -> tuple[int, Any]:
    """The exit code and the JSON document, which must fit its schema."""
    outcome = verify(*arguments, "--json", env=env)
    document = json.loads(outcome.stdout)
    jsonschema.validate(document, json.loads(find_schema("proofs")))
    assert document["exit_code"] == outcome.code
    return outcome.code, document


def written(folder: Path, **contents: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in contents.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def verdicts(document: Any) -> dict[str, str]:
    return {proof["proof"]: proof["verdict"] for proof in document["proofs"]}


def test_the_shipped_proofs(cache: dict[str, str]) -> None:
    proofs = every(5, PROOFS)
    code, document = found(*(str(INVARIANTS / f"{name}.py") for name in proofs), env=cache)
    assert code == 0
    assert verdicts(document) == dict.fromkeys(proofs, "proved")
    assert (len(PROOFS), len(OF_ONE_VARIANT)) == (16, 8)
    for proof in document["proofs"]:
        assert proof["variant"] == OF_ONE_VARIANT.get(proof["proof"], "ivy")
        assert proof["notes"] == []
        assert {o["verdict"] for o in proof["obligations"]} == {"proved"}
        about = {o["about"] for o in proof["obligations"] if o["kind"] == "consecution"}
        assert about == {o["about"] for o in proof["obligations"] if o["kind"] == "initiation"}
        argued = proof["proof"] in LIVENESS
        assert [o["name"] for o in proof["obligations"] if o["kind"] == "goal"] == ([] if argued else ["goal"])
        premises = [o["name"] for o in proof["obligations"] if o["kind"] == "premise"]
        assert (len(premises) > 5, proof["reduction"] is not None, proof["bounds"] != []) == (argued, argued, argued)
        assert {o["name"] for o in proof["obligations"] if o["kind"] == "vacuity"} == {
            "assumptions",
            "phases",
            "goal-premise",
            "no-dead-end",
        }


@pytest.mark.slow
def test_the_summary_table_of_the_other_variant(cache: dict[str, str]) -> None:
    proofs = [name for name in PROOFS if name not in OF_ONE_VARIANT]
    outcome = verify(*(str(INVARIANTS / f"{name}.py") for name in proofs), "--variant", "tla", env=cache)
    assert outcome.code == 0
    for name in ("proof", "verdict", "conjuncts", "obligations", "seconds", *proofs):
        assert name in outcome.stdout
    assert outcome.stdout.count("│ proved ") == len(proofs)
    assert re.search(rf"^{len(proofs)} proofs, \d+\.\d s$", outcome.stdout, flags=re.MULTILINE)


def test_the_second_solver_agrees(cache: dict[str, str]) -> None:
    """On all of them in a full run, on one of them in a sample."""
    path = choose(full=INVARIANTS, sample=INVARIANTS / "strong_accuracy.py")
    code, document = found(str(path), "--second-opinion", "cvc5", env=cache)
    assert code == 0
    opinions = {o["second_opinion"] for p in document["proofs"] for o in p["obligations"] if o["kind"] != "vacuity"}
    assert opinions == {"unsat"}


@pytest.mark.slow
def test_stability(cache: dict[str, str]) -> None:
    """Of all of them in a full run, of one of them in a sample."""
    path = choose(full=INVARIANTS, sample=INVARIANTS / "strong_accuracy.py")
    code, document = found(str(path), "--stability", "3", env=cache)
    assert code == 0
    for obligation in (o for proof in document["proofs"] for o in proof["obligations"]):
        if obligation["kind"] != "vacuity":
            assert obligation["stability"]["passed"] == obligation["stability"]["seeds"] == 3
            assert obligation["stability"]["effort_least"] <= obligation["stability"]["effort_most"]
    text = verify(str(INVARIANTS / "strong_accuracy.py"), "--stability", "2", env=cache).stdout
    assert "100 %" in text


@pytest.mark.parametrize("delta", choose(full=range(33), sample=range(1, 2)))
def test_a_fixed_delta_with_every_phi(delta: int, cache: dict[str, str]) -> None:
    path = str(INVARIANTS / "strong_accuracy.py")
    code, document = found(path, "--delta", str(delta), "--buffer", "bitvector", env=cache)
    assert code == 0
    assert document["proofs"][0]["parameters"]["phi"] == "symbolic"
    assert document["proofs"][0]["verdict"] == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("buffer", every(3, ["predicate", "counter", "bitvector"]))
def test_the_same_file_in_every_encoding(buffer: str, cache: dict[str, str]) -> None:
    path = str(INVARIANTS / "strong_completeness_any_timeout.py")
    code, document = found(path, "--delta", "2", "--phi", "2", "--buffer", buffer, env=cache)
    assert (code, verdicts(document)) == (0, {"strong_completeness_any_timeout": "proved"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proof", "phi"), every(2, [("strong_accuracy", "40"), ("strong_completeness_fixed_timeout", "10")])
)
def test_the_rows_of_table_3(proof: str, phi: str, cache: dict[str, str]) -> None:
    code, document = found(str(INVARIANTS / f"{proof}.py"), "--delta", "4", "--phi", phi, env=cache)
    assert (code, verdicts(document)) == (0, {proof: "proved"})


@pytest.mark.slow
def test_a_claim_that_needs_more_rounds(cache: dict[str, str]) -> None:
    path = str(ROOT / "examples" / "spaced_messages.py")
    assert found(path, "--k", "1", env=cache)[0] == 1
    code, document = found(path, "--k", "3", env=cache)
    assert (code, verdicts(document)) == (0, {"spaced_messages": "proved"})
    names = {o["name"] for o in document["proofs"][0]["obligations"]}
    assert {"sent_apart-init", "sent_apart-init-1", "sent_apart-init-2", "sent_apart-step"} <= names


@pytest.mark.parametrize("k", choose(full=["1", "2", "3", "4"], sample=["2"]))
def test_a_false_claim_is_rejected_at_every_k(k: str, tmp_path: Path, cache: dict[str, str]) -> None:
    """Messages three rounds apart are sent indeed."""
    text = (ROOT / "examples" / "spaced_messages.py").read_text()
    false = text.replace("none_apart(s, 1), none_apart(s, 2)", "none_apart(s, 3)")
    folder = written(tmp_path / "proofs", false=false)
    code, document = found(str(folder / "false.py"), "--k", k, env=cache)
    assert code == 1
    assert document["proofs"][0]["verdict"] == "violated"


def test_a_step_that_leaves_the_invariant(tmp_path: Path, cache: dict[str, str]) -> None:
    path = written(tmp_path / "proofs", waits=files.NOT_INDUCTIVE) / "waits.py"
    code, document = found(str(path), env=cache)
    assert code == 1
    proof = document["proofs"][0]
    assert proof["verdict"] == "not-inductive"
    (failed,) = [o for o in proof["obligations"] if o["verdict"] != "proved"]
    assert failed["name"] == "waits-step"
    line = path.read_text().splitlines().index("def waits(s):")
    assert failed["source"] == f"{path}:{line}"
    first, second = failed["failure"]["step"]["steps"]
    assert failed["failure"]["step"]["parameters"] == {"delta": 0, "phi": 1, "initial_timeout": 6}
    assert first["state"]["waiting_time"] <= 3 < second["state"]["waiting_time"]
    assert "waits is false in a reachable state" in failed["failure"]["reached"]
    run = failed["failure"]["run"]
    assert run["steps"][-1]["state"]["waiting_time"] > 3 * run["parameters"]["phi"]
    text = verify(str(path), env=cache).stdout
    assert f"{path}:{line}: waits-step fails" in text
    assert "waits is false in a reachable state" in text


def test_a_run_that_breaks_the_goal(tmp_path: Path, cache: dict[str, str]) -> None:
    code, document = found(str(written(tmp_path / "proofs", short=files.VIOLATED)), env=cache)
    assert (code, verdicts(document)) == (1, {"short": "violated"})
    (failed,) = [o for o in document["proofs"][0]["obligations"] if o["verdict"] == "violated"]
    assert failed["failure"]["run"]["steps"][-1]["state"]["suspected"] is True


@pytest.mark.parametrize(("name", "said"), [("VACUOUS_PREMISE", "premise"), ("UNSATISFIABLE", "impossible")])
def test_a_proof_of_nothing_is_vacuous(name: str, said: str, tmp_path: Path, cache: dict[str, str]) -> None:
    code, document = found(str(written(tmp_path / "proofs", empty=getattr(files, name))), env=cache)
    assert (code, verdicts(document)) == (4, {"empty": "vacuous"})
    assert said in document["proofs"][0]["detail"]


def test_a_helper_whose_premise_is_never_met_is_a_note(tmp_path: Path, cache: dict[str, str]) -> None:
    helper = '''

@proof.invariant
def never(s):
    """Nothing is waited for a negative time."""
    return Implies(s.waiting_time < 0, s.suspected)
'''
    folder = written(tmp_path / "proofs", noted=files.GOOD + helper)
    code, document = found(str(folder), env=cache)
    assert code == 0
    assert [note for note in document["proofs"][0]["notes"] if "never" in note]


STOPPING = """
from fdverify.proofs import Proof

proof = Proof("{model}:STOPPING", timeout="any")


@proof.goal
def waits(s):
    "Waiting takes time."
    return s.waiting_time >= 0


@proof.invariant
def grows(s):
    "The timeout is positive."
    return s.timeout >= 1
"""


def test_a_dead_end_is_a_run(tmp_path: Path, cache: dict[str, str]) -> None:
    model = ROOT / "examples" / "broken_detectors.py"
    folder = written(tmp_path / "proofs", stopping=STOPPING.format(model=model))
    code, document = found(str(folder), env=cache)
    (proof,) = document["proofs"]
    assert (code, proof["verdict"]) == (4, "vacuous")
    assert proof["dead_end"]["steps"][-1]["state"]["suspected"]
    assert verify(str(folder), env=cache).stdout.count("yes*") == 1


def test_what_fails_is_said_with_the_step(cache: dict[str, str]) -> None:
    _, document = found(str(ROOT / "examples" / "first_attempt.py"), env=cache)
    (proof,) = document["proofs"]
    assert (proof["property"], proof["dead_end"], proof["premises"]) == ("only_old", None, [])
    (broken,) = (each for each in proof["obligations"] if each["failure"])
    says = "only_old_messages holds with all other conjuncts, and is false after this round"
    assert (broken["failure"]["says"], broken["meaning"]) == (says, "The same.")
    (message,) = broken["failure"]["step"]["messages"]
    assert (message["sent"], message["ages"], message["ended"]) == (None, [0, 1], None)


@pytest.mark.slow
def test_a_witness_is_a_run_to_the_goals_premise(cache: dict[str, str]) -> None:
    path = str(INVARIANTS / "strong_completeness_fixed_timeout.py")
    _, document = found(path, "--witness", env=cache)
    (witness,) = document["proofs"][0]["witnesses"]
    parameters, last = witness["run"]["parameters"], witness["run"]["steps"][-1]["state"]
    guard = 6 * parameters["phi"] + parameters["delta"] + parameters["phi"] * last["timeout"]
    assert last["hlfsc"] >= guard
    shown = verify(path, "--witness", env=cache).stdout
    assert "a run at the end of which the premise of strong-completeness holds" in shown


BAD = {
    "syntax": (files.SYNTAX_ERROR, r"syntax\.py:5: .*"),
    "goalless": (files.NO_GOAL, r"goalless\.py:6: the proof has no goal"),
    "clash": (files.NAME_CLASH, r"clash\.py:\d+: the name bounded is already used at .*clash\.py:\d+"),
    "conjunction": (
        files.SYMBOLIC_AND,
        r"conjunction\.py:\d+: a symbolic value has no truth value in `return .* and .*`",
    ),
    "number": (files.RETURNS_INT, r"number\.py:15: invariant bounded returns int 3, not a truth value"),
    "imports": (files.FAILED_IMPORT, r"imports\.py:1: ModuleNotFoundError: .*no_such_module_anywhere"),
}


def test_bad_files_say_why_and_the_others_are_checked(tmp_path: Path, cache: dict[str, str]) -> None:
    contents = {name: text for name, (text, _) in BAD.items()}
    folder = written(tmp_path / "proofs", good=files.GOOD, **contents)
    outcome = verify(str(folder), "--json", env=cache)
    assert outcome.code == 2
    document = json.loads(outcome.stdout)
    proofs = {proof["proof"]: proof for proof in document["proofs"]}
    assert proofs["good"]["verdict"] == "proved"
    lines = outcome.stderr.splitlines()
    assert len(lines) == len(BAD)
    for name, (_, said) in BAD.items():
        assert proofs[name]["verdict"] is None
        assert re.search(said, proofs[name]["error"]), proofs[name]["error"]
        assert [line for line in lines if line == f"error: {proofs[name]['error']}"]


@pytest.mark.slow
def test_a_file_that_loads_for_ever_is_not_known(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", endless=files.ENDLESS)
    outcome = verify(str(folder), "--time-limit", "2", env=cache)
    assert outcome.code == 3
    assert "it was not loaded: the time limit was reached" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    every(
        4,
        [
            (["no_such_file.py"], "no such file: no_such_file.py"),
            (["good.py", "--only", "nothing"], "--only nothing: no proof has"),
            (["good.py", "--delta", "few"], "--delta must be a number or symbolic"),
            (["good.py", "--delta", "-1"], "--delta must be at least 0"),
            (["good.py", "--phi", "0"], "--phi must be at least 1"),
            (["good.py", "--variant", "spin"], "--variant must be one of tla, ivy"),
            (["good.py", "--buffer", "bitvector"], "--buffer bitvector needs a fixed delta"),
            (["good.py", "--time-limit", "-1"], "--time-limit must be a positive number"),
            (["good.py", "--second-opinion", "abacus"], "pysmt finds no solver abacus"),
            (["good.py", "--k", "0"], "--k"),
            (["good.py", "--jobs", "0"], "--jobs"),
            (["good.py", "--smtlib", "good.py"], "cannot write into good.py"),
            (["good.py", "--no-such-option"], "No such option"),
        ],
    ),
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_line(arguments: list[str], said: str, tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", good=files.GOOD)
    before = sorted(folder.iterdir())
    outcome = verify(*arguments, env=cache, cwd=folder)
    assert outcome.code == 2
    assert len(outcome.stderr.splitlines()) == 1
    assert said in outcome.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_a_hard_conjunct_is_unknown_and_its_text_is_kept(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", hours=files.HOURS)
    code, document = found(str(folder), "--only", "no_factors-step", "--time-limit", "3", env=cache)
    assert code == 3
    proof = document["proofs"][0]
    assert proof["verdict"] == "unknown"
    unknown = [o for o in proof["obligations"] if o["verdict"] == "unknown" and o["kind"] != "vacuity"]
    assert unknown
    for obligation in unknown:
        text = Path(obligation["smtlib"]).read_text()
        assert text.endswith("(check-sat)\n")
        assert accepted_by_cvc5(text)


def accepted_by_cvc5(text: str) -> bool:
    """Whether another solver reads the file; its answer would take as long."""
    import cvc5

    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "kept.smt2")
    commands = 0
    while not (command := parser.nextCommand()).isNull():
        if command.getCommandName() != "check-sat":
            command.invoke(solver, parser.getSymbolManager())
        commands += 1
    return commands > 3


def test_every_obligation_as_a_file(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", good=files.GOOD)
    directory = tmp_path / "texts"
    _, document = found(str(folder), "--smtlib", str(directory), env=cache)
    asked = [o for o in document["proofs"][0]["obligations"] if o["kind"] != "vacuity"]
    assert sorted(path.name for path in directory.iterdir()) == sorted(f"good.{o['name']}.smt2" for o in asked)
    assert all(accepted_by_cvc5(path.read_text()) for path in directory.iterdir())


def test_only_one_conjunct_claims_nothing_of_the_proof(tmp_path: Path, cache: dict[str, str]) -> None:
    code, document = found(str(INVARIANTS / "strong_accuracy.py"), "--only", "silent_sender", env=cache)
    assert code == 0
    assert set(verdicts(document).values()) == {"partial"}
    for proof in document["proofs"]:
        assert [o["name"] for o in proof["obligations"]] == ["silent_sender-init", "silent_sender-step"]
    waits = written(tmp_path / "proofs", waits=files.NOT_INDUCTIVE)
    assert found(str(waits), "--only", "waits-step", env=cache)[0] == 1
    assert found(str(waits), "--only", "trusted-init", env=cache)[0] == 0


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_workers(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", waits=files.NOT_INDUCTIVE, short=files.VIOLATED, good=files.GOOD)

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: timeless(part) for key, part in value.items() if key != "seconds"}
        return [timeless(part) for part in value] if isinstance(value, list) else value

    documents = [timeless(found(str(folder), "--no-cache", "--jobs", jobs, env=cache)[1]) for jobs in ("1", "3")]
    assert documents[0] == documents[1]


def test_what_was_proved_is_reused_until_it_changes(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", good=files.GOOD)

    def cached() -> dict[str, bool]:
        _, document = found(str(folder), env=cache)
        return {o["name"]: o["cached"] for o in document["proofs"][0]["obligations"] if o["kind"] != "vacuity"}

    assert not any(cached().values())
    assert all(cached().values())
    _, document = found(str(folder), "--no-cache", env=cache)
    assert not any(o["cached"] for o in document["proofs"][0]["obligations"])
    _, document = found(str(folder), "--second-opinion", "cvc5", env=cache)
    assert not any(o["cached"] for o in document["proofs"][0]["obligations"])
    more = files.GOOD.split("@proof.invariant")[1].replace("bounded", "more").replace("s.phi", "s.phi + 1")
    written(folder, good=f"{files.GOOD}\n\n@proof.invariant{more}")
    after = cached()
    assert {name for name, reused in after.items() if not reused} == {"more-init", "more-step"}


@pytest.mark.slow
def test_unknown_is_never_remembered(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", hours=files.HOURS)
    for _ in range(2):
        code, document = found(str(folder), "--only", "no_factors-step", "--time-limit", "2", env=cache)
        assert code == 3
        assert not any(o["cached"] for o in document["proofs"][0]["obligations"] if o["verdict"] == "unknown")


def test_ctrl_c_ends_it_with_all_its_workers(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", endless=files.ENDLESS)
    program = script("verify-invariant")
    with subprocess.Popen(
        [program, str(folder)],
        env=cache,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not children.read_text().split():
            assert process.poll() is None
        workers = [int(child) for child in children.read_text().split()]
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130
    assert (out, errors) == (b"", b"")
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_two_solvers_that_disagree_are_an_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, with a second solver that always says sat."""
    from fdverify.proofs import tasks
    from fdverify.proofs.check_proofs import check_proofs
    from fdverify.proofs.proof_result import compute_exit_code
    from fdverify.proofs.proof_settings import ProofSettings

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tasks, "ask_second_solver", says_sat)
    path = written(tmp_path / "proofs", good=files.GOOD) / "good.py"
    results = check_proofs([path], ProofSettings(second_opinion="cvc5", jobs=1), lambda stage: None)
    assert compute_exit_code(results) == 70
    assert "two solvers disagree" in str(results[0].error)
    assert "z3 says unsat, cvc5 says sat" in str(results[0].error)


def says_sat(text: Any, solver: str) -> Decision:
    return Decision("sat")


def test_a_second_solver_that_does_not_know_makes_it_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fdverify.proofs import tasks
    from fdverify.proofs.check_proofs import check_proofs
    from fdverify.proofs.proof_settings import ProofSettings

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tasks, "ask_second_solver", does_not_know)
    path = written(tmp_path / "proofs", good=files.GOOD) / "good.py"
    (result,) = check_proofs([path], ProofSettings(second_opinion="cvc5", jobs=1), lambda stage: None)
    assert result.exit_code == 3
    assert "cvc5 does not know" in result.detail


def does_not_know(text: Any, solver: str) -> Decision:
    return Decision("unknown", reason="made up")


HINTED = files.NOT_INDUCTIVE.replace("import Proof\n", "import Proof, hint\n").replace(
    "@proof.invariant\ndef waits", '@hint("wait [for] less")\n@proof.invariant\ndef waits'
)


@pytest.mark.slow
def test_a_hint_is_shown_where_its_claim_fails(tmp_path: Path, cache: dict[str, str]) -> None:
    written(tmp_path, hinted=HINTED)
    assert verify("hinted.py", env=cache, cwd=tmp_path).stdout.count("\nhint: wait [for] less\n") == 1
    _, document = found(str(tmp_path / "hinted.py"), env=cache)
    failures = {o["name"]: o["failure"] for o in document["proofs"][0]["obligations"] if o["failure"] is not None}
    assert {name: failure["hint"] for name, failure in failures.items()} == {"waits-step": "wait [for] less"}


@pytest.mark.slow
def test_a_hint_is_about_its_own_file(tmp_path: Path, cache: dict[str, str]) -> None:
    borrowing = files.NOT_INDUCTIVE.split("@proof.invariant")[0] + "proof.invariants(waits, trusted)\n"
    written(tmp_path, hinted=HINTED, borrowing=f"from hinted import trusted, waits\n{borrowing}")
    outcome = verify("borrowing.py", env=cache, cwd=tmp_path)
    assert "waits-step fails" in outcome.stdout
    assert "hint" not in outcome.stdout.replace("hinted.py", "")


def test_without_paths(cache: dict[str, str]) -> None:
    outcome = verify(env=cache)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == "error: there is nothing to check (hint: name proof files or folders, or give --shipped)"


def test_a_file_is_checked_once_whatever_it_is_called(tmp_path: Path, cache: dict[str, str]) -> None:
    folder = written(tmp_path / "proofs", good=files.GOOD)
    (tmp_path / "link").symlink_to(folder)
    _, document = found(str(folder / "good.py"), str(tmp_path / "link"), str(folder), env=cache)
    assert [proof["file"] for proof in document["proofs"]] == [str(folder / "good.py")]


@pytest.mark.slow
def test_what_was_proved_is_found_whatever_else_is_checked(tmp_path: Path, cache: dict[str, str]) -> None:
    """The text of an obligation does not depend on what its process has printed before."""
    names = ("strong_accuracy", "tight_accuracy_ivy", "eventual_trust")
    paths = [str(INVARIANTS / f"{name}.py") for name in names]
    for path in paths:
        found(path, env=cache)
    _, document = found(*reversed(paths), "--jobs", "1", env=cache)
    for proof in document["proofs"]:
        assert all(o["cached"] for o in proof["obligations"] if o["kind"] != "vacuity"), proof["proof"]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Proofs of every kind: proved, broken, false, vacuous, and files that are wrong."""
    folder = tmp_path_factory.mktemp("several")
    good = files.GOOD + "\n\nfrom pathlib import Path\nPath(__file__).with_name('data.txt').read_text()\n"
    (folder / "data.txt").write_text("data")
    wrong = {"syntax": files.SYNTAX_ERROR, "fails": files.FAILED_IMPORT}
    return written(
        folder, good=good, waits=files.NOT_INDUCTIVE, short=files.VIOLATED, empty=files.UNSATISFIABLE, **wrong
    )


@pytest.mark.slow
def test_a_cluster_answers_the_same(cluster: Cluster, several: Path, cache: dict[str, str]) -> None:
    outcomes = [
        verify(".", "--no-cache", "--json", *more, env=cache, cwd=several)
        for more in ((), ("--cluster", cluster.address))
    ]
    near, far = (json.loads(outcome.stdout) for outcome in outcomes)
    assert outcomes[0].code == outcomes[1].code == 2
    assert outcomes[0].stderr == outcomes[1].stderr
    assert drop_times(far) == drop_times(near)
    assert {name: verdict for name, verdict in verdicts(far).items() if verdict == "proved"} == {"good": "proved"}


def test_what_a_cluster_has_proved_is_stored_nowhere(cluster: Cluster, several: Path, cache: dict[str, str]) -> None:
    path = str(several / "good.py")
    code, document = found(path, "--cluster", cluster.address, env=cache)
    assert (code, verdicts(document)) == (0, {"good": "proved"})
    assert not (cluster.folder / "cache" / "fdverify").exists()
    assert not (cluster.folder / "state" / "fdverify").exists()
    again, known = found(path, env=cache)
    assert again == 0
    assert {o["cached"] for p in known["proofs"] for o in p["obligations"] if o["kind"] != "vacuity"} == {False}


@pytest.mark.slow
def test_a_proof_that_is_not_the_same_there_is_refused(cluster: Cluster, tmp_path: Path, cache: dict[str, str]) -> None:
    """Its meaning depends on a variable, with which it is proved there and would not be here."""
    limit = "import os\nLIMIT = 0 if os.environ.get('HERE') else 1\n"
    text = limit + files.GOOD.replace("s.receiver_timer < s.phi", "s.receiver_timer < s.phi * LIMIT")
    folder = written(tmp_path / "proofs", depends=text)
    here = {**cache, "HERE": "1"}
    assert verify(str(folder), env=here).code == 1
    outcome = verify(str(folder), "--cluster", cluster.address, env=here)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: on a worker of the cluster, the variable HERE has not the value")
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--cluster", "here"), "--cluster must be an address"),
        (("--cluster", "127.0.0.1:1", "--jobs", "2"), "give one of them"),
        (("--tls-cert", "my.pem"), "--tls-cert is for a cluster"),
        pytest.param(
            ("--cluster", "tcp://127.0.0.1:1"),
            "cannot reach a Dask scheduler at tcp://127.0.0.1:1",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_cluster_that_is_missing_is_one_line(
    arguments: tuple[str, ...], says: str, several: Path, cache: dict[str, str]
) -> None:
    outcome = verify(str(several / "good.py"), *arguments, env=cache)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert says in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_cluster_without_the_library(several: Path, cache: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('not installed')\n")
    env = {**cache, "PYTHONPATH": str(tmp_path)}
    outcome = verify(str(several / "good.py"), "--cluster", "tcp://127.0.0.1:1", env=env)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr == "error: --cluster needs distributed (hint: pip install 'fdverify[dask]')"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [pytest.param("time limit", marks=pytest.mark.slow), "Ctrl-C"])
def test_what_a_cluster_does_for_a_proof_ends_with_the_command(
    how: str, cluster: Cluster, tmp_path: Path, cache: dict[str, str]
) -> None:
    path = written(tmp_path / "proofs", hours=files.HOURS) / "hours.py"
    limit = ("--time-limit", "15") if how == "time limit" else ()
    process = subprocess.Popen(
        [script("verify-invariant"), str(path), "--cluster", cluster.address, *limit],
        env=cache,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    if how == "Ctrl-C":
        assert wait_until(lambda: len(cluster.list_interpreters()) > 0, HANG_SECONDS)
        os.killpg(process.pid, signal.SIGINT)
    stdout, _ = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == (3 if limit else 128 + signal.SIGINT)
    assert b"proved" not in stdout
    assert wait_until(lambda: not cluster.list_interpreters(), HANG_SECONDS)
