#!/usr/bin/env python3
"""Sends the same requests to two servers and compares their `/metrics`.

    tests/parity/metrics.py UPSTREAM HERE [--values]

UPSTREAM and HERE are addresses such as https://127.0.0.1:6443; both servers accept the token `admintoken` of a member of
system:masters, and were just started. Names, types, labels, buckets and series (the values of labels) are compared; with
--values the values of counters, too.
"""

import base64
import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from common import Api

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/load/configmaps"


class Client(Api):
    """Also waits for a status code."""

    def until(self, code, *request, **more):
        for _ in range(100):
            answer = self.request(*request, **more)
            if answer[0] == code:
                return
            time.sleep(0.2)
        raise SystemExit(f"{request}: {answer}")


class Hook(http.server.BaseHTTPRequestHandler):
    """Allows, denies, or responds with invalid documents, depending on the path."""

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response = {"uid": review["request"]["uid"], "allowed": not self.path.startswith("/deny")}
        if "request" in review and "objects" in review["request"]:
            version = review["request"]["desiredAPIVersion"]
            objects = [dict(o, apiVersion=version) for o in review["request"]["objects"]]
            response = {"uid": review["request"]["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode()
        self.send_response(500 if self.path.startswith("/fail") else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_hooks(folder):
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "crt")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=hook", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bundle = base64.b64encode(open(certificate, "rb").read()).decode()
    return f"https://127.0.0.1:{server.server_port}", bundle


def named(name, **more):
    return {"metadata": {"name": name}, **more}


def pod(name, **more):
    return named(name, spec={"containers": [{"name": "c", "image": "i"}], **more})


def requests_of_all_verbs(api):
    api.request("POST", "/api/v1/namespaces", named("load", ) | {"metadata": {"name": "load", "labels": {
        "pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "restricted"}}})
    api.request("POST", "/api/v1/namespaces/load/serviceaccounts", named("default"))
    for name in ("a", "b", "c"):
        api.request("POST", MAPS, named(name, data={"k": "v"}))
    api.request("POST", MAPS, named("a"))
    api.request("POST", MAPS, named("Bad_Name"))
    api.request("POST", MAPS, "{")
    api.request("POST", MAPS + "?dryRun=All", named("dry"))
    api.request("POST", MAPS + "?fieldValidation=Strict", named("d", wrong=1))
    api.request("POST", MAPS + "?fieldValidation=Warn", named("d", wrong=1))
    api.request("PUT", f"{MAPS}/b", named("b", data={"k": "w"}))
    api.request("PATCH", f"{MAPS}/b", {"data": {"k": "x"}}, content="application/merge-patch+json")
    api.request("PATCH", f"{MAPS}/b", {"data": {"k": "y"}}, content="application/strategic-merge-patch+json")
    api.request("PATCH", f"{MAPS}/b?fieldManager=m&force=true", {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "b"}, "data": {"k": "z"}}, content="application/apply-patch+yaml")
    api.request("DELETE", f"{MAPS}/c")
    api.request("DELETE", f"{MAPS}/c")
    for path in (MAPS, f"{MAPS}?limit=1", f"{MAPS}?resourceVersion=0", f"{MAPS}?labelSelector=a%3Db", "/api/v1/configmaps",
                 f"{MAPS}/a", f"{MAPS}/none", "/api/v1/nodes", "/api/v1/made-up", "/made-up", "/api/v1/componentstatuses",
                 "/api/v1/namespaces/load/endpoints", "/api", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/livez",
                 "/readyz", "/healthz", "/livez/ping", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/", "/metrics",
                 "/flagz", "/statusz", "/metrics/slis", "/apis/apps/v1/namespaces/load/deployments/x/scale"):
        api.request("GET", path)
        api.request("HEAD", path)
    api.request("GET", "/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
    api.request("GET", MAPS, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    api.request("OPTIONS", MAPS)
    api.request("DELETE", f"{MAPS}?labelSelector=x%3Dy")
    stream = "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    for query in ("?watch=1&timeoutSeconds=1", "?watch=1&timeoutSeconds=1" + stream, "?watch=1&resourceVersion=x"):
        api.request("GET", MAPS + query)
    api.request("GET", "/api/v1/watch/configmaps?timeoutSeconds=1")


def pods_and_services(api):
    pods = "/api/v1/namespaces/load/pods"
    api.request("POST", pods, pod("good"))
    api.request("POST", pods, pod("bad", hostNetwork=True))
    api.request("PUT", f"{pods}/good/status", pod("good") | {"status": {"phase": "Running"}})
    api.request("GET", f"{pods}/good/log")
    api.request("POST", f"{pods}/good/exec?command=a")
    api.request("POST", f"{pods}/good/eviction", named("good"))
    api.request("DELETE", f"{pods}/good?gracePeriodSeconds=0")
    services = "/api/v1/namespaces/load/services"
    port = [{"port": 80}]
    api.request("POST", services, named("one", spec={"ports": port}))
    api.request("POST", services, named("two", spec={"ports": port, "type": "NodePort"}))
    api.request("POST", services, named("fixed", spec={"ports": port, "clusterIP": "10.0.0.77"}))
    api.request("POST", services, named("taken", spec={"ports": port, "clusterIP": "10.0.0.77"}))
    api.request("POST", services, named("outside", spec={"ports": port, "clusterIP": "10.9.0.77"}))
    node_port = [{"port": 80, "nodePort": 30100}]
    api.request("POST", services, named("port", spec={"ports": node_port, "type": "NodePort"}))
    api.request("POST", services, named("port2", spec={"ports": node_port, "type": "NodePort"}))
    api.request("DELETE", f"{services}/one")
    request = {"request": "", "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"],
               "expirationSeconds": 3600}
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/k", "-subj", "/CN=u"],
                              check=True, capture_output=True).stdout
    request["request"] = base64.b64encode(made).decode()
    api.request("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", named("csr", spec=request))


def identities(api):
    token = api.request("POST", "/api/v1/namespaces/load/serviceaccounts/default/token",
                    {"spec": {"expirationSeconds": 3600}})[1]["status"]["token"]
    for _ in range(3):
        api.request("GET", MAPS, token=token)
    secret = named("legacy", type="kubernetes.io/service-account-token")
    secret["metadata"]["annotations"] = {"kubernetes.io/service-account.name": "default"}
    api.request("POST", "/api/v1/namespaces/load/secrets", secret)
    api.request("GET", MAPS, token="wrong")
    api.request("GET", MAPS, token=token[:-4] + "AAAA")
    api.request("GET", MAPS, token=None)
    api.request("GET", MAPS, Impersonate_User="someone")
    api.request("GET", MAPS, Impersonate_User="someone", Impersonate_Group="system:masters")
    api.request("GET", MAPS, Impersonate_User="system:node:n", Impersonate_Group="system:nodes")
    api.request("GET", MAPS, token=token, Impersonate_User="someone")
    api.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token}})
    attributes = {"verb": "get", "resource": "pods"}
    api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"user": "u", "resourceAttributes": attributes}})
    api.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {"resourceAttributes": attributes}})


