"""A report is written through links and into devices, replaces plain files as a whole, and touches nothing else."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from fdverify.workers import atomic_files
from fdverify.workers.atomic_files import (
    is_same_file,
    is_taken,
    is_writable,
    is_writable_tree,
    make_file_name,
    write_report,
)
from tests.cli.script import environment
from tests.launch import script
from tests.sampling import every

QUICK = ("simulate", "--delta", "1", "--phi", "1", "--depth", "2")
SHORT = ("bmc", "--delta", "3", "--phi", "1", "--timeout", "1")
"""It finds a run, so that there is a trace to be written."""
ROOT = Path(__file__).parents[3]


def called(line: str, folder: Path, *, code: int = 0) -> str:
    """Run a line of the shell; what it prints."""
    env = environment(PATH=f"{Path(script()).parent}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_text("old")
    link.symlink_to(target)
    before = target.stat().st_ino
    write_report(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_ino == before, "it is written through, and other names of the file see it"


def test_a_chain_of_links(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "target"
    target.parent.mkdir()
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(target)
    write_report(tmp_path / "one", "new")
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "two").is_symlink()
    assert target.read_text() == "new", "a link to what is not there yet makes it"


def test_a_link_to_a_folder_in_the_way_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_report(tmp_path / "link" / "page", "new")
    assert (tmp_path / "real" / "page").read_text() == "new"
    assert os.listdir(tmp_path / "real") == ["page"]


def test_a_device_is_written_to_and_stays() -> None:
    before = os.lstat("/dev/null")
    write_report(Path("/dev/null"), "nothing")
    after = os.lstat("/dev/null")
    assert (before.st_ino, before.st_rdev, before.st_mode) == (after.st_ino, after.st_rdev, after.st_mode)


def test_a_full_device_is_an_error() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_report(Path("/dev/full"), "x")
    assert stat.S_ISCHR(os.lstat("/dev/full").st_mode)


def test_a_pipe_gets_all_of_it(tmp_path: Path) -> None:
    path, text = tmp_path / "pipe", "x" * 300_000
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_report(path, text)
    reader.join()
    assert read == [text]
    assert stat.S_ISFIFO(path.lstat().st_mode)


def test_a_pipe_that_nobody_reads_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_files, "_READER_SECONDS", 0.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        write_report(tmp_path / "pipe", "x")


def test_a_plain_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("a longer text that was there before")
    path.chmod(0o640)
    with path.open() as reader:
        write_report(path, "new")
        assert reader.read() == "a longer text that was there before", "who reads it sees all of one or of the other"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640, "who may read it is as before"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_file_that_can_be_written_in_a_folder_that_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr(tempfile, "mkstemp", refused)
    write_report(path, "new")
    assert path.read_text() == "new"
    with pytest.raises(PermissionError):
        write_report(tmp_path / "other.html", "new")
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("kind", ["--html", "--itf"])
@pytest.mark.parametrize("name", every(3, ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]))
def test_stdout_by_its_name(kind: str, name: str, tmp_path: Path) -> None:
    """In a pipe and in a file alike: the report, then what is printed, and no device is touched."""
    before = os.lstat("/dev/stdout")
    line = f"fdverify {' '.join(SHORT)} {kind} {name}"
    piped = called(f"{line} | cat", tmp_path)
    called(f"{line} > out.txt; true", tmp_path)
    filed = (tmp_path / "out.txt").read_text()
    for text in (piped, filed):
        assert text.startswith("<!doctype html>" if kind == "--html" else "{")
        assert text.count("violated: strong-accuracy is violated after 3 rounds\n") == 1
    assert abs(len(filed) - len(piped)) < 10, "but for the seconds they are the same: nothing was written over"
    after = os.lstat("/dev/stdout")
    assert (stat.S_ISLNK(after.st_mode), after.st_ino) == (True, before.st_ino)
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_report_to_where_stdout_goes(tmp_path: Path) -> None:
    called(f"fdverify {' '.join(SHORT)} --itf out.txt > out.txt; true", tmp_path)
    text = (tmp_path / "out.txt").read_text()
    assert text.startswith("{")
    assert "violated: " in text


def test_sarif_through_a_link_and_to_stdout(tmp_path: Path) -> None:
    proof = ROOT / "examples" / "meant_to_fail.py"
    (tmp_path / "link.sarif").symlink_to("target.sarif")
    called(f"verify-invariant {proof} --only trusted-step --sarif link.sarif --html /dev/null", tmp_path, code=1)
    assert (tmp_path / "link.sarif").is_symlink()
    assert (tmp_path / "target.sarif").read_text().startswith("{")


def test_the_drawing_of_a_map_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.svg").symlink_to("target.svg")
    called("fdverify map --delta 0 --phi 1 --timeout 9 --no-cache --svg link.svg", tmp_path)
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "target.svg").read_text().startswith("<svg")


def test_obligations_through_a_link(tmp_path: Path) -> None:
    proof = ROOT / "examples" / "meant_to_fail.py"
    folder, name = tmp_path / "smt", "meant_to_fail.trusted-init.smt2"
    folder.mkdir()
    (folder / name).symlink_to(tmp_path / "target.smt2")
    called(f"verify-invariant {proof} --only trusted-init --smtlib smt", tmp_path)
    assert (folder / name).is_symlink()
    assert "(check-sat)" in (tmp_path / "target.smt2").read_text()


def test_a_new_file_does_not_go_through_a_link(tmp_path: Path) -> None:
    """It never overwrites, and what a link leads to would be a surprise."""
    (tmp_path / "mine.py").symlink_to("elsewhere.py")
    called("fdverify new proof mine", tmp_path, code=2)
    assert not (tmp_path / "elsewhere.py").exists()


LOOP = "loop"


def unwritable(folder: Path) -> dict[str, Path]:
    """Paths at which nothing can be written, whoever asks."""
    (folder / "file").touch()
    (folder / LOOP).symlink_to(LOOP)
    (folder / "dangling").symlink_to(folder / "no" / "page.html")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket"))
    listening.close()
    return {
        "a folder": folder,
        "the folder here": Path("."),
        "the root": Path("/"),
        "in no folder": folder / "no" / "page.html",
        "in a file": folder / "file" / "page.html",
        "a link to itself": folder / LOOP,
        "in a link to itself": folder / LOOP / "page.html",
        "a link into no folder": folder / "dangling",
        "a long name": folder / ("x" * 300),
        "a long path": folder / "/".join(["x" * 200] * 30),
        "a socket": folder / "socket",
        "in a device": Path("/dev/null/page.html"),
        "on a disk that is for reading": Path("/proc/page.html"),
        "a name with a zero byte": folder / "a\0b",
    }


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    for why, path in unwritable(tmp_path).items():
        assert not is_writable(path) or why == "on a disk that is for reading", why
    assert is_writable(tmp_path / "page.html")
    assert is_writable(tmp_path / "file")
    assert is_writable(Path("/dev/null"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written_is_known_before(tmp_path: Path) -> None:
    folder, file = tmp_path / "closed", tmp_path / "file"
    folder.mkdir()
    file.touch(mode=0o444)
    folder.chmod(0o555)
    try:
        assert not is_writable(folder / "page.html")
        assert not is_writable_tree(folder / "deep")
        assert not is_writable(file)
    finally:
        folder.chmod(0o755)


HOURS: dict[str, Callable[[str], str]] = {
    "bmc --html": lambda path: f"fdverify bmc --depth 100000 --html {path}",
    "explore --itf": lambda path: f"fdverify explore --delta 30 --phi 30 --itf {path}",
    "map --svg": lambda path: f"fdverify map --delta 0..30 --phi 1..30 --timeout 9 --no-cache --svg {path}",
    "infer --output": lambda path: f"fdverify infer --output {path}",
    "threshold check --html": lambda path: f"fdverify threshold check {ROOT}/examples/threshold/strb.ta --html {path}",
    "verify-invariant --sarif": lambda path: f"verify-invariant endless.py --sarif {path}",
    "verify-invariant --html": lambda path: f"verify-invariant endless.py --html {path}",
    "verify-invariant --smtlib": lambda path: f"verify-invariant endless.py --smtlib {path}",
}


WHERE = ("file/page", LOOP, "dangling", "x" * 300, "/dev/null/page")


@pytest.mark.parametrize(("name", "where"), every(8, product(HOURS, WHERE)))
def test_commands_refuse_it_before_the_work(name: str, where: str, tmp_path: Path) -> None:
    unwritable(tmp_path)
    (tmp_path / "endless.py").write_text("while True:\n    pass\n")
    before = sorted(os.listdir(tmp_path))
    env = environment(PATH=f"{Path(script()).parent}:{os.environ['PATH']}")
    done = subprocess.run(
        HOURS[name](where).split(), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: cannot write")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


def test_folders_that_are_made_on_the_way(tmp_path: Path) -> None:
    assert is_writable_tree(tmp_path / "one" / "two" / "three")
    assert is_writable_tree(tmp_path)
    assert not (tmp_path / "one").exists(), "asking makes nothing"
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    assert not is_writable_tree(tmp_path / "file")
    assert not is_writable_tree(tmp_path / "file" / "deep")
    assert not is_writable_tree(tmp_path / "dangling" / "deep")
    assert not is_writable_tree(tmp_path / ("x" * 300))


def test_two_reports_need_two_files(tmp_path: Path) -> None:
    page, link, other = tmp_path / "page", tmp_path / "link", tmp_path / "other"
    link.symlink_to(page)
    assert is_same_file(page, link), "neither is there yet"
    page.touch()
    assert is_same_file(page, link)
    assert not is_same_file(page, other)
    os.link(page, other)
    assert is_same_file(page, other)
    assert not is_same_file(Path("/dev/null"), Path("/dev/null")), "a device takes both"
    called("fdverify simulate --delta 1 --phi 1 --html link --itf ./page", tmp_path, code=2)
    called("verify-invariant x.py --html link --sarif other", tmp_path, code=2)


def test_a_report_does_not_replace_what_was_read(tmp_path: Path) -> None:
    automaton = tmp_path / "mine.ta"
    automaton.write_bytes((ROOT / "examples" / "threshold" / "strb.ta").read_bytes())
    (tmp_path / "link.html").symlink_to(automaton)
    (tmp_path / "model.html").symlink_to("model.py")
    (tmp_path / "model.py").write_text("precious = True\n")
    called("fdverify threshold check mine.ta --html link.html", tmp_path, code=2)
    called(f"fdverify {' '.join(QUICK)} --html model.html", tmp_path, code=2)
    assert automaton.read_bytes() == (ROOT / "examples" / "threshold" / "strb.ta").read_bytes()
    assert (tmp_path / "model.py").read_text() == "precious = True\n"


def test_what_infer_writes_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("precious = True\n")
    (tmp_path / "link.py").symlink_to("there.py")
    for name in ("there.py", "link.py"):
        assert is_taken(tmp_path / name)
        called(f"fdverify infer --output {name}", tmp_path, code=2)
    assert not is_taken(Path("/dev/null"))
    assert (tmp_path / "there.py").read_text() == "precious = True\n"


@pytest.mark.parametrize(
    "name",
    ["../../etc/x", "a/b", "x" * 400, "", ".", "..", ".hidden", "a\nb", "a\x1b[31mb", "\udcff", "né", "a b", "/"],
)
def test_names_become_names_of_files(name: str, tmp_path: Path) -> None:
    found = make_file_name(name)
    assert len(f"{found}.smt2".encode()) < 255
    assert found.isascii()
    assert found.isprintable()
    write_report(tmp_path / f"{found}.smt2", "x")
    (only,) = tmp_path.iterdir()
    assert not only.name.startswith(".")
    assert only.name == f"{found}.smt2"


def test_names_that_differ_become_names_that_differ() -> None:
    names = ["a/b", "a_b", "a b", "a\nb", "x" * 300, "x" * 301, ".a", "a", "..a"]
    assert len({make_file_name(name) for name in names}) == len(names)
    assert make_file_name("range(waiting_time)-init") == "range(waiting_time)-init"
