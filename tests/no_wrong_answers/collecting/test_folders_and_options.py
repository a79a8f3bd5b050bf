"""verify-invariant looks below folders, and takes the options of the models that its proofs are about."""

import json
from pathlib import Path

import pytest

from tests.cli import written_proofs as files
from tests.sampling import every
from tests.testing.project import Project, Ran

ONLY = ("--only", "bounded-init", "--json")


def proofs_in(found: Ran) -> set[str]:
    assert found.code == 0, found.error
    return {proof["file"] for proof in json.loads(found.out)["proofs"]}


def put(project: Project, *paths: str) -> None:
    for path in paths:
        file = project.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files.GOOD)


def test_what_is_below_is_looked_at_and_what_is_not_ones_own_is_not(project: Project) -> None:
    own = {"proofs/a.py", "proofs/deep/b.py", "proofs/deep/deeper/c.py", "proofs/_private/d.py"}
    others = [".hidden/x.py", "env/lib/x.py", "__pycache__/x.py", "node_modules/x.py", "deep/_helper.py", ".x.py"]
    put(project, *own, *(f"proofs/{other}" for other in others))
    (project.folder / "proofs" / "env" / "pyvenv.cfg").write_text("")
    assert proofs_in(project.verify_invariant("proofs", *ONLY)) == own


def test_links_are_followed_once(project: Project) -> None:
    put(project, "proofs/a.py", "elsewhere/b.py", "above.py")
    proofs = project.folder / "proofs"
    for name, target in {"loop": proofs, "up": project.folder, "linked": project.folder / "elsewhere"}.items():
        (proofs / name).symlink_to(target)
    (proofs / "again").symlink_to(project.folder / "elsewhere")
    (proofs / "broken").symlink_to(project.folder / "nowhere")
    (proofs / "broken.py").symlink_to(project.folder / "nowhere.py")
    (proofs / "same.py").symlink_to(proofs / "a.py")
    assert len(proofs_in(project.verify_invariant("proofs", *ONLY))) == 2


def test_a_file_that_is_named_too_is_checked_once(project: Project) -> None:
    put(project, "proofs/a.py", "proofs/deep/b.py")
    assert len(proofs_in(project.verify_invariant("proofs/deep/b.py", "proofs", "proofs/deep", *ONLY))) == 2


@pytest.mark.parametrize("text", ["x = 1\n", "from fdverify.proofs import Proof\nif 1 > 2:\n    Proof('x')\n", None])
def test_a_folder_without_any_proof_is_refused(project: Project, text: str | None) -> None:
    put(project, "good.py")
    (project.folder / "none" / "deep").mkdir(parents=True)
    if text is not None:
        (project.folder / "none" / "deep" / "x.py").write_text(text)
    found = project.verify_invariant("good.py", "none")
    assert found.code == 2
    assert "error: there is no proof file in none" in found.error


def test_a_file_that_is_named_and_has_no_proof_is_an_error(project: Project) -> None:
    put(project, "good.py")
    project.write(none="x = 1\n")
    found = project.verify_invariant("good.py", "none.py")
    assert found.code == 2
    assert "none.py: there is no proof in it" in found.error


@pytest.fixture
def demo(project: Project) -> Project:
    """The scaffold's model, beside the shipped one's proof."""
    text = (Path(__file__).parents[3] / "fdverify" / "templates" / "model.py").read_text().replace("NAME", "demo")
    project.write(demo=text, good=files.GOOD)
    return project


def parameters(found: Ran) -> dict[str, object]:
    (proof,) = json.loads(found.out)["proofs"]
    return dict(proof["parameters"])


@pytest.mark.slow
def test_a_parameter_of_ones_own_model(demo: Project) -> None:
    found = demo.verify_invariant("demo.py", "--period", "2", "--delta", "1", "--only", "trusted-init", "--json")
    assert parameters(found) == {"delta": 1, "period": 2, "initial_timeout": 3}
    for period in ("--period=symbolic", "--delta=1"):
        found = demo.verify_invariant("demo.py", period, "--only", "trusted-init", "--json")
        assert parameters(found)["period"] == "symbolic"


