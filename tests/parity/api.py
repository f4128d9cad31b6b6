#!/usr/bin/env python3
"""Compares two new servers: discovery, OpenAPI v3, bootstrap objects, feature gates.

    tests/parity/api.py UPSTREAM HERE

UPSTREAM and HERE are addresses; both servers accept the token `admintoken` of a member of system:masters.
"""

import sys

from common import Api, differences, plain

DESCRIPTIONS = ("description",)


def discovery(api):
    documents = {path: api.request("GET", path)[1] for path in ("/api", "/apis", "/api/v1", "/version")}
    documents["/api"].pop("serverAddressByClientCIDRs", None)
    for group in documents["/apis"]["groups"]:
        for version in group["versions"]:
            path = f"/apis/{version['groupVersion']}"
            documents[path] = api.request("GET", path)[1]
    for path in ("/api", "/apis"):
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        documents[f"{path} aggregated"] = api.request("GET", path, Accept=accept)[1]
    for name in ("gitCommit", "goVersion", "compiler", "gitTreeState", "buildDate", "major", "minor"):
        documents["/version"].pop(name, None)
    return documents


def openapi(api):
    index = api.request("GET", "/openapi/v3")[1]["paths"]
    return {path: without_descriptions(api.request("GET", entry["serverRelativeURL"])[1]) for path, entry in index.items()}


def without_descriptions(value):
    if isinstance(value, dict):
        return {name: without_descriptions(part) for name, part in value.items()
                if name not in DESCRIPTIONS or not isinstance(part, str)}
    if isinstance(value, list):
        items = [without_descriptions(item) for item in value]
        return sorted(items, key=str) if all(isinstance(item, (str, dict)) for item in items) else items
    return value


def objects(api):
    found = {}
    groups = [("/api/v1", "")] + [
        (f"/apis/{group['preferredVersion']['groupVersion']}", group["name"]) for group in api.request("GET", "/apis")[1]["groups"]]
    for root, group in groups:
        code, listed = api.request("GET", root)
        for resource in listed["resources"] if code == 200 else []:
            if "list" not in resource["verbs"] or "/" in resource["name"] or resource["name"] == "events":
                continue
            listed = api.request("GET", f"{root}/{resource['name']}")[1]
            for item in listed.get("items") or []:
                meta = item["metadata"]
                name = "/".join((group, resource["name"], meta.get("namespace", ""), meta["name"]))
                if resource["name"] in ("leases", "ipaddresses", "endpoints", "endpointslices"):
                    item.pop("spec", None)
                found[name] = plain(item)
    return found


def gates(api):
    lines = api.request("GET", "/metrics")[1].splitlines()
    return {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in lines if line.startswith("kubernetes_feature_enabled{")}


def main():
    upstream, here = (Api(address) for address in sys.argv[1:3])
    for read in (discovery, openapi, objects, gates):
        one, two = read(upstream), read(here)
        found = list(differences(one, two))
        print(f"{read.__name__}: {len(one)} of upstream, {len(two)} here, {len(found)} differences")
        for path, left, right in found:
            print(f"  {path}: {str(left)[:160]} | {str(right)[:160]}")


if __name__ == "__main__":
    main()
