import pytest

from tests.testing.project import OLDEST_PYTEST, Project


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(pytester, monkeypatch)


@pytest.fixture(params=["newest", "oldest"])
def any_pytest(request: pytest.FixtureRequest, project: Project) -> Project:
    """The project, under the newest pytest and under the oldest that is supported."""
    if request.param == "oldest":
        project.environment(PYTHONPATH=str(OLDEST_PYTEST))
    return project
