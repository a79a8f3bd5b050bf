"""Console scripts, and pytest, in processes of their own.

They are forked from a process that has imported the package already, because most of the time of a short command is its
start.  What Python reads at its start, such as ``PYTHONPATH``, makes it start a script from nothing.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import selectors
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import NoReturn

from tests.worker_coverage import save_before_kill

HANG_SECONDS = 300.0
_AT_START = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
"""What is the same in the process that scripts are forked from."""
_LIBRARIES = (
    "z3",
    "numpy",
    "rich.table",
    "rich.console",
    "typer",
    "click",
    "msgspec",
    "pysmt.smtlib.parser",
    "pydantic",
)


def script(name: str = "fdverify") -> str:
    beside = Path(sys.executable).with_name(name)
    return str(beside if beside.exists() else Path(sysconfig.get_path("scripts"), name))


def changes_start(env: Mapping[str, str]) -> bool:
    """Tell whether there is something in the environment that Python reads only when it starts."""
    return any(word.startswith("PYTHON") and word not in _AT_START for word in env)


def launch(
    name: str,
    arguments: Sequence[str | bytes],
    env: Mapping[str, str],
    cwd: Path | None = None,
    at_start: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a console script, or pytest, to its end, with nothing to read."""
    path = env.get("PYTHONPATH") if name == "pytest" else None
    started = {word: value for word, value in env.items() if path is None or word != "PYTHONPATH"}
    if sys.platform != "linux" or at_start is not None or changes_start(started):
        command = [sys.executable, "-m", "pytest"] if name == "pytest" else [script(name)]
        return subprocess.run(
            [*command, *arguments],
            cwd=cwd,
            env=_leave_unmeasured(env) if at_start else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HANG_SECONDS,
            preexec_fn=at_start,
        )
    words = [os.fsdecode(word) for word in arguments]
    return _forking(name == "pytest", path).launch(name, words, env, cwd or Path.cwd())


def _leave_unmeasured(env: Mapping[str, str]) -> dict[str, str]:
    """Leave coverage.py out of it: limits of a process would be its limits, too."""
    return {word: value for word, value in env.items() if word != "COVERAGE_PROCESS_CONFIG"}


@cache
def _forking(libraries_alone: bool, path: str | None) -> _Forking:
    return _Forking(libraries_alone, path)


class _Forking:
    """A process that has imported much and forks for each script; it ends with this one."""

    def __init__(self, libraries_alone: bool, path: str | None) -> None:
        self._socket, other = socket.socketpair()
        code = f"from tests.launch import _serve; _serve({other.fileno()}, {libraries_alone})"
        root = str(Path(__file__).parents[1])
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        env |= {} if path is None else {"PYTHONPATH": path}
        command = [sys.executable, "-c", code]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, cwd=root, env=env, pass_fds=[other.fileno()], stdin=nothing, stdout=nothing
        )
        other.close()

    def launch(
        self, name: str, words: list[str], env: Mapping[str, str], cwd: Path
    ) -> subprocess.CompletedProcess[bytes]:
        outputs, inputs = zip(os.pipe(), os.pipe(), strict=True)
        request = json.dumps([name, words, dict(env), str(cwd)]).encode()
        socket.send_fds(self._socket, [len(request).to_bytes(8)], inputs)
        self._socket.sendall(request)
        for end in inputs:
            os.close(end)
        try:
            texts = self._read(outputs)
        except TimeoutError:
            self._process.kill()
            _forking.cache_clear()
            raise subprocess.TimeoutExpired([name, *words], HANG_SECONDS) from None
        finally:
            for end in outputs:
                os.close(end)
        code = int.from_bytes(self._socket.recv(8), signed=True)
        return subprocess.CompletedProcess([name, *words], code, *texts)

    def _read(self, outputs: Sequence[int]) -> list[bytes]:
        """All that is written to the two, until both are closed."""
        texts = {end: bytearray() for end in outputs}
        until = monotonic() + HANG_SECONDS
        with selectors.DefaultSelector() as selector:
            for end in outputs:
                selector.register(end, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(until - monotonic())
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    part = os.read(key.fd, 1 << 16)
                    texts[key.fd] += part
                    if not part:
                        selector.unregister(key.fd)
        return [bytes(texts[end]) for end in outputs]


def _serve(number: int, libraries_alone: bool) -> None:
    """What the other process does."""
    save_before_kill()
    for name in _LIBRARIES:
        if find_spec(name.partition(".")[0]) is not None:
            import_module(name)
    scripts = {"pytest": _import_pytest()} if libraries_alone else _import_scripts()
    sys.path.remove("")
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    gc.freeze()
    with socket.socket(fileno=number) as line:
        while True:
            length, ends, _, _ = socket.recv_fds(line, 8, 2)
            if not length:
                return
            request = bytearray()
            while len(request) < int.from_bytes(length):
                request += line.recv(1 << 16)
            name, words, env, cwd = json.loads(request)
            pid = os.fork()
            if pid == 0:
                line.close()
                _become(scripts[name], [script(name), *words], ends, env, cwd)
            for end in ends:
                os.close(end)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            line.sendall(code.to_bytes(8, signed=True))


def _import_scripts() -> dict[str, Callable[[], int | None]]:
    import fdverify
    from fdverify.cli import main, verify_invariant

    for module in pkgutil.walk_packages(fdverify.__path__, "fdverify."):
        if not module.name.startswith(("fdverify.testing", "fdverify.__main__")):
            import_module(module.name)
    return {"fdverify": main, "verify-invariant": verify_invariant}


def _import_pytest() -> Callable[[], int]:
    """Pytest, which wants to import by itself what belongs to its plugins, such as this package."""
    import pytest

    def run() -> int:
        sys.path.insert(0, os.getcwd())
        return int(pytest.main())

    return run


def _become(
    run: Callable[[], int | None], words: list[str], ends: Sequence[int], env: dict[str, str], cwd: str
) -> NoReturn:
    """Go on as the script would."""
    code: object = 70
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, end in enumerate((nothing, *ends)):
            os.dup2(end, stream)
            os.close(end)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv = words
        try:
            code = run()
        except SystemExit as error:
            code = error.code
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else 70)
