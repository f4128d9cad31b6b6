#!/usr/bin/env python3
"""Sends requests for which earlier comparisons of the servers found differences, and compares the responses.

    tests/parity/reviews.py UPSTREAM HERE

UPSTREAM and HERE are addresses; both servers accept the token `admintoken` of a member of system:masters.
"""

import http.client
import json
import sys
import time

from common import TLS, Api, differences, plain

GROUP = "/apis/reviews.example.com/v1"
CORE = "/api/v1/namespaces/reviews"
PROTOBUF = "application/vnd.kubernetes.protobuf,application/json"
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13", "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
           "Origin": "https://127.0.0.1"}


def named(name, **more):
    return {"metadata": {"name": name}, **more}


def volume(name, **more):
    return named(name, spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}, **more})


def priority(name):
    return named(name, value=1, globalDefault=True)


def definition():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return named("limits.reviews.example.com", spec={"group": "reviews.example.com", "scope": "Namespaced", "versions": [version],
                 "names": {"plural": "limits", "kind": "Limit"}})


def limit(name):
    return {"apiVersion": "reviews.example.com/v1", "kind": "Limit", **named(name, spec={"n": 1})}


POLICY = {"paramKind": {"apiVersion": "reviews.example.com/v1", "kind": "Limit"}, "validations": [{"expression": "params.spec.n < 1"}],
          "matchConstraints": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "reviews"}}, "resourceRules": [
              {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]}}
