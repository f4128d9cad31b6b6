"""A client without dependencies, for the tests of this package."""

import base64
import json
import re
import ssl
import tempfile
import urllib.error
import urllib.request


class Client:
    """Sends requests as the administrator of a kubeconfig of the server."""

    def __init__(self, server):
        text = server.kubeconfig.read_text()
        data = {name: base64.b64decode(value).decode() for name, value in re.findall(r"([a-z-]+)-data: (\S+)", text)}
        self._url = server.url
        self._tls = ssl.create_default_context(cadata=data["certificate-authority"])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(data["client-certificate"] + data["client-key"])
            file.flush()
            self._tls.load_cert_chain(file.name)

    def send(self, method, path, body=None):
        """Returns the status and the object of the answer."""
        request = urllib.request.Request(self._url + path, method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)
