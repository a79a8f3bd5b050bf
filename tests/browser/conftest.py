"""A headless Chromium for the tests of the HTML page; where there is none they are skipped, or fail if told to run."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.page import Browser
from tests.cli.test_html import called

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        missing = "the page was tested in no browser: chromium or chromedriver is missing (make browser installs them)"
        if os.environ.get("FDVERIFY_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Browser(chromium)
    finally:
        chromium.quit()


class Pages:
    """Pages that commands have written, each written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[tuple[str, ...], Path] = {}

    def of(self, *arguments: str) -> Path:
        if arguments not in self._written:
            path = self._folder / f"{len(self._written)}.html"
            outcome = called(*arguments, "--html", str(path))
            assert path.exists(), outcome.stderr
            self._written[arguments] = path
        return self._written[arguments]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))
