"""Runs packaged servers in namespaces of this process: their roots, their processes, and requests to them."""

import ctypes
import fcntl
import os
import shlex
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
import urllib.request
from pathlib import Path

# Unprivileged user of the servers.
USER = 65532
PORT = 6443
# Maximum time until a server is ready or ends, in seconds.
PATIENCE = 120
# Folders of the host that the root of a package needs.
COPIED = {"bin", "etc", "lib", "lib32", "lib64", "sbin", "usr", "var"}
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64


def fail(why):
    raise SystemExit(f"packages-try: {why}")


def step(text):
    print(f"packages-try: {text}", flush=True)


def run(*command, **options):
    """Runs a command, and returns its output; prints it if the command fails."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        fail(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def wait_for(condition, what):
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            fail(f"timeout: {what}")
        time.sleep(0.2)


def enable_loopback():
    """Starts the loopback interface of a new network namespace."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", IFF_UP | IFF_RUNNING, b""))


def add_address(address):
    """Adds an address to the loopback interface: that of a pod, which may not be a loopback address."""
    run("ip", "address", "add", f"{address}/32", "dev", "lo")


def mount(kind, source, target, *options):
    Path(target).mkdir(parents=True, exist_ok=True)
    run("mount", "-t", kind, source, target, *options)


def bind(source, target):
    Path(target).mkdir(parents=True, exist_ok=True)
    run("mount", "--rbind", source, target)


def copy_of_host(folder):
    """Returns a root that has the content of this host; changes stay in memory."""
    mount("tmpfs", "tmpfs", folder)
    root = folder / "root"
    root.mkdir()
    for path in Path("/").iterdir():
        if path.is_symlink():
            (root / path.name).symlink_to(os.readlink(path))
        elif path.name in COPIED:
            overlay(path, folder, root / path.name)
        elif path.is_dir():
            (root / path.name).mkdir()
    mount("proc", "proc", root / "proc")
    bind("/dev", root / "dev")
    for name in ("run", "tmp"):
        mount("tmpfs", "tmpfs", root / name)
    return root


def overlay(path, folder, target):
    """Mounts a folder of this host; changes go to another folder."""
    upper, work = folder / f"{path.name}-upper", folder / f"{path.name}-work"
    upper.mkdir()
    work.mkdir()
    mount("overlay", "overlay", target, "-o", f"lowerdir={path},upperdir={upper},workdir={work}")


class Service:
    """A server that runs in a root as an unprivileged user."""

    def __init__(self, root, command, environment, data, log, port=PORT):
        self.root, self.data, self.log, self.port = root, root / data.lstrip("/"), log, port
        self.data.mkdir(parents=True, exist_ok=True)
        os.chown(self.data, USER, USER)
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        (root / "run").mkdir(exist_ok=True)
        path = root / "run/notify"
        path.unlink(missing_ok=True)
        self.notifications.bind(str(path))
        path.chmod(0o777)
        environment = {"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "2000000", **environment}
        self.process = subprocess.Popen(self.inside(command), env=environment, stdout=log.open("w"), stderr=subprocess.STDOUT)

    def inside(self, command):
        """Returns a command that runs another one in the root, as the user of the server."""
        user = (f"--userspec={USER}:{USER}", "--groups=")
        setpriv, chroot = shutil.which("setpriv"), shutil.which("chroot")
        return [setpriv, "--no-new-privs", chroot, *user, str(self.root), *command]

    def expect(self, state):
        """Waits for a notification of systemd."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.notifications.settimeout(1)
            try:
                if state in self.notifications.recv(4096).decode().split():
                    return
            except TimeoutError:
                if self.process.poll() is not None:
                    break
        fail(f"no {state} from {shlex.join(self.process.args)}:\n{self.log.read_text()}")

    def get(self, path):
        """Returns the answer to a request without credentials; the certificate is verified."""
        trust = ssl.create_default_context(cafile=self.data / "pki/ca.crt")
        with urllib.request.urlopen(f"https://127.0.0.1:{self.port}{path}", context=trust, timeout=30) as answer:
            return answer.read().decode()

    def check(self):
        """Waits until the server is ready, and checks its answers and its notifications."""
        self.expect("READY=1")
        if self.get("/readyz") != "ok":
            fail("/readyz is not ok")
        self.expect("WATCHDOG=1")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.expect("STOPPING=1")
        if self.process.wait(PATIENCE) != 0:
            fail(f"the server ended with {self.process.returncode}:\n{self.log.read_text()}")


def end_with_parent():
    """Makes the kernel end this process with the parent process."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def need(program, package):
    if not shutil.which(program):
        fail(f"there is no {program}: install {package}")
