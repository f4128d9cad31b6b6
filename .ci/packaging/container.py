"""Unpacks the image, and runs it as the pod of deploy/kubernetes/standalone."""

import hashlib
import json
import shlex
import subprocess
import tarfile

from .program import ROOT
from .trial import Service, fail, mount, run, step

# Address that the pod has.
ADDRESS = "192.0.2.1"


def pod_of(base):
    """Returns the pod of the stateful set of a base."""
    rendered = run("kubectl", "kustomize", base)
    sets = [text for text in rendered.split("\n---\n") if "\nkind: StatefulSet\n" in text]
    # An empty patch converts YAML to JSON without a server.
    stateful_set = json.loads(run("kubectl", "patch", "--local", "-f", "-", "--patch={}", "-o=json", input=sets[0]))
    template, meta = stateful_set["spec"]["template"], stateful_set["metadata"]
    claims = [one["metadata"]["name"] for one in stateful_set["spec"]["volumeClaimTemplates"]]
    spec = template["spec"]
    spec["volumes"] = spec.get("volumes", []) + [
        {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{meta['name']}-0"}} for name in claims
    ]
    labels = template["metadata"]["labels"]
    return {
        "apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": f"{meta['name']}-0", "namespace": meta["namespace"], "labels": labels},
    }


def blob(layout, descriptor):
    """Returns the content that a descriptor names, after a check of its digest."""
    content = (layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != descriptor["digest"] or len(content) != descriptor["size"]:
        fail(f"the blob {descriptor['digest']} has another content")
    return content


def unpack(package, folder):
    """Unpacks the image as a container engine does. Returns its root and its configuration."""
    folder.mkdir()
    layout, root = folder / "layout", folder / "root"
    with tarfile.open(package) as archive:
        archive.extractall(layout)
    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(layout, index["manifests"][0]))
    config = json.loads(blob(layout, manifest["config"]))
    mount("tmpfs", "tmpfs", root)
    for descriptor, expected in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        file = folder / "layer"
        file.write_bytes(blob(layout, descriptor))
        tar = subprocess.run(["gzip", "-dc", file], check=True, stdout=subprocess.PIPE).stdout
        if f"sha256:{hashlib.sha256(tar).hexdigest()}" != expected:
            fail(f"a layer has another content than {expected}")
        subprocess.run(["tar", "-x", "-C", root], input=tar, check=True)
    return root, config["config"]


def mount_as_engine(root, data):
    """Mounts what a container engine mounts."""
    for path, kind in (("proc", "proc"), (data.lstrip("/"), "tmpfs"), ("run", "tmpfs")):
        mount(kind, kind, root / path)


def try_image(package, folder):
    root, config = unpack(package, folder)
    if config["User"] != "65532:65532" or "6443/tcp" not in config["ExposedPorts"]:
        fail(f"the image has another user or port: {config}")
    pod = pod_of(ROOT / "deploy/kubernetes/standalone")
    arguments = [one.replace("$(POD_IP)", ADDRESS) for one in pod["spec"]["containers"][0]["args"]]
    data = next(iter(config["Volumes"]))
    mount_as_engine(root, data)
    # As in the pod.
    run("mount", "-o", "remount,bind,ro", root)
    command = config["Entrypoint"] + arguments
    service = Service(root, command, {}, data, folder / "image.log")
    service.check()
    probe = service.inside(config["Healthcheck"]["Test"][1:])
    run(*probe)
    service.stop()
    if subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        fail("the health check of a stopped server succeeds")
    step(f"the image runs from a read-only root: {shlex.join(command)}")