def test_an_option_of_ones_own_model(demo: Project) -> None:
    found = demo.verify_invariant(
        "--timeout", "9", "demo.py", "--period", "2", "--delta", "1", "--only", "trusted-init", "--json"
    )
    assert parameters(found)["initial_timeout"] == 9


def test_a_switch_of_the_shipped_model(demo: Project) -> None:
    for switch, value in (("--crash", "true"), ("--no-crash", "false")):
        found = demo.verify_invariant(switch, "good.py", *ONLY)
        (proof,) = json.loads(found.out)["proofs"]
        assert proof["options"]["crash"] == value


BAD = {
    "too small": (("demo.py", "--period", "0"), "--period must be at least 1, got 0"),
    "no number": (("demo.py", "--period", "two"), "--period"),
    "misspelt": (("demo.py", "--perod", "2"), "No such option: --perod (Possible options: --period"),
    "of another file": (("good.py", "--period", "2"), "No such option: --period"),
    "without a file": (("--period", "2"), "No such option: --period"),
    "without a value": (("demo.py", "--period"), "--period"),
}


@pytest.mark.parametrize(("arguments", "says"), every(4, BAD.values()), ids=every(4, BAD))
def test_bad_values_and_names_are_one_line(demo: Project, arguments: tuple[str, ...], says: str) -> None:
    found = demo.verify_invariant(*arguments)
    assert found.code == 2
    (line,) = [line for line in found.error.splitlines() if line.startswith("error: ")]
    assert says in line


@pytest.mark.slow
def test_a_file_whose_model_lacks_the_option_is_named(demo: Project) -> None:
    found = demo.verify_invariant("demo.py", "good.py", "--period", "2", "--only", "trusted-init")
    assert found.code == 2
    assert "error: good.py: chandra-toueg has no --period (hint: there are delta, phi)" in found.error


def test_a_file_that_cannot_be_loaded_is_to_blame(demo: Project) -> None:
    demo.write(broken=files.SYNTAX_ERROR)
    found = demo.verify_invariant("broken.py", "--period", "2")
    assert (found.code, found.error) == (2, "error: broken.py:5: '(' was never closed")
    assert "Usage: verify-invariant" in demo.verify_invariant("broken.py", "--help").out


def test_help_lists_the_options_of_the_files_named(demo: Project) -> None:
    assert "--period" not in demo.verify_invariant("--help").out
    told = demo.verify_invariant("demo.py", "good.py", "--help").out
    assert all(flag in told for flag in ("--period N|symbolic", "--timeout EXPR|any", "--crash / --no-crash"))


def test_one_name_for_two_kinds_is_refused(demo: Project) -> None:
    switch = demo.folder / "switch.py"
    text = (demo.folder / "demo.py").read_text()
    switch.write_text(
        text.replace(
            'Option("timeout"', 'Option("period_", "", False), Option("crash", "", "no"), Option("timeout"'
        ).replace("*, timeout: str", "*, timeout: str, period_: bool, crash: str")
    )
    found = demo.verify_invariant("good.py", "switch.py", "--crash", "yes")
    assert found.code == 2
    assert "--crash is a switch of good.py and text of switch.py" in found.error


def test_a_parameter_that_has_the_name_of_an_option_of_the_command(demo: Project) -> None:
    text = (demo.folder / "demo.py").read_text().replace('PERIOD = Parameter("period"', 'PERIOD = Parameter("seed"')
    (demo.folder / "mine.py").write_text(
        text.replace("s.period", "s.seed")
        .replace("period: int", "seed: int")
        .replace("value=period", "value=seed")
        .replace('{"delta", "period"}', '{"delta", "seed"}')
        .replace('"period+delta"', '"seed+delta"')
    )
    found = demo.verify_invariant("mine.py", "--model-seed", "4", "--only", "trusted-init", "--json")
    assert parameters(found)["seed"] == 4
    assert "--model-seed" in demo.verify_invariant("mine.py", "--help").out


@pytest.mark.slow
def test_an_endless_file_does_not_hang_the_command(demo: Project) -> None:
    demo.write(endless=files.ENDLESS)
    found = demo.verify_invariant("endless.py", "--period", "2", "--time-limit", "1")
    assert found.code == 2
    assert "endless.py: still loading when it was given up" in found.error
