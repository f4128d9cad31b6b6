#!/usr/bin/env python3
"""Creates an object of every kind at two servers on etcd, and compares responses, warnings, and stored values.

    tests/parity/kinds.py UPSTREAM UPSTREAM-ETCD HERE HERE-ETCD DATA

The objects are the stubs of upstream's `test/integration/etcd/data.go`, in the file DATA. The etcds are client addresses.
"""

import base64
import json
import re
import sys
import urllib.request

from common import Api, differences, plain

NAMESPACE = "etcdstoragepathtestnamespace"


def stubs(path):
    """Yields group, version, resource and object of each stub."""
    text = open(path).read()
    pattern = r'gvr\("([^"]*)", "([^"]*)", "([^"]*)"\): \{\s*Stub:\s*(.*?),\n\s*(?:Expected|Introduced)'
    for group, version, resource, stub in re.findall(pattern, text, re.S):
        pieces = re.findall(r'`([^`]*)`|"((?:[^"\\]|\\.)*)"', stub)
        source = "".join(raw or json.loads(f'"{quoted}"') for raw, quoted in pieces) if "image" not in stub else None
        if source is None:
            source = re.sub(r'`\s*\+\s*image\s*\+\s*`', "registry/image", stub).strip("` \n")
        try:
            yield group, version, resource, json.loads(source)
        except ValueError:
            print(f"  no stub can be read of {group} {version} {resource}")


def collection(api, group, version, resource):
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    code, listed = api.request("GET", root)
    known = {entry["name"]: entry for entry in listed["resources"]} if code == 200 else {}
    if resource not in known:
        return None
    return f"{root}/namespaces/{NAMESPACE}/{resource}" if known[resource]["namespaced"] else f"{root}/{resource}"


def stored(etcd):
    """Returns the keys, each with the prefix of its value, the kind of its value, and whether it has a lease."""
    body = json.dumps({"key": base64.b64encode(b"/registry/").decode(), "range_end": base64.b64encode(b"/registry0").decode()})
    request = urllib.request.Request(f"{etcd}/v3/kv/range", body.encode(), {"Content-Type": "application/json"})
    found = {}
    for pair in json.load(urllib.request.urlopen(request))["kvs"]:
        value = base64.b64decode(pair.get("value", ""))
        begin = value[:4] if value[:4] == b"k8s\0" else value[:1]
        kind = re.findall(rb"[\x01-\x7f]([a-zA-Z0-9./]+)\x12.([A-Z][A-Za-z]+)", value[4:80]) if begin == b"k8s\0" else ""
        found[base64.b64decode(pair["key"]).decode()] = str((begin, kind[:1], "lease" in pair))
    return found


def main():
    upstream, upstream_etcd, here, here_etcd, data = sys.argv[1:6]
    apis = [Api(upstream), Api(here)]
    for api in apis:
        api.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        api.request("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})
    kinds = alike = warned = 0
    for group, version, resource, stub in stubs(data):
        paths = [collection(api, group, version, resource) for api in apis]
        if paths[0] != paths[1]:
            print(f"  {group} {version} {resource}: {paths}")
        if None in paths:
            continue
        kinds += 1
        answers = [api.answer("POST", f"{path}?fieldValidation=Warn", stub) for api, path in zip(apis, paths)]
        (one, first, left), (two, second, right) = answers
        found = [("code", one, two)] if one != two else []
        found += [("Warning", left.get_all("Warning"), right.get_all("Warning"))] if left.get_all("Warning") != right.get_all("Warning") else []
        found += list(differences(plain(first), plain(second)))
        warned += left.get_all("Warning") is not None
        alike += not found
        for path, a, b in found:
            print(f"  {group} {version} {resource} {path}: {str(a)[:150]} | {str(b)[:150]}")
    print(f"kinds: {kinds} created, {alike} answered alike, {warned} with warnings")
    one, two = stored(upstream_etcd), stored(here_etcd)
    made_up = re.compile(r"/(leases/kube-system/apiserver-|masterleases/|peerserverleases/|events/|ipaddresses/)")
    found = [each for each in differences(one, two) if not made_up.search(each[0])]
    print(f"keys: {len(one)} of upstream, {len(two)} here, {len(found)} differ")
    for path, a, b in found:
        print(f"  {path[1:]}: {a} | {b}")


if __name__ == "__main__":
    main()
