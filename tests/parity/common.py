"""Shared code of this folder: a client, and the comparison of documents."""

import http.client
import json
import re
import ssl
import urllib.parse

TLS = ssl._create_unverified_context()
#: Members with generated values.
MADE_UP = ("uid", "resourceVersion", "creationTimestamp", "time", "lastTransitionTime", "deletionTimestamp", "renewTime",
           "acquireTime", "holderIdentity", "selfLink", "lastUpdateTime", "ca.crt", "client-ca-file", "requestheader-client-ca-file")


class Api:
    """Sends requests, each on a separate connection."""

    def __init__(self, address):
        self.host = urllib.parse.urlsplit(address).netloc

    def request(self, method, path, body=None, content="application/json", token="admintoken", **headers):
        """Returns the status code and the document of a response."""
        return self.answer(method, path, body, content, token, **headers)[:2]

    def answer(self, method, path, body=None, content="application/json", token="admintoken", **headers):
        """Returns the status code, the document and the headers of a response."""
        connection = http.client.HTTPSConnection(self.host, context=TLS, timeout=70)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = content
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        try:
            return response.status, json.loads(text), response.headers
        except ValueError:
            return response.status, text, response.headers


def plain(value):
    """Returns a document without generated values."""
    if isinstance(value, str):
        return re.sub(r"^kube-apiserver-v[0-9.]+$", "kube-apiserver", value)  # the name of the program is the manager of fields
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in MADE_UP}
    return [plain(item) for item in value] if isinstance(value, list) else value


def differences(one, two, path=""):
    """Returns the paths at which two documents differ, with both values."""
    if isinstance(one, dict) and isinstance(two, dict):
        for name in sorted(one.keys() | two.keys(), key=str):
            yield from differences(one.get(name), two.get(name), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for index, (left, right) in enumerate(zip(one, two)):
            yield from differences(left, right, f"{path}[{index}]")
    elif one != two:
        yield path, one, two
