"""The fixture as users have it: run with pytest."""

from client import Client

MAPS = "/api/v1/namespaces/default/configmaps"


def test_objects_are_stored(kube_apiserver):
    client = Client(kube_apiserver)
    status, created = client.send("POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert status == 201
    assert client.send("GET", f"{MAPS}/a") == (200, created)


def test_the_server_is_that_of_the_session(kube_apiserver):
    assert Client(kube_apiserver).send("GET", f"{MAPS}/a")[0] == 200
