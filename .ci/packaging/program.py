"""The program to package, and facts about it."""

import hashlib
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "kube-apiserver"
SUMMARY = "Kubernetes API server with an embedded store"
# ELF machines: names of Debian and OCI, and of Rust.
MACHINES = {0x3E: ("amd64", "x86_64"), 0xB7: ("arm64", "aarch64")}
EM_MACHINE = 18


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def commit_time():
    """Returns SOURCE_DATE_EPOCH, by default the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given) if given else int(git("log", "-1", "--format=%ct"))


class Program:
    """A built program and what its packages need to know about it."""

    def __init__(self, path):
        self.content = Path(path).read_bytes()
        if self.content[:4] != b"\x7fELF":
            raise SystemExit(f"packages: {path} is not an ELF program")
        machine = struct.unpack_from("<H", self.content, EM_MACHINE)[0]
        if machine not in MACHINES:
            raise SystemExit(f"packages: {path} is built for an unknown machine ({machine:#x})")
        self.path = Path(path).resolve()
        self.architecture, self.machine = MACHINES[machine]
        self.time = commit_time()
        manifest = (ROOT / "Cargo.toml").read_text()
        self.version = re.search(r'(?m)^version = "(.*)"$', manifest).group(1)
        self.sha256 = hashlib.sha256(self.content).hexdigest()

    def file_name(self, suffix):
        return f"{NAME}-{self.version}-linux-{self.architecture}{suffix}"

    def document(self, form):
        """Returns the flags of the program in a format of its command `help`."""
        return subprocess.run([self.path, "help", form], check=True, stdout=subprocess.PIPE).stdout

    def libraries(self):
        """Returns the paths of the loader and of the shared libraries that the program is linked to."""
        listed = subprocess.run(["ldd", self.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "not a dynamic executable" in listed.stdout or "statically linked" in listed.stdout:
            return []
        if listed.returncode or "not found" in listed.stdout:
            raise SystemExit(f"packages: a library of {self.path} is missing:\n{listed.stdout}")
        return sorted(re.findall(r"(?m)(?:=> |^\s+)(/\S+) \(0x", listed.stdout))

    def libc_version(self):
        """Returns the version of glibc that the program requires at least, or None."""
        versions = re.findall(rb"GLIBC_(\d+)\.(\d+)", self.content)
        newest = max(((int(major), int(minor)) for major, minor in versions), default=None)
        return newest and f"{newest[0]}.{newest[1]}"


def stripped(path, folder):
    """Returns the path of a copy without debug sections. Names of functions remain, for profiles and backtraces."""
    copy = Path(folder) / NAME
    subprocess.run(["strip", "--strip-debug", "-o", copy, path], check=True)
    return copy


def scratch():
    return tempfile.TemporaryDirectory(prefix="packages-")
