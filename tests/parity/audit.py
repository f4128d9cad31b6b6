#!/usr/bin/env python3
"""Sends the same requests to two servers that write audit logs at level RequestResponse, and compares the events of each.

    tests/parity/audit.py UPSTREAM UPSTREAM-LOG HERE HERE-LOG

Requests are matched by the audit ID in their header. The servers are new, with a policy of one rule,
`{level: RequestResponse}`.
"""

import json
import sys
import time

from common import differences, plain
from metrics import Client, admission, custom_resources, identities, pods_and_services, requests_of_all_verbs, serve_hooks

#: Members of an event that differ between any two servers, or contain times.
OWN = ("stageTimestamp", "requestReceivedTimestamp", "sourceIPs")
LATENCIES = "apiserver.latency.k8s.io/"


class Named(Client):
    """Sends an audit ID with each request."""

    def __init__(self, address):
        super().__init__(address)
        self.sent = 0

    def answer(self, *request, **more):
        self.sent += 1
        return super().answer(*request, **more, Audit_ID=f"parity-{self.sent}", User_Agent="parity")

    def until(self, code, *request, **more):
        client = Client(f"https://{self.host}")
        client.until(code, *request, **more)


def events(path):
    found = {}
    with open(path) as lines:
        for line in lines:
            event = json.loads(line)
            if event["auditID"].startswith("parity-"):
                for name in OWN:
                    event.pop(name, None)
                annotations = event.get("annotations", {})
                event["annotations"] = {name: value for name, value in annotations.items() if not name.startswith(LATENCIES)}
                found[event["auditID"], event["stage"]] = plain(event)
    return found


def main():
    (upstream, upstream_log), (here, here_log) = sys.argv[1:3], sys.argv[3:5]
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        url, bundle = serve_hooks(folder)
        for address in (upstream, here):
            api = Named(address)
            requests_of_all_verbs(api)
            pods_and_services(api)
            identities(api)
            custom_resources(api, url, bundle)
            admission(api, url, bundle)
    time.sleep(5)
    one, two = events(upstream_log), events(here_log)
    alike, seen = 0, {}
    for key in sorted(one.keys() | two.keys(), key=str):
        found = list(differences(one.get(key), two.get(key)))
        alike += not found
        for path, a, b in found:
            seen.setdefault(path, []).append((key, (one.get(key) or two[key])["requestURI"], a, b))
    print(f"events: {len(one)} of upstream, {len(two)} here, {alike} alike")
    for path, cases in sorted(seen.items(), key=lambda item: -len(item[1])):
        key, uri, a, b = cases[0]
        print(f"  {len(cases)} {path}: {key} {uri}: {str(a)[:200]} | {str(b)[:200]}")


if __name__ == "__main__":
    main()
