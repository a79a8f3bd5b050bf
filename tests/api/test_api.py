"""The public API: its names, that they are imported when they are used, and what the functions return."""

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import fdverify
from fdverify import (
    And,
    Integers,
    Model,
    Phase,
    Proof,
    Property,
    Report,
    State,
    System,
    Truth,
    Update,
    UsageError,
    Variable,
    Verdict,
    check_automaton,
    check_liveness,
    check_proof,
    configure_detector,
    explore_states,
    infer_invariant,
    prove_by_induction,
    search_runs,
    simulate_run,
    update,
)
from fdverify.former_names import FORMER_MODULES
from fdverify.threshold.report import ThresholdDocument

ROOT = Path(__file__).parents[2]
PUBLIC = """
Ages Always Amount And Automaton build_automaton Cast CHANDRA_TOUEG Channel check_automaton check_liveness
check_proof Choices configure_detector ControlFlow Detector Edge EventuallyAlways expect_verdict
explore_states FdverifyError find_bounds Flag Flags GrowingLoop hint If Iff Implies infer_invariant Integers
Labels LeadsTo load_module Max Min Model move Not Number Option Or Parameter parse_expression
partial_synchrony Phase Process Proof Property prove_by_induction Raise read_automaton Report Role search_runs
simulate_run Stabilisation State Subset System Truth Update update UsageError Variable Verdict Verify WorstRun
"""


def counter(stops: bool) -> Model:
    """A counter that stops at 3, or goes on; the claim is that it stays below 4."""

    def count(s: State, c: State) -> Update:
        return update(x=fdverify.If(And(s.x >= 3, stops), s.x, s.x + 1))

    below = Property("below-four", lambda s: s.x < 4, "the counter stays below four")
    system = System(
        name="counter",
        options={},
        parameters=(),
        variables=(Variable("x", Integers(), initial=lambda s: 0, cap=lambda s: 5),),
        phases=(Phase("count", count),),
        properties=(below,),
    )
    return Model("counter", "counts", (), (), "below-four", lambda: system)


def test_the_public_names() -> None:
    assert sorted(fdverify.__all__) == sorted(PUBLIC.split())
    for name in PUBLIC.split():
        assert getattr(fdverify, name) is not None
        assert name in dir(fdverify)
    with pytest.raises(AttributeError, match="no attribute 'prove'"):
        _ = fdverify.prove


def test_importing_it_loads_no_solver() -> None:
    code = (
        "import fdverify, sys; print(*sorted({'z3', 'numpy', 'rich', 'typer', 'msgspec', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "\n")


def test_the_package_is_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "fdverify", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"fdverify {fdverify.__version__}\n")


def test_a_proof_that_holds_and_one_that_does_not() -> None:
    good = check_proof(ROOT / "examples" / "first_proof.py")
    assert good.verdict is Verdict.PROVED
    assert "proved" in str(good)
    bad = check_proof(str(ROOT / "examples" / "first_attempt.py"), cache=False)
    assert bad.verdict is Verdict.NOT_INDUCTIVE
    assert bad.runs[0].steps[0].round == 0
    assert "only_old_messages-step fails" in repr(bad)


def test_a_proof_at_hand() -> None:
    proof = Proof("chandra-toueg", goal="strong-accuracy", variant="ivy")

    @proof.invariant
    def nothing(s: State) -> Truth:
        """Nothing is claimed."""
        return s.timeout >= 0

    assert check_proof(proof, delta=1, phi=1).verdict in (Verdict.NOT_INDUCTIVE, Verdict.VIOLATED)


def test_engines() -> None:
    assert explore_states("chandra-toueg", delta=1, phi=1).verdict is Verdict.PROVED
    assert explore_states("chandra-toueg", delta=1, phi=1, memory_limit="1KB").verdict is Verdict.PROVED
    broken = search_runs("chandra-toueg", timeout="phi+delta+2")
    assert broken.verdict is Verdict.VIOLATED
    assert broken.runs[0].steps[-1].state["suspected"] is True
    assert prove_by_induction("chandra-toueg", delta=1, phi=1).verdict is Verdict.PROVED
    assert check_liveness("chandra-toueg", delta=1, phi=1).verdict is Verdict.PROVED
    assert len(simulate_run("chandra-toueg", delta=1, phi=1, rounds=4).runs[0].steps) == 5
    assert infer_invariant("chandra-toueg", timeout="3*phi", time_limit=30).verdict is Verdict.VIOLATED


def test_a_model_that_no_file_has() -> None:
    """What workers run is forked, so it need not be importable."""
    assert explore_states(counter(stops=True)).verdict is Verdict.PROVED
    assert explore_states(counter(stops=False)).verdict is Verdict.VIOLATED


def test_what_to_configure() -> None:
    report = configure_detector("chandra-toueg", variant="ivy", delta=2, phi=1)
    assert report.verdict is Verdict.PROVED
    assert "crash noticed in" in str(report)
    with pytest.raises(UsageError, match="phi must be a number"):
        configure_detector("chandra-toueg", delta=2)


def test_threshold_automata() -> None:
    file = ROOT / "examples" / "threshold" / "strb.ta"
    assert check_automaton(file).verdict is Verdict.PROVED
    report = check_automaton(fdverify.read_automaton(file), ["relay"], parameters={"N": 4, "T": 1, "F": 1})
    assert isinstance(report.document, ThresholdDocument)
    assert [each.name for each in report.document.specifications] == ["relay"]
    with pytest.raises(UsageError, match="no specification nothing"):
        check_automaton(file, ["nothing"])


def test_a_report_renders_in_a_notebook_and_is_written(tmp_path: Path) -> None:
    report = search_runs("chandra-toueg", timeout="phi+delta+2")
    assert isinstance(report, Report)
    assert report._repr_html_().startswith("<pre>")
    assert "violated" in report._repr_html_()
    report.write(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text().startswith("<!doctype html>")
    report.write(tmp_path / "run.itf.json", "itf")
    with pytest.raises(UsageError, match="no format pdf"):
        report.write(tmp_path / "run.pdf", "pdf")


def test_bad_values() -> None:
    with pytest.raises(UsageError, match="no parameter or option gamma"):
        explore_states("chandra-toueg", gamma=1)
    with pytest.raises(UsageError, match="unknown model"):
        explore_states("chandra-toug", delta=1, phi=1)


@pytest.mark.parametrize("former", FORMER_MODULES)
def test_former_modules_work_with_a_warning(former: str) -> None:
    sys.modules.pop(former, None)
    with pytest.warns(DeprecationWarning, match=f"is called {FORMER_MODULES[former]} now"):
        module = import_module(former)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        present = import_module(FORMER_MODULES[former])
    public = [name for name in vars(present) if not name.startswith("_")]
    assert all(getattr(module, name) is getattr(present, name) for name in public)


def test_a_former_name_of_a_function() -> None:
    from fdverify.threshold import builder

    with pytest.warns(DeprecationWarning, match="build_automaton"):
        assert builder.automaton is builder.build_automaton


def test_the_former_name_of_steps() -> None:
    run = simulate_run("chandra-toueg", delta=1, phi=1, rounds=1).runs[0]
    with pytest.warns(DeprecationWarning, match="steps"):
        assert run.rows == run.steps
