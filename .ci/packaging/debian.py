"""The Debian package, built by dpkg-deb from a folder."""

import os
import subprocess
from datetime import datetime, timezone

from .program import NAME, ROOT, SUMMARY, scratch
from .tree import Tree, compressed

MAINTAINER = "The kube-apiserver authors <kube-apiserver@localhost>"
DESCRIPTION = """\
 Serves the API of Kubernetes 1.36 to kubectl, controllers and other clients.
 Objects are kept in an embedded store, or in etcd. The package contains a
 service of systemd, which listens on the loopback interface by default."""
SCRIPTS = ("postinst", "prerm", "postrm")
CONFIGURATION = f"/etc/default/{NAME}"


def control(program, size):
    libc = program.libc_version()
    depends = f"Depends: libc6 (>= {libc}), libgcc-s1\n" if libc else ""
    return (
        f"Package: {NAME}\nVersion: {program.version}\nArchitecture: {program.architecture}\n"
        f"Maintainer: {MAINTAINER}\nInstalled-Size: {size}\n{depends}"
        f"Recommends: ca-certificates\nSection: admin\nPriority: optional\nDescription: {SUMMARY}\n{DESCRIPTION}\n"
    )


def copyright_file():
    licence = (ROOT / "LICENSE").read_text()
    return f"Licence of {NAME}: Apache-2.0. Licences of its crates: the SBOM of the same release.\n\n{licence}"


def changelog(program):
    date = datetime.fromtimestamp(program.time, timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
    return f"{NAME} ({program.version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  {date}\n"


def files(program, pages):
    """Returns the installed files."""
    tree = Tree(program.time)
    share, documents = "/usr/share", f"/usr/share/doc/{NAME}"
    tree.file(f"/usr/bin/{NAME}", program.content, 0o755)
    tree.file(CONFIGURATION, (ROOT / "deploy/debian/default").read_bytes())
    tree.file(f"/usr/lib/systemd/system/{NAME}.service", (ROOT / f"deploy/systemd/{NAME}.service").read_bytes())
    tree.file(f"{share}/man/man1/{NAME}.1.gz", compressed(pages["man"], 9))
    tree.file(f"{share}/bash-completion/completions/{NAME}", pages["bash"])
    tree.file(f"{share}/zsh/vendor-completions/_{NAME}", pages["zsh"])
    tree.file(f"{share}/fish/vendor_completions.d/{NAME}.fish", pages["fish"])
    tree.file(f"{documents}/copyright", copyright_file())
    tree.file(f"{documents}/changelog.gz", compressed(changelog(program).encode(), 9))
    return tree


def package(program, pages, fast, out):
    """Writes the package to a file."""
    tree = files(program, pages)
    size = sum(1 + len(item.content or b"") // 1024 for item in tree.items.values())
    tree.file("/DEBIAN/control", control(program, size))
    tree.file("/DEBIAN/conffiles", f"{CONFIGURATION}\n")
    for name in SCRIPTS:
        tree.file(f"/DEBIAN/{name}", (ROOT / "deploy/debian" / name).read_bytes(), 0o755)
    with scratch() as folder:
        tree.write(folder)
        # The mode of the temporary folder is that of `./` in the package.
        os.chmod(folder, 0o755)
        os.utime(folder, (program.time, program.time))
        # xz is read by all releases of dpkg; one thread, because several change the output.
        compression = ["-Zgzip", "-z1"] if fast else ["-Zxz", "--threads-max=1"]
        command = ["dpkg-deb", "--root-owner-group", *compression, "--build", folder, out]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(program.time)}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
