"""The fixture, which pytest finds by the entry point of the package."""

import pytest

from pytest_kube_apiserver.server import start


@pytest.fixture(scope="session")
def kube_apiserver():
    """A running API server: `url`, and `kubeconfig` of its administrator."""
    with start() as server:
        yield server
