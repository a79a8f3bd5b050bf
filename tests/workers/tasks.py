"""Tasks for workers, which a worker on a cluster imports."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdverify.errors import UsageError
from fdverify.models.loading import load_module


def square(number: int) -> int:
    return number * number


def loop_for_ever(started: Path | None = None) -> None:
    if started is not None:
        started.touch()
    while True:
        time.sleep(0.01)


def kill_oneself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def misuse() -> None:
    raise UsageError("no such thing", "try another")


def break_down() -> None:
    raise KeyError("first line\nsecond line")


def allocate(megabytes: int) -> int:
    return len(bytearray(megabytes * 1024 * 1024))


def return_lambda() -> Any:
    return lambda: 0


def add(loaded: int) -> int:
    return loaded + 1


def report_twice(send: Callable[[str], None]) -> str:
    send("begun")
    send("half way")
    return "done"


def report_for_ever(send: Callable[[str], None]) -> None:
    while True:
        send("going on")
        time.sleep(0.1)


def wait_for(begun: Path, go: Path) -> int:
    """Tell each beginning by a line, and end once there is the second file."""
    with begun.open("a") as file:
        file.write(f"{os.getpid()}\n")
    while not go.exists():
        time.sleep(0.02)
    return os.getpid()


def load_and_change(path: Path) -> int:
    """Run a user's file, which is another one afterwards."""
    value: int = load_module(path).VALUE
    path.write_text(f"VALUE = {value + 1}\n")
    return value


def load(path: Path) -> Any:
    return load_module(path).VALUE


def get_folder() -> str:
    return os.getcwd()


def get_key() -> str | None:
    return os.environ.get("FDVERIFY_CACHE_KEY")
