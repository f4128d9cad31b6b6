"""Boots systemd in namespaces, with the Debian package installed.

The service starts under all restrictions of its unit.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from .program import NAME
from .trial import PATIENCE, bind, copy_of_host, enable_loopback, fail, mount, run, step, wait_for

SYSTEMD = "/usr/lib/systemd/systemd"
# Installs, uses, removes and purges the package, as an administrator does.
SCRIPT = f"""set -ex
dpkg --no-triggers --install /trial/*.deb
systemctl is-active {NAME}
systemctl is-enabled {NAME}
/usr/bin/{NAME} probe --data-dir=/var/lib/{NAME}
watchdog() {{ systemctl show --value -p WatchdogTimestampMonotonic {NAME}; }}
first=$(watchdog)
until [ "$(watchdog)" != "$first" ]; do sleep 0.1; done
cat /proc/$(systemctl show --value -p MainPID {NAME})/status >/trial/status
systemctl stop {NAME}
systemctl show -p Result -p NRestarts -p ExecMainStatus {NAME} >/trial/shown
dpkg --no-triggers --remove {NAME}
test -e /var/lib/private/{NAME}/store
dpkg --no-triggers --install /trial/*.deb
systemctl is-active {NAME}
dpkg --no-triggers --purge {NAME}
if systemctl is-active {NAME}; then exit 1; fi
test ! -e /var/lib/private/{NAME}
test ! -e /var/lib/{NAME}
mv /trial/shown /trial/result
"""
UNIT = """[Service]
Type=oneshot
ExecStart=/bin/sh /trial/script
ExecStopPost=/bin/systemctl exit
StandardOutput=append:/trial/log
StandardError=append:/trial/log
"""
# A shorter timeout of the watchdog than that of the package.
DROP_IN = "[Service]\nWatchdogSec=2\n"
# What the kernel must report about the process of the service.
RESTRICTIONS = (r"CapEff:\s+0{16}\n", r"CapBnd:\s+0{16}\n", r"NoNewPrivs:\s+1\n", r"Seccomp:\s+2\n", r"Uid:\s+[1-9]")


def control_group():
    """Returns the folder of version 2 of control groups, or None."""
    folders = map(Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
    return next((path for path in folders if (path / "cgroup.procs").exists()), None)


def absence():
    """Returns why systemd cannot be booted here, or None."""
    if not os.access(SYSTEMD, os.X_OK):
        return f"no {SYSTEMD}"
    group = control_group()
    return None if group and os.access(group, os.W_OK) else "no writable control groups of version 2"


def boot(folder):
    """Replaces this process, the first one of its namespace, by systemd."""
    enable_loopback()
    root = copy_of_host(folder / "booted")
    mount("sysfs", "sysfs", root / "sys")
    mount("cgroup2", "cgroup2", root / "sys/fs/cgroup")
    bind(folder / "trial", root / "trial")
    units = root / "etc/systemd/system"
    (units / f"{NAME}.service.d").mkdir(parents=True)
    (units / f"{NAME}.service.d/trial.conf").write_text(DROP_IN)
    (units / "trial.service").write_text(UNIT)
    (units / "trial.target").write_text("[Unit]\nRequires=trial.service\nAfter=trial.service\n")
    # pivot_root requires a mount.
    run("mount", "--rbind", root, root)
    os.chdir(root)
    os.mkdir("trial-old")
    # Not chroot, in which the kernel refuses the user namespace of PrivateUsers=.
    start = f"pivot_root . trial-old && cd / && umount -l /trial-old && exec {SYSTEMD} --system --unit=trial.target --log-target=null"
    os.execve("/bin/sh", ["/bin/sh", "-c", start], {"container": "trial", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})


def try_booted(script, package, folder):
    """Runs `boot` in new namespaces, and checks what the service reports."""
    trial = folder / "trial"
    trial.mkdir()
    (trial / "script").write_text(SCRIPT)
    os.link(package, trial / package.name)
    group = control_group() / f"packages-try-{os.getpid()}"
    group.mkdir()
    names = ("mount", "net", "pid", "cgroup", "uts", "ipc")
    command = ["unshare", *(f"--{name}" for name in names), "--fork", "--mount-proc", "--kill-child", sys.executable]
    # systemd is to see this control group as the root.
    enter = lambda: (group / "cgroup.procs").write_text("0")  # noqa: E731
    try:
        arguments = [script, "--boot", folder]
        subprocess.run([*command, *arguments], preexec_fn=enter, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        fail(f"systemd did not end in {PATIENCE} s:\n{text(trial / 'log')}")
    finally:
        remove(group)
    if sorted(text(trial / "result").split()) != ["ExecMainStatus=0", "NRestarts=0", "Result=success"]:
        fail(f"the service fails under systemd: {text(trial / 'result')}\n{text(trial / 'log')}")
    if missing := [one for one in RESTRICTIONS if not re.search(one, text(trial / "status"))]:
        fail(f"the service runs without {missing}:\n{text(trial / 'status')}")
    step("systemd installs, starts, watches, stops and removes the service, which has no privileges and capabilities")


def remove(group):
    """Removes a control group with those below it, once their processes have ended."""
    for path, _, _ in os.walk(group, topdown=False):
        wait_for(lambda: not (Path(path) / "cgroup.procs").read_text(), f"end of the processes in {path}")  # noqa: B023
        os.rmdir(path)


def text(path):
    return path.read_text() if path.exists() else f"{path} is missing"