BINDING = {"policyName": "by-limit", "validationActions": ["Deny"], "paramRef": {
    "name": "p", "namespace": "reviews", "parameterNotFoundAction": "Deny"}}
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
#: The subject of a request, and the request: method, path, body, headers.
REQUESTS = [
    ("set-up", "POST", "/api/v1/namespaces", named("reviews"), {}),
    ("set-up", "POST", f"{CORE}/serviceaccounts", named("default"), {}),
    ("set-up", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(), {}),
    ("wait", "GET", f"{GROUP}/namespaces/reviews/limits", None, {}),
    ("parity 3: watch over WebSocket", "GET", f"{CORE}/configmaps?watch=1&timeoutSeconds=1", None, UPGRADE),
    ("parity 4: policies with custom parameters", "POST", f"{GROUP}/namespaces/reviews/limits", limit("p"), {}),
    ("parity 4", "POST", f"{ADMISSION}/validatingadmissionpolicies", named("by-limit", spec=POLICY), {}),
    ("parity 4", "POST", f"{ADMISSION}/validatingadmissionpolicybindings", named("by-limit", spec=BINDING), {}),
    ("wait for 422", "POST", f"{CORE}/secrets?dryRun=All", named("s"), {}),
    ("parity 4", "POST", f"{CORE}/secrets", named("s"), {}),
    ("parity 8: ServiceCIDR", "GET", "/apis/networking.k8s.io/v1/servicecidrs", None, {}),
    ("parity 9: globalDefault", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority("one"), {}),
    ("parity 9", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", priority("two"), {}),
    ("parity 9", "DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/one", None, {}),
    ("parity 10: component statuses", "GET", "/api/v1/componentstatuses/etcd-0", None, {}),
    ("parity 10", "GET", "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking", None, {}),
    ("parity 13: mount options of host paths", "POST", "/api/v1/persistentvolumes", volume("mounted", mountOptions=["ro"]), {}),
    ("parity 13: warnings", "POST", "/api/v1/persistentvolumes", volume("recycled", persistentVolumeReclaimPolicy="Recycle"), {}),
    ("parity 13", "POST", "/api/v1/persistentvolumes", named("annotated", spec=volume("x")["spec"]) | {"metadata": {
        "name": "annotated", "annotations": {"volume.beta.kubernetes.io/storage-class": "a"}}}, {}),
    ("parity 14: stopSignal with its gate off", "POST", f"{CORE}/pods", named("signal", spec={"os": {"name": "linux"}, "containers": [
        {"name": "c", "image": "i", "lifecycle": {"stopSignal": "SIGTERM"}}]}), {}),
    ("parity 16: indented for curl", "GET", f"{CORE}/configmaps/none", None, {"User_Agent": "curl/8"}),
    ("parity 16", "GET", "/apis/apps/v1", None, {"User_Agent": "curl/8"}),
    ("parity 16: events.events.k8s.io", "GET", "/apis/events.k8s.io/v1/namespaces/reviews/events/none", None, {}),
    ("parity 16: status of a missing service", "PUT", f"{CORE}/services/none/status", named("none", spec={"ports": [{"port": 1}]}), {}),
    ("field trial 1: custom resources for protobuf clients", "GET", f"{GROUP}/namespaces/reviews/limits", None, {"Accept": PROTOBUF}),
    ("field trial 1", "POST", f"{GROUP}/namespaces/reviews/limits", limit("q"), {"Accept": PROTOBUF}),
    ("field trial 1", "GET", f"{GROUP}/namespaces/reviews/limits?watch=1&timeoutSeconds=1", None, {"Accept": PROTOBUF}),
    ("field trial 1", "DELETE", f"{GROUP}/namespaces/reviews/limits/q", None, {"Accept": PROTOBUF}),
    ("field trial 1", "DELETE", f"{GROUP}/namespaces/reviews/limits", None, {"Accept": PROTOBUF}),
    ("field trial 4: ports", "GET", f"{CORE}/pods/signal/portforward?ports=1234,1235,1236", None, UPGRADE | {
        "Sec_WebSocket_Protocol": "v4.channel.k8s.io"}),
    ("field trial 4", "GET", f"{CORE}/pods/signal/portforward?ports=70000", None, UPGRADE | {"Sec_WebSocket_Protocol": "v4.channel.k8s.io"}),
    ("field trial 5: component statuses", "GET", "/api/v1/componentstatuses/none", None, {}),
    ("field trial 10: hooks", "GET", "/livez?verbose", None, {}),
    ("field trial 10", "GET", "/readyz?verbose", None, {}),
    ("parity 5: /metrics/slis", "GET", "/metrics/slis", None, {}),
]


def send(address, method, path, body, headers):
    api = Api(address)
    connection = http.client.HTTPSConnection(api.host, context=TLS, timeout=20)
    sent = {"Authorization": "Bearer admintoken", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, json.dumps(body) if body else None, sent | ({"Content-Type": "application/json"} if body else {}))
    response = connection.getresponse()
    text = "" if response.status == 101 else response.read().decode(errors="replace")
    connection.close()
    found = {"code": response.status, "type": response.headers["Content-Type"], "warnings": response.headers.get_all("Warning")}
    lines = text.splitlines()
    if path == "/metrics/slis":
        lines = text = sorted({line.split("{")[0] + line[line.find("{"):line.rfind(" ")] for line in lines if line.startswith("kubernetes") and 'status="error"' not in line})
        return found | {"series": lines}
    try:
        return found | {"body": plain(json.loads(text)), "indented": len(lines) > 1}
    except ValueError:
        watched = [line for line in lines if line.startswith("{")]
        return found | {"body": [plain(json.loads(line)) for line in watched] or sorted(lines)}


def main():
    alike = 0
    for about, *request in REQUESTS:
        for _ in range(50 if about.startswith("wait") else 1):
            answers = [send(address, *request) for address in sys.argv[1:3]]
            if all(answer["code"] == (422 if "422" in about else 200) for answer in answers):
                break
            time.sleep(0.1)
        found = list(differences(*answers))
        alike += not found
        for path, one, two in found:
            print(f"  {about}: {request[0]} {request[1]} {path}: {str(one)[:200]} | {str(two)[:200]}")
    print(f"{alike} of {len(REQUESTS)} requests answered alike")


if __name__ == "__main__":
    main()
