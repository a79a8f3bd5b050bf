"""Work in a process of its own: what it sends and returns arrives, and however it ends, the process is gone."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from fdverify.errors import InternalError, UsageError
from fdverify.workers.worker_process import TimeLimitReached, WorkerDied, run_in_worker

Send = Callable[[Any], None]
FOREVER = 3600.0


def ignore(event: Any) -> None:
    """An event that nobody is interested in."""


def counts(send: Send) -> str:
    for number in range(500):
        send(number)
    return "done"


def tells_its_id(send: Send) -> int:
    return os.getpid()


def returns_much(send: Send) -> bytes:
    return bytes(3_000_000)


def misuses(send: Send) -> None:
    raise UsageError("no such thing", "try another")


def breaks(send: Send) -> None:
    raise KeyError("first line\nsecond line")


def sleeps(send: Send) -> None:
    send(os.getpid())
    time.sleep(FOREVER)


def talks_for_ever(send: Send) -> None:
    while True:
        send("and another thing")


def ignores_interrupts(send: Send) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.05)
    return "still here"


def exits(send: Send) -> None:
    send("about to exit")
    os._exit(3)


def kills_itself(send: Send) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def runs_out_of_memory(send: Send) -> None:
    raise MemoryError


def returns_a_function(send: Send) -> Callable[[], int]:
    return lambda: 1


def sends_a_function(send: Send) -> None:
    send(lambda: 1)


def sends_much(send: Send) -> None:
    send(os.getpid())
    send(bytes(30_000_000))


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_events_in_order_and_result() -> None:
    seen: list[int] = []
    assert run_in_worker(counts, None, seen.append) == "done"
    assert seen == list(range(500))


def test_another_process_that_is_gone_afterwards() -> None:
    pid = run_in_worker(tells_its_id, None, ignore)
    assert pid != os.getpid()
    assert is_gone(pid)


def test_large_result() -> None:
    assert run_in_worker(returns_much, FOREVER, ignore) == bytes(3_000_000)


def test_known_error_is_raised_as_it_was() -> None:
    with pytest.raises(UsageError) as caught:
        run_in_worker(misuses, None, ignore)
    assert (caught.value.message, caught.value.hint) == ("no such thing", "try another")


def test_unexpected_error_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError) as caught:
        run_in_worker(breaks, None, ignore)
    message = str(caught.value)
    assert message.startswith("KeyError: ")
    assert "first line" in message
    assert "\n" not in message
    assert f"at {__file__}:{breaks.__code__.co_firstlineno + 1}" in message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("work", [returns_a_function, sends_a_function])
def test_what_cannot_be_sent_is_one_line(work: Callable[[Send], Any], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError) as caught:
        run_in_worker(work, None, ignore)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_time_limit_kills() -> None:
    seen: list[int] = []
    # The worker may need longer than that to start on a busy machine, so ask until it has said who it is.
    for limit in (0.2, 2.0, 20.0):
        with pytest.raises(TimeLimitReached):
            run_in_worker(sleeps, limit, seen.append)
        if seen:
            break
    assert is_gone(seen[-1])


def test_time_limit_holds_however_much_is_sent() -> None:
    seen = 0

    def slowly(event: Any) -> None:
        nonlocal seen
        seen += 1
        time.sleep(0.01)
        assert seen < 300, "three seconds of a limit of 0.2"

    with pytest.raises(TimeLimitReached):
        run_in_worker(talks_for_ever, 0.2, slowly)


def test_time_limit_beyond_what_the_system_can_wait() -> None:
    assert run_in_worker(counts, 1e300, ignore) == "done"


def test_interrupt_is_left_to_the_parent() -> None:
    assert run_in_worker(ignores_interrupts, None, ignore) == "still here"


def test_error_of_the_listener_ends_the_worker() -> None:
    seen: list[int] = []

    def fails(event: int) -> None:
        seen.append(event)
        raise ValueError("heard enough")

    with pytest.raises(ValueError, match="heard enough"):
        run_in_worker(sleeps, None, fails)
    assert is_gone(seen[0])


def test_exit_without_an_answer() -> None:
    seen: list[str] = []
    with pytest.raises(WorkerDied, match="exit code 3"):
        run_in_worker(exits, None, seen.append)
    assert seen == ["about to exit"]


def test_killed() -> None:
    with pytest.raises(WorkerDied, match="signal 9"):
        run_in_worker(kills_itself, FOREVER, ignore)


def test_out_of_memory(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WorkerDied, match="out of memory"):
        run_in_worker(runs_out_of_memory, None, ignore)
    assert capfd.readouterr() == ("", "")


def test_killed_in_the_middle_of_a_message() -> None:
    def kill(event: Any) -> None:
        # The next message is larger than any pipe: by now the worker is writing it, and cannot finish.
        time.sleep(0.3)
        os.kill(event, signal.SIGKILL)

    with pytest.raises(WorkerDied, match="signal 9"):
        run_in_worker(sends_much, None, kill)
