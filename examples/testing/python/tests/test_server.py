"""The server without pytest: python -m unittest."""

import os
import pathlib
import time
import unittest

from client import Client
from pytest_kube_apiserver import StartError, start

MAPS = "/api/v1/namespaces/default/configmaps"


def exists(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class TestServer(unittest.TestCase):
    def test_dependents_are_deleted_with_their_owner(self):
        with start() as server:
            client = Client(server)
            _, owner = client.send("POST", MAPS, {"metadata": {"name": "owner"}})
            reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
            dependent = {"metadata": {"name": "dependent", "ownerReferences": [reference]}}
            self.assertEqual(client.send("POST", MAPS, dependent)[0], 201)
            self.assertEqual(client.send("DELETE", f"{MAPS}/owner")[0], 200)
            end = time.monotonic() + 60
            while client.send("GET", f"{MAPS}/dependent")[0] != 404:
                self.assertLess(time.monotonic(), end, "the dependent remains")
                time.sleep(0.02)

    def test_flags_are_those_of_the_program(self):
        with start("--controllers=-*") as server:
            status, _ = Client(server).send("GET", "/api/v1/namespaces/default/serviceaccounts/default")
            self.assertEqual(status, 404)

    def test_nothing_remains(self):
        with start() as server:
            process, folder = server._process.pid, pathlib.Path(server.kubeconfig).parent
            self.assertTrue(exists(process) and folder.exists())
        server.stop()
        self.assertFalse(exists(process) or folder.exists())

    def test_a_failure_has_the_reason(self):
        with self.assertRaisesRegex(StartError, "(?s)did not start:.*--no-such-flag"):
            start("--no-such-flag")
        with self.assertRaisesRegex(StartError, "/nowhere cannot be started"):
            start(program="/nowhere")


if __name__ == "__main__":
    unittest.main()
