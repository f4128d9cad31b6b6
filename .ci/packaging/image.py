"""The container image, in OCI's layout: https://github.com/opencontainers/image-spec/blob/main/image-layout.md

The last stage of `Dockerfile` is the only statement of the configuration. A container engine
executes it; this module reads it.
"""

import hashlib
import json
import re
from datetime import datetime, timezone
from pathlib import Path

from .program import NAME, ROOT, SUMMARY, git
from .tree import Tree, compressed

USER = 65532
DATA = f"/var/lib/{NAME}"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# The packages of Debian that own the copied files.
SOURCES = ("libc6", "libgcc-s1", "ca-certificates")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
NANOSECONDS = {"s": 10**9, "m": 60 * 10**9}


def base(program):
    """Returns the files besides the program: its loader and libraries, and what they read."""
    tree = Tree(program.time)
    for path in program.libraries():
        tree.file(path, Path(path).read_bytes(), 0o755)
    tree.file("/etc/passwd", f"root:x:0:0:root:/:/sbin/nologin\n{NAME}:x:{USER}:{USER}::{DATA}:/sbin/nologin\n")
    tree.file("/etc/group", f"root:x:0:\n{NAME}:x:{USER}:\n")
    # Names of hosts: without this file some releases of glibc do not read /etc/hosts.
    tree.file("/etc/nsswitch.conf", "hosts: files dns\n")
    if not Path(CERTIFICATES).exists():
        raise SystemExit(f"packages: there is no {CERTIFICATES}: install ca-certificates")
    tree.file(CERTIFICATES, Path(CERTIFICATES).read_bytes())
    for name in SOURCES:
        source = Path(f"/usr/share/doc/{name}/copyright")
        if source.exists():
            tree.file(str(source), source.read_bytes())
    return tree


def layers(program):
    """Returns the files of the layers by name, in their order; the name is that of a folder in `Dockerfile`."""
    main, data = Tree(program.time), Tree(program.time)
    main.file(f"/usr/bin/{NAME}", program.content, 0o755)
    main.file(f"/usr/share/doc/{NAME}/LICENSE", (ROOT / "LICENSE").read_bytes())
    data.folder(DATA, 0o755, USER)
    return {"base": base(program), "data": data, "program": main}


def instructions():
    """Returns instruction and argument of each line of the last stage of `Dockerfile`."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    last = max(index for index, (word, _) in enumerate(lines) if word == "FROM")
    return lines[last:]


def duration(text):
    return int(text[:-1]) * NANOSECONDS[text[-1]]


def health_check(argument):
    options = dict(re.findall(r"--([a-z-]+)=(\S+)", argument[: argument.index("CMD")]))
    return {
        "Test": ["CMD", *json.loads(argument.split("CMD", 1)[1])],
        "Interval": duration(options["interval"]),
        "Timeout": duration(options["timeout"]),
        "StartPeriod": duration(options["start-period"]),
        "Retries": int(options["retries"]),
    }


def configuration():
    """Returns the configuration of containers."""
    config = {}
    for word, argument in instructions():
        if word in ("FROM", "COPY"):
            continue
        elif word in ("ENTRYPOINT", "CMD"):
            config[word.capitalize()] = json.loads(argument)
        elif word == "USER":
            config["User"] = argument
        elif word == "WORKDIR":
            config["WorkingDir"] = argument
        elif word == "ENV":
            config.setdefault("Env", []).append(argument)
        elif word == "EXPOSE":
            config["ExposedPorts"] = {f"{port}/tcp": {} for port in argument.split()}
        elif word == "VOLUME":
            config["Volumes"] = {path: {} for path in json.loads(argument)}
        elif word == "STOPSIGNAL":
            config["StopSignal"] = argument
        elif word == "HEALTHCHECK":
            config["Healthcheck"] = health_check(argument)
        else:
            raise SystemExit(f"packages: the instruction {word} of Dockerfile is unknown here")
    return config


class Layout:
    """The files of a layout."""

    def __init__(self, time):
        self.tree = Tree(time)

    def blob(self, media_type, content):
        """Adds a file, and returns its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.tree.file(f"blobs/sha256/{digest}", content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def layout(program, level):
    """Returns the layout of the image, as a tar file that `docker load`, `podman load` and `skopeo` read."""
    created = datetime.fromtimestamp(program.time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    out = Layout(program.time)
    contents = {name: tree.tar() for name, tree in layers(program).items()}
    config = {
        "created": created, "architecture": program.architecture, "os": "linux", "config": configuration(),
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}" for content in contents.values()],
        },
        "history": [{"created": created, "created_by": f"COPY {name}"} for name in contents],
    }
    manifest = {
        "schemaVersion": 2, "mediaType": MANIFEST, "config": out.blob(CONFIG, config),
        "layers": [out.blob(LAYER, compressed(content, level)) for content in contents.values()],
        "annotations": {
            "org.opencontainers.image.created": created,
            "org.opencontainers.image.description": SUMMARY,
            "org.opencontainers.image.licenses": "Apache-2.0",
            "org.opencontainers.image.revision": git("rev-parse", "HEAD"),
            "org.opencontainers.image.title": NAME,
            "org.opencontainers.image.version": program.version,
        },
    }
    entry = out.blob(MANIFEST, manifest) | {
        "annotations": {
            # The names that containerd and skopeo read.
            "io.containerd.image.name": f"localhost/{NAME}:{program.version}",
            "org.opencontainers.image.ref.name": program.version,
        },
        "platform": {"architecture": program.architecture, "os": "linux"},
    }
    out.tree.file("index.json", json.dumps({"schemaVersion": 2, "manifests": [entry]}, sort_keys=True))
    out.tree.file("oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}))
    return out.tree.tar()