def custom_resources(api, url, bundle):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True,
              "properties": {"n": {"type": "integer", "maximum": 9}}, "x-kubernetes-validations": [
                  {"rule": "!has(self.n) || self.n != 3"}]}}}
    version = lambda name, stored: {"name": name, "served": True, "storage": stored, "schema": {"openAPIV3Schema": schema}}
    hook = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": f"{url}/convert", "caBundle": bundle}}}
    api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", named("things.load.example.com", spec={
        "group": "load.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "conversion": hook,
        "versions": [version("v1", True), version("v2", False)]}))
    things = "/apis/load.example.com/v1/namespaces/load/things"
    api.until(200, "GET", things)
    thing = lambda name, n, v="v1": {"apiVersion": f"load.example.com/{v}", "kind": "Thing", **named(name, spec={"n": n})}
    for name, n in (("a", 1), ("b", 3), ("c", 10)):
        api.request("POST", things, thing(name, n))
    api.request("PATCH", f"{things}/a", {"spec": {"n": 2}}, content="application/merge-patch+json")
    api.request("GET", things.replace("/v1/", "/v2/"))
    api.request("GET", things.replace("/v1/", "/v2/") + "/a")
    api.request("DELETE", f"{things}/a")
    api.request("POST", "/apis/apiregistration.k8s.io/v1/apiservices", named("v1.gone.example.com", spec={
        "group": "gone.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "insecureSkipTLSVerify": True,
        "service": {"namespace": "load", "name": "none"}}))


