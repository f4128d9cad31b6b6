"""Runs the image as the aggregated server of another server, with the pod of deploy/kubernetes/aggregated."""

import base64
import json
import shlex
import subprocess

from .container import mount_as_engine, pod_of, unpack
from .program import ROOT
from .trial import Service, add_address, fail, run, step, wait_for

# A group version that the main server does not serve, in place of a group of somebody's own.
GROUP, VERSION, RESOURCE = "coordination.k8s.io", "v1alpha2", "leasecandidates"
NAME, NAMESPACE = "aggregated-apiserver", "kube-system"
# Address of the pod, and the port that the main server leaves free.
ADDRESS, PORT = "192.0.2.7", 6444
SECRETS = "var/run/secrets/kubernetes.io/serviceaccount"
CANDIDATE = {
    "apiVersion": f"{GROUP}/{VERSION}", "kind": "LeaseCandidate", "metadata": {"name": "one", "namespace": "default"},
    "spec": {"leaseName": "some", "strategy": "OldestEmulationVersion", "binaryVersion": "1.0.0", "emulationVersion": "1.0.0"},
}


def prepare(root, main, kubectl):
    """Writes the files that a kubelet mounts into the pod."""
    (root / SECRETS).mkdir(parents=True)
    (root / SECRETS / "token").write_text(run(*kubectl, "create", "token", NAME, f"--namespace={NAMESPACE}"))
    (root / SECRETS / "ca.crt").write_bytes((main.data / "pki/ca.crt").read_bytes())
    (root / "etc/hosts").write_text("127.0.0.1 localhost kubernetes.default.svc\n")
    maps = json.loads(run(*kubectl, "get", "configmaps", f"--namespace={NAMESPACE}", "-o=json"))["items"]
    for folder, prefix in (("authentication", "extension-apiserver-authentication"), ("cluster", NAME)):
        target = root / "etc/kube-apiserver" / folder
        target.mkdir(parents=True)
        for name, text in next(one for one in maps if one["metadata"]["name"].startswith(prefix))["data"].items():
            # The main server of this trial does not listen on port 443.
            (target / name).write_text(text.replace("kubernetes.default.svc", f"kubernetes.default.svc:{main.port}"))


def register(kubectl, service, folder):
    """Makes the main server forward requests: as the base does, for another group, with the address of the pod."""
    authority = base64.b64encode((service.data / "pki/ca.crt").read_bytes()).decode()
    meta = {"name": f"{NAME}-1", "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": NAME}}
    objects = [
        {
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"{VERSION}.{GROUP}"},
            "spec": {
                "group": GROUP, "version": VERSION, "groupPriorityMinimum": 1000, "versionPriority": 15,
                "service": {"name": NAME, "namespace": NAMESPACE, "port": 443}, "caBundle": authority,
            },
        },
        {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta, "addressType": "IPv4",
            "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}],
        },
    ]
    file = folder / "registration.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    run(*kubectl, "apply", "--server-side", "-f", file)
    run(*kubectl, "wait", "--for=condition=Available", "--timeout=60s", f"apiservice/{VERSION}.{GROUP}")


def check(kubectl, folder):
    """Sends requests through the main server, as its administrator and as a user without permissions."""
    file = folder / "candidate.json"
    file.write_text(json.dumps(CANDIDATE))
    path = f"/apis/{GROUP}/{VERSION}/namespaces/default/{RESOURCE}"
    run(*kubectl, "create", f"--raw={path}", "-f", file)
    if '"name":"one"' not in run(*kubectl, "get", f"--raw={path}"):
        fail("the aggregated server has not stored the object")
    # The main server reads the discovery documents of others in the background.
    wait_for(lambda: RESOURCE in run(*kubectl, "api-resources", f"--api-group={GROUP}"), "discovery of the aggregated server")
    refused = subprocess.run([*kubectl, "get", f"--raw={path}", "--as=jane"], capture_output=True, text=True)
    expected = f'User "jane" cannot list resource "{RESOURCE}" in API group "{GROUP}"'
    if refused.returncode == 0 or expected not in refused.stderr:
        fail(f"the aggregated server answers a user without permissions: {refused}")


def try_aggregated(image, main, kubectl, folder):
    """Runs the image behind the main server."""
    add_address(ADDRESS)
    root, config = unpack(image, folder)
    data = next(iter(config["Volumes"]))
    mount_as_engine(root, data)
    prepare(root, main, kubectl)
    pod = pod_of(ROOT / "deploy/kubernetes/aggregated")
    arguments = [one.replace("$(POD_IP)", ADDRESS) for one in pod["spec"]["containers"][0]["args"]]
    added = [f"--secure-port={PORT}", f"--runtime-config={GROUP}/{VERSION}=true"]
    command = config["Entrypoint"] + arguments + added
    service = Service(root, command, {}, data, folder / "server.log", PORT)
    service.expect("READY=1")
    run(*service.inside(config["Healthcheck"]["Test"][1:]))
    register(kubectl, service, folder)
    check(kubectl, folder)
    service.stop()
    step(f"the image runs behind another server: {shlex.join(command)}")
