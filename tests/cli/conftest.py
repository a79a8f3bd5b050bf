"""A Dask cluster for the commands that can use one."""

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster, running_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers on a machine that has nothing in its store."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
