from pathlib import Path

import pytest

from tests.sampling import every
from tests.testing.project import OLDEST_PYTEST, Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


@pytest.fixture(params=every(2, ["oldest", "newest"]))
def any_pytest(request: pytest.FixtureRequest, project: Project) -> Project:
    """The project, under the oldest pytest that is supported and, as in most other tests, under the newest."""
    if request.param == "oldest":
        project.environment(PYTHONPATH=str(OLDEST_PYTEST))
    return project


@pytest.fixture(params=every(4, ["newest-xdist", "oldest", "oldest-xdist", "newest"]))
def any_run(request: pytest.FixtureRequest, project: Project) -> tuple[Project, tuple[str, ...]]:
    """The project under both, and the arguments for a run with pytest-xdist or without."""
    pytest_version, _, xdist = request.param.partition("-")
    if pytest_version == "oldest":
        project.environment(PYTHONPATH=str(OLDEST_PYTEST))
    return project, ("-n", "2") if xdist else ()