def admission(api, url, bundle):
    rule = lambda resource: {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    spec = {"matchConstraints": {"resourceRules": [rule("configmaps")]}, "matchConditions": [
        {"name": "c", "expression": "object.metadata.name != 'spared'"}],
        "validations": [{"expression": "object.metadata.name != 'unwanted'"}]}
    api.request("POST", f"{ADMISSION}/validatingadmissionpolicies", named("policy", spec=spec))
    for name, actions in (("deny", ["Deny"]), ("warn", ["Warn", "Audit"])):
        api.request("POST", f"{ADMISSION}/validatingadmissionpolicybindings", named(name, spec={
            "policyName": "policy", "validationActions": actions}))
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {
        "expression": "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}"}}
    spec = {"matchConstraints": {"resourceRules": [rule("configmaps")]}, "reinvocationPolicy": "Never", "mutations": [mutation],
            "failurePolicy": "Fail"}
    api.request("POST", f"{ADMISSION}/mutatingadmissionpolicies", named("mutate", spec=spec))
    api.request("POST", f"{ADMISSION}/mutatingadmissionpolicybindings", named("mutate", spec={"policyName": "mutate"}))
    def hook(name, path, resource, **more):
        return {"name": f"{name}.example.com", "clientConfig": {"url": url + path, "caBundle": bundle}, "rules": [rule(resource)],
                "sideEffects": "None", "admissionReviewVersions": ["v1"], **more}
    conditions = {"matchConditions": [{"name": "n", "expression": "object.metadata.name != 'spared'"}]}
    api.request("POST", f"{ADMISSION}/validatingwebhookconfigurations", named("validating", webhooks=[
        hook("pass", "/pass", "configmaps", **conditions), hook("deny", "/deny", "secrets"),
        hook("open", "/fail", "endpoints", failurePolicy="Ignore"), hook("fail", "/fail", "limitranges", failurePolicy="Fail")]))
    api.request("POST", f"{ADMISSION}/mutatingwebhookconfigurations", named("mutating", webhooks=[
        hook("mutating", "/pass", "configmaps")]))
    api.until(422, "POST", MAPS + "?dryRun=All", named("unwanted"))
    time.sleep(2)  # the webhooks are followed in the background
    for name in ("wanted", "spared"):
        api.request("POST", MAPS, named(name))
    api.request("POST", "/api/v1/namespaces/load/secrets", named("denied"))
    api.request("POST", "/api/v1/namespaces/load/endpoints", named("opened"))
    api.request("POST", "/api/v1/namespaces/load/limitranges", named("failed"))


def load(address):
    api = Client(address)
    with tempfile.TemporaryDirectory() as folder:
        url, bundle = serve_hooks(folder)
        requests_of_all_verbs(api)
        pods_and_services(api)
        identities(api)
        custom_resources(api, url, bundle)
        admission(api, url, bundle)
        api.request("DELETE", "/api/v1/namespaces/load/configmaps")
    return api


def scrape(api):
    """Returns the metrics of a scrape: help, type, labels, buckets, series with values."""
    text, found = api.request("GET", "/metrics")[1], {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, help_text = line[7:].partition(" ")[::2]
            level = re.match(r"(?:EXPERIMENTAL: )?\[(\w+)\]", help_text)
            metric = found[name] = {"level": level[1] if level else "", "labels": set(), "buckets": set(), "series": {}}
        elif line.startswith("# TYPE "):
            metric["type"] = line.split(" ")[3]
        else:
            series, _, value = line.rpartition(" ")
            series, _, labels = series.partition("{")
            pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
            metric["buckets"].update(value for name, value in pairs if name == "le")
            pairs = sorted(pair for pair in pairs if pair[0] not in ("le", "quantile"))
            metric["labels"].update(name for name, _ in pairs)
            if series.endswith("_bucket") and metric["type"] == "histogram":
                continue
            if series.endswith("_sum") and metric["type"] in ("histogram", "summary"):
                continue
            metric["series"][",".join(f"{name}={value}" for name, value in pairs)] = value
    return found


def compare(upstream, here, values):
    for name in sorted(upstream.keys() | here.keys()):
        if name not in here or name not in upstream:
            side = here.get(name) or upstream[name]
            print(f"{'-' if name in upstream else '+'} {name} [{side['level']}] {side['type']} {sorted(side['labels'])}")
            continue
        one, two = upstream[name], here[name]
        for part in ("level", "type", "labels", "buckets"):
            if one[part] != two[part]:
                print(f"~ {name} {part}: {one[part]} {two[part]}")
        for series in sorted(one["series"].keys() | two["series"].keys()):
            if series not in two["series"] or series not in one["series"]:
                print(f"  {'-' if series in one['series'] else '+'} {name}{{{series}}} {one['series'].get(series, two['series'].get(series))}")
            elif values and one["type"] != "gauge" and one["series"][series] != two["series"][series]:
                print(f"  = {name}{{{series}}} {one['series'][series]} {two['series'][series]}")


def main():
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    apis = [load(address) for address in addresses]
    time.sleep(35)
    compare(*[scrape(api) for api in apis], "--values" in sys.argv)


if __name__ == "__main__":
    main()
