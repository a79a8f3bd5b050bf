"""The pytest plugin: it collects proof files, and offers the fixture ``verify``.

Every pytest run of every user loads this file, so it is small: the rest is imported when there is something to verify.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fdverify.printable import make_printable
from fdverify.testing.plugin_options import (
    OPTIONS_KEY,
    CollectDecision,
    add_options,
    check_globs,
    matches_any_glob,
    read_options,
)

if TYPE_CHECKING:
    from fdverify.testing.verify import Verify


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OPTIONS_KEY] = read_options(config)
    config.addinivalue_line("markers", "fdverify: an obligation of a proof file.")


def pytest_report_header(config: pytest.Config) -> str:
    return make_printable(config.stash[OPTIONS_KEY].format_header())


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # with pytest-xdist, only the main process checks them
        check_globs(session.config)


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, None]:
    outcome = yield
    config = parent.config
    collects = config.stash[OPTIONS_KEY].decide_collection(
        file_path, config.rootpath, parent.session.isinitpath(file_path)
    )
    if collects is CollectDecision.NO:
        return
    from fdverify.testing.items import ProofFile

    # If a proof file is named on the command line, pytest takes it for a test module, whatever its name.
    is_tests = matches_any_glob(file_path, config.getini("python_files"))
    others = [node for node in outcome.get_result() if is_tests or type(node) is not pytest.Module]
    outcome.force_result([ProofFile.make(parent, file_path, collects), *others])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    from fdverify.testing.terminal_summary import print_summary, print_without_proof

    print_summary(terminalreporter)
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        print_without_proof(terminalreporter)


@pytest.fixture
def verify(request: pytest.FixtureRequest) -> Verify:
    """Make claims about proofs and models: verify.proved(…), verify.violated(…), verify.explored(…)."""
    from fdverify.testing.verify import Verify

    return Verify(request.node)
