"""A Kubernetes API server for tests, as a process of its own."""

from pytest_kube_apiserver.server import Server, StartError, start

__all__ = ["Server", "StartError", "start"]
