"""Installs the Debian package into a copy of this host, and runs its service."""

import configparser
import json
import re
import shlex
import shutil

from .container import pod_of
from .program import NAME, ROOT
from .trial import Service, copy_of_host, fail, run, step

UNIT = f"usr/lib/systemd/system/{NAME}.service"
# So that the server reaches pods without a network of services.
FLAGS = "--enable-aggregator-routing=true"


def unit_command(root):
    """Returns command and environment of the unit, as systemd derives them."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(root / UNIT)
    service = unit["Service"]
    if service["Type"] != "notify" or service["DynamicUser"] != "yes":
        fail("the unit has another type, or no user of its own")
    environment = {"STATE_DIRECTORY": f"/var/lib/{service['StateDirectory']}"}
    settings = (root / service["EnvironmentFile"].lstrip("-/")).read_text()
    environment |= dict(re.findall(r'(?m)^(\w+)="(.*)"$', settings))
    command = []
    for word in service["ExecStart"].split():
        if found := re.fullmatch(r"\$(\w+)", word):
            command += environment[found.group(1)].split()
        else:
            command.append(re.sub(r"\$\{(\w+)\}", lambda name: environment[name.group(1)], word))
    return command, environment


class Installation:
    """The package, installed in a root."""

    def __init__(self, package, folder):
        self.folder = folder
        self.root = copy_of_host(folder / "host")
        self.dpkg = ("chroot", self.root, "dpkg", "--no-triggers")
        shutil.copy(package, self.root / f"tmp/{NAME}.deb")
        run(*self.dpkg, "--install", f"/tmp/{NAME}.deb")
        self.settings = self.root / f"etc/default/{NAME}"

    def start(self):
        """Starts the service with a flag that the settings name."""
        self.settings.write_text(self.settings.read_text().replace('FLAGS=""', f'FLAGS="{FLAGS}"'))
        command, environment = unit_command(self.root)
        if FLAGS not in command:
            fail(f"the unit does not pass the flags of {self.settings}")
        self.service = Service(self.root, command, environment, environment["STATE_DIRECTORY"], self.folder / "service.log")
        self.service.check()
        step(f"the service of the Debian package is ready: {shlex.join(command)}")

    def kubectl(self):
        """Returns the beginning of a command that administers the server."""
        data = f"--data-dir=/{self.service.data.relative_to(self.root)}"
        config = self.folder / "kubeconfig"
        command = [f"/usr/bin/{NAME}", "kubeconfig", data, "--server=https://localhost:6443"]
        config.write_text(run(*self.service.inside(command)))
        return ("kubectl", f"--kubeconfig={config}")

    def apply_bases(self, kubectl):
        """Applies the bases of kustomize, and creates their pods without storing them."""
        for name in ("standalone", "aggregated"):
            base = ROOT / "deploy/kubernetes" / name
            applied = run(*kubectl, "apply", "--server-side", "-k", base)
            if "Warning" in applied:
                fail(f"{base} gives a warning:\n{applied}")
            file = self.folder / f"{name}-pod.json"
            file.write_text(json.dumps(pod_of(base)))
            # Admission as for the controller of stateful sets: pod security, service account, limits.
            run(*kubectl, "create", "--dry-run=server", "-f", file)
        step("the bases of kustomize are applied, and their pods admitted")

    def remove(self):
        run(*self.dpkg, "--remove", NAME)
        data = self.service.data
        if not (data / "store").exists() or not self.settings.exists() or (self.root / f"usr/bin/{NAME}").exists():
            fail("the removal deletes the data or the settings, or leaves the program")
        run(*self.dpkg, "--purge", NAME)
        if data.exists() or self.settings.exists():
            fail("the purge leaves the data or the settings")
        step("the removal of the Debian package keeps the data, and the purge deletes them")
