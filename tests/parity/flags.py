#!/usr/bin/env python3
"""Starts two programs with valid and invalid flags and configuration files, and compares which they reject.

    tests/parity/flags.py UPSTREAM-PROGRAM HERE-PROGRAM ETCD [PATTERN]

A program that still runs after some seconds has accepted its flags. Upstream keeps what it stores in the etcd at ETCD, an address of
clients, below a prefix of the case; the program here has its own store, in a folder of the case, unless a case is about etcd.
PATTERN chooses cases.
"""

import concurrent.futures
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

BASE = {
    "etcd-servers": "{etcd}", "etcd-prefix": "{prefix}", "service-account-issuer": "https://kubernetes.default.svc", "secure-port": "{port}",
    "service-account-key-file": "{key}", "service-account-signing-key-file": "{key}", "service-cluster-ip-range": "10.0.0.0/24",
    "authorization-mode": "RBAC", "bind-address": "127.0.0.1", "cert-dir": "{folder}", "advertise-address": "192.0.2.1"}
#: Flags that replace or extend those of `BASE`; `None` removes one.
CASES = [
    {}, {"made-up": "1"}, {"secure-port": "-1"}, {"secure-port": "65536"}, {"secure-port": "x"}, {"bind-address": "nowhere"},
    {"etcd-servers": None}, {"etcd-prefix": ""}, {"etcd-compaction-interval": "-1s"}, {"etcd-count-metric-poll-period": "x"},
    {"etcd-db-metric-poll-interval": "-1s"}, {"storage-backend": "etcd2"}, {"storage-media-type": "text/plain"},
    {"service-account-issuer": None}, {"service-account-issuer": "no url:"}, {"service-account-issuer": "http://a"},
    {"service-account-key-file": "/nowhere"}, {"service-account-signing-key-file": None}, {"service-account-max-token-expiration": "-1s"},
    {"service-account-max-token-expiration": "1m"}, {"service-account-jwks-uri": "http://a"}, {"service-account-extend-token-expiration": "x"},
    {"service-cluster-ip-range": "10.0.0.0"}, {"service-cluster-ip-range": "10.0.0.0/8"}, {"service-cluster-ip-range": "10.0.0.0/31"},
    {"service-cluster-ip-range": "10.0.0.0/24,10.1.0.0/24"}, {"service-cluster-ip-range": "10.0.0.0/24,fd00::/108"},
    {"service-cluster-ip-range": "fd00::/108"}, {"service-cluster-ip-range": "fd00::/64"}, {"service-node-port-range": "1-0"},
    {"service-node-port-range": "30000"}, {"service-node-port-range": "30000+10"}, {"service-node-port-range": "0-70000"},
    {"kubernetes-service-node-port": "-1"}, {"authorization-mode": "Made"}, {"authorization-mode": "RBAC,RBAC"}, {"authorization-mode": "Webhook"},
    {"authorization-mode": "ABAC"}, {"authorization-policy-file": "/nowhere"}, {"authorization-webhook-version": "v2"},
    {"authorization-webhook-cache-authorized-ttl": "-1s"}, {"authentication-token-webhook-cache-ttl": "-1s"},
    {"authentication-token-webhook-version": "v2"}, {"authentication-token-webhook-config-file": "/nowhere"}, {"anonymous-auth": "x"},
    {"anonymous-auth": "true", "authorization-mode": "AlwaysAllow"}, {"oidc-issuer-url": "http://a", "oidc-client-id": "a"},
    {"oidc-issuer-url": "https://a"}, {"oidc-client-id": "a"}, {"oidc-signing-algs": "HS256", "oidc-issuer-url": "https://a", "oidc-client-id": "a"},
    {"oidc-required-claim": "a", "oidc-issuer-url": "https://a", "oidc-client-id": "a"}, {"client-ca-file": "/nowhere"},
    {"tls-cert-file": "/nowhere"}, {"tls-private-key-file": "/nowhere"}, {"tls-min-version": "VersionTLS09"}, {"tls-cipher-suites": "Made"},
    {"tls-cipher-suites": "TLS_RSA_WITH_RC4_128_SHA"}, {"tls-sni-cert-key": "a"}, {"strict-transport-security-directives": "made-up"},
    {"strict-transport-security-directives": "max-age=1"}, {"runtime-config": "foo/v1"}, {"runtime-config": "api/all=x"},
    {"runtime-config": "apps/v9=true"}, {"runtime-config": "api/beta=true"}, {"runtime-config": "apps/v1/made=true"}, {"feature-gates": "Made=true"},
    {"feature-gates": "APIServerTracing=x"}, {"feature-gates": "AllAlpha=true"}, {"feature-gates": "WatchList=false"}, {"max-requests-inflight": "-1"},
    {"max-mutating-requests-inflight": "-1"}, {"max-requests-inflight": "0", "max-mutating-requests-inflight": "0"}, {"request-timeout": "0s"},
    {"min-request-timeout": "-1"}, {"shutdown-delay-duration": "-1s"}, {"livez-grace-period": "-1s"}, {"goaway-chance": "1"}, {"goaway-chance": "-0.1"},
    {"goaway-chance": "0.01"}, {"max-resource-write-bytes": "-1"}, {"json-patch-max-copy-bytes": "-1"}, {"external-hostname": "a b"},
    {"advertise-address": "nowhere"}, {"advertise-address": "fd00::1"}, {"endpoint-reconciler-type": "made"}, {"event-ttl": "-1s"},
    {"event-ttl": "0s"}, {"default-watch-cache-size": "-1"}, {"watch-cache-sizes": "pods"}, {"watch-cache-sizes": "pods#-1"}, {"watch-cache-sizes": "pods#x"},
    {"admission-control-config-file": "/nowhere"}, {"enable-admission-plugins": "Made"}, {"disable-admission-plugins": "Made"},
    {"enable-admission-plugins": "NodeRestriction", "disable-admission-plugins": "NodeRestriction"}, {"audit-log-maxage": "-1"},
    {"audit-log-maxbackup": "-1"}, {"audit-log-maxsize": "-1"}, {"audit-log-format": "xml"}, {"audit-log-mode": "made"}, {"audit-policy-file": "/nowhere"},
    {"audit-log-path": "-", "audit-log-batch-buffer-size": "0", "audit-log-mode": "batch"}, {"audit-log-version": "audit.k8s.io/v2"},
    {"audit-webhook-mode": "made"}, {"audit-webhook-config-file": "/nowhere"}, {"audit-webhook-initial-backoff": "-1s"},
    {"encryption-provider-config": "/nowhere"}, {"egress-selector-config-file": "/nowhere"}, {"tracing-config-file": "/nowhere"},
    {"authentication-config": "/nowhere"}, {"authorization-config": "/nowhere", "authorization-mode": None}, {"proxy-client-cert-file": "/nowhere"},
    {"requestheader-client-ca-file": "/nowhere"}, {"aggregator-reject-forwarding-redirect": "x"}, {"kubelet-preferred-address-types": "Made"},
    {"kubelet-port": "x"}, {"logging-format": "made"}, {"logging-format": "json"}, {"v": "x"}, {"vmodule": "a"}, {"log-flush-frequency": "x"},
    {"log-text-split-stream": "true"}, {"log-json-split-stream": "true"}, {"log-json-info-buffer-size": "x"}, {"profiling": "x"}, {"cors-allowed-origins": "("},
    {"emulated-version": "1.0"}, {"emulated-version": "1.37"}, {"min-compatibility-version": "1.0"}, {"peer-advertise-port": "x"}, {"peer-ca-file": "/nowhere"},
    {"http2-max-streams-per-connection": "-1"}, {"permit-port-sharing": "x"}, {"lease-reuse-duration-seconds": "-1"}, {"delete-collection-workers": "0"},
    {"enable-aggregator-routing": "x"}, {"enable-priority-and-fairness": "false"}, {"coordinated-leadership-lease-duration": "-1s"},
    {"show-hidden-metrics-for-version": "1.34"}, {"show-hidden-metrics-for-version": "1.35"}, {"show-hidden-metrics-for-version": "x"},
    {"disabled-metrics": "Made"}, {"allow-metric-labels": "a,b=c"}, {"allow-metric-labels": "a"}, {"service-account-lookup": "x"},
    {"storage-initialization-timeout": "0s"}, {"service-account-signing-endpoint": "/nowhere"}, {"debug-socket-path": "/nowhere/a"},
    {"shutdown-watch-termination-grace-period": "-1s"}, {"contention-profiling": "true"}, {"allow-privileged": "x"}, {"apiserver-count": "0"},
]
ADMISSION = "apiserver.config.k8s.io/v1"
#: A flag, and documents for its file.
DOCUMENTS = [
    ("admission-control-config-file", [
        {"apiVersion": ADMISSION, "kind": "AdmissionConfiguration", "plugins": [{"name": name, "configuration": document}]}
        for name, document in [
            ("ResourceQuota", {"apiVersion": ADMISSION, "kind": "ResourceQuotaConfiguration", "limitedResources": [
                {"apiGroup": "", "resource": "pods", "matchContains": ["pods"]}]}),
            ("ResourceQuota", {"apiVersion": ADMISSION, "kind": "ResourceQuotaConfiguration", "made": 1}),
            ("ValidatingAdmissionWebhook", {"apiVersion": ADMISSION, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": "{kubeconfig}"}),
            ("MutatingAdmissionWebhook", {"apiVersion": ADMISSION, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": "/nowhere"}),
            ("MutatingAdmissionWebhook", {"apiVersion": ADMISSION, "kind": "WebhookAdmissionConfiguration", "made": 1}),
            ("PodSecurity", {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration", "defaults": {"enforce": "baseline"}}),
            ("PodSecurity", {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration", "defaults": {"enforce": "made"}}),
            ("EventRateLimit", {"apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration", "limits": [{"type": "Made", "qps": 1, "burst": 1}]}),
            ("PodNodeSelector", {"podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "a=b"}}),
            ("LimitRanger", {"apiVersion": ADMISSION, "kind": "Made"}), ("Made", {"a": 1})]]),
    ("authorization-config", [
        {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": authorizers} for authorizers in [
            [{"type": "RBAC", "name": "rbac"}], [{"type": "RBAC", "name": "a"}, {"type": "RBAC", "name": "b"}], [], [{"type": "Made", "name": "a"}],
            [{"type": "Webhook", "name": "a", "webhook": {"timeout": "3s", "subjectAccessReviewVersion": "v1", "failurePolicy": "NoOpinion",
              "matchConditionSubjectAccessReviewVersion": "v1", "connectionInfo": {"type": "InClusterConfig"}}}],
            [{"type": "Webhook", "name": "a", "webhook": {"timeout": "3s", "subjectAccessReviewVersion": "v1", "failurePolicy": "NoOpinion",
              "matchConditionSubjectAccessReviewVersion": "v1", "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "{kubeconfig}"},
              "matchConditions": [{"expression": "request.made"}]}}],
            [{"type": "Webhook", "name": "a", "webhook": {"timeout": "3s", "subjectAccessReviewVersion": "v1", "failurePolicy": "NoOpinion",
              "matchConditionSubjectAccessReviewVersion": "v1", "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "{kubeconfig}"}}}]]]),
    ("authentication-config", [
        {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", **more} for more in [
            {"jwt": []}, {"made": 1}, {"anonymous": {"enabled": True, "conditions": [{"path": "/livez"}]}},
            {"jwt": [{"issuer": {"url": "http://a", "audiences": ["a"]}, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}}]},
            {"jwt": [{"issuer": {"url": "https://a", "audiences": ["a"]}, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}}]},
            {"jwt": [{"issuer": {"url": "https://a", "audiences": ["a"], "egressSelectorType": "cluster"}, "claimMappings": {
                "username": {"claim": "sub", "prefix": ""}}}]},
            {"jwt": [{"issuer": {"url": "https://a", "audiences": []}, "claimMappings": {"username": {"expression": "claims.made("}}}]}]]),
    ("encryption-provider-config", [
        {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": resources} for resources in [
            [{"resources": ["secrets"], "providers": [{"identity": {}}]}], [{"resources": [], "providers": []}],
            [{"resources": ["secrets"], "providers": [{"aescbc": {"keys": [{"name": "a", "secret": "MTIz"}]}}]}],
            [{"resources": ["secrets", "*.*"], "providers": [{"identity": {}}]}],
            [{"resources": ["secrets"], "providers": [{"kms": {"apiVersion": "v1", "name": "a", "endpoint": "unix:///nowhere"}}]}]]]),
    ("audit-policy-file", [
        {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules} for rules in [
            [{"level": "None"}], [{"level": "Made"}], [], [{"level": "Request", "made": 1}], [{"level": "Metadata", "nonResourceURLs": ["a*b"]}],
            [{"level": "Metadata", "omitStages": ["Made"]}]]]),
    ("egress-selector-config-file", [
        {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": selections} for selections in [
            [{"name": "cluster", "connection": {"proxyProtocol": "Direct"}}], [{"name": "made", "connection": {"proxyProtocol": "Direct"}}],
            [{"name": "cluster", "connection": {"proxyProtocol": "Made"}}], [{"name": "cluster", "connection": {"proxyProtocol": "GRPC", "transport": {}}}]]]),
    ("tracing-config-file", [
        {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "TracingConfiguration", **more} for more in [
            {}, {"samplingRatePerMillion": -1}, {"endpoint": "a:b:c"}, {"made": 1}]]),
]


def known(program):
    """Returns the flags of `--help`, with those defaults that do not depend on the machine."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60).stdout
    return set(re.findall(r"^\s+(?:-\w, )?--([\w-]+)", text, re.M))


def outcome(program, change, files, has_store):
    """Returns whether a program accepts flags, and the end of its output."""
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            files = {**files, "folder": folder, "port": str(free.getsockname()[1]), "prefix": folder}
        flags = {**BASE, **change}
        if has_store and "etcd-servers" not in change:
            flags.update({"etcd-servers": None, "etcd-prefix": None, "data-dir": "{folder}"})
        fill = lambda text: re.sub(r"\{(key|folder|kubeconfig|port|etcd|prefix)\}", lambda match: files[match[1]], text)
        if "document" in flags:
            flag, document = flags.pop("document")
            if flag == "authorization-config":
                flags["authorization-mode"] = None
            path = flags[flag] = os.path.join(folder, "document.json")
            with open(path, "w") as out:
                out.write(fill(json.dumps(document)))
        arguments = [f"--{name}={fill(value)}" for name, value in flags.items() if value is not None]
        run = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
        try:
            text = run.communicate(timeout=12)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            return True, run.communicate()[1][-300:]
        return False, text[-300:]


def main():
    programs = sys.argv[1:3]
    one, two = map(known, programs)
    print(f"flags: {len(one)} of upstream, {len(two)} here; not here: {sorted(one - two)}; only here: {sorted(two - one)}")
    cases = [(json.dumps(change), change) for change in CASES]
    cases += [(f"{flag} {json.dumps(document)}", {"document": (flag, document)}) for flag, documents in DOCUMENTS for document in documents]
    cases = [case for case in cases if len(sys.argv) < 5 or re.search(sys.argv[4], case[0])]
    with tempfile.TemporaryDirectory() as folder:
        files = {"key": os.path.join(folder, "key"), "kubeconfig": os.path.join(folder, "kubeconfig"), "etcd": sys.argv[3]}
        subprocess.run(["openssl", "genrsa", "-out", files["key"], "2048"], check=True, capture_output=True)
        with open(files["kubeconfig"], "w") as out:
            json.dump({"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}],
                       "current-context": "c"}, out)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda case: [outcome(program, case[1], files, at == 1) for at, program in enumerate(programs)], cases)
            differ = 0
            for (name, _), ((left, left_log), (right, right_log)) in zip(cases, answers):
                if left != right:
                    differ += 1
                    taken, refused = ("upstream", right_log) if left else ("here", left_log)
                    print(f"  {name}: only {taken} takes it: {refused.strip()[-200:]!r}")
    print(f"values: {len(cases) - differ} of {len(cases)} treated alike")


if __name__ == "__main__":
    main()
