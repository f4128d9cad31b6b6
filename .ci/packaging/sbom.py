"""The software bill of materials, in CycloneDX's JSON format: https://cyclonedx.org/docs/1.6/json/

Lists the crates that are linked into the program, the C libraries within two of them, and the npm
packages of the console. Build scripts and macros run at build time only, and are not listed.
"""

import json
import re
import subprocess
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from .program import NAME, ROOT

CONSOLE = "server/console/ui/package-lock.json"
# A dependency of swagger-ui-dist that runs at its installation only.
NOT_EMBEDDED = "node_modules/@scarf/scarf"


class Bundled(NamedTuple):
    """A C library in a crate."""

    name: str
    vendor: str  # in CPE names
    licence: str
    header: str
    version: str  # a pattern with the parts of the version as groups


BUNDLED = {
    "libsqlite3-sys": Bundled(
        "sqlite", "sqlite", "blessing", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION\s+"(\d+)\.(\d+)\.(\d+)"',
    ),
    "libmimalloc-sys": Bundled(
        "mimalloc", "microsoft", "MIT", "c_src/mimalloc/v3/include/mimalloc.h",
        r"#define MI_MALLOC_VERSION (\d)(\d\d)(\d\d)\b",
    ),
}


def metadata(machine):
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={machine}-unknown-linux-gnu"]
    return json.loads(subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)


def linked(data):
    """Returns the ids of the packages that are linked into the program, each with those that it uses."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    macros = {one["id"] for one in data["packages"] if any("proc-macro" in target["kind"] for target in one["targets"])}
    root = next(one["id"] for one in data["packages"] if one["name"] == NAME)
    found, rest = {}, [root]
    while rest:
        package = rest.pop()
        if package not in found:
            used = (one["pkg"] for one in nodes[package]["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"]))
            found[package] = sorted(one for one in used if one not in macros)
            rest.extend(found[package])
    return root, found


def checksums():
    lock = (ROOT / "Cargo.lock").read_text()
    pattern = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"'
    return {(name, version): checksum for name, version, checksum in re.findall(pattern, lock)}


def reference(package):
    """Returns the id of a crate in the document; crates of this repository have no package URL."""
    name = f"{package['name']}@{package['version']}"
    return f"pkg:cargo/{name}" if package["source"] else name


def crate(package, sums):
    entry = {"type": "library", "bom-ref": reference(package), "name": package["name"], "version": package["version"]}
    if package["source"]:
        entry["purl"] = reference(package)
        entry["hashes"] = [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}]
    if package["license"]:
        # A slash is an older form of OR.
        entry["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    elif package["license_file"]:
        entry["licenses"] = [{"license": {"name": f"file {package['license_file']} of the crate"}}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bundled(package):
    """Returns the entry of the C library in a crate."""
    library = BUNDLED[package["name"]]
    header = Path(package["manifest_path"]).parent / library.header
    found = re.search(library.version, header.read_text())
    if not found:
        raise SystemExit(f"packages: {header} does not state the version of {library.name}")
    version = ".".join(str(int(part)) for part in found.groups())
    url = f"pkg:generic/{library.name}@{version}"
    return {
        "type": "library", "bom-ref": url, "name": library.name, "version": version, "purl": url,
        "cpe": f"cpe:2.3:a:{library.vendor}:{library.name}:{version}:*:*:*:*:*:*:*",
        "licenses": [{"expression": library.licence}],
    }


def npm_packages():
    lock = json.loads((ROOT / CONSOLE).read_text())["packages"]
    for path, package in lock.items():
        if path and path != NOT_EMBEDDED and not package.get("dev") and not package.get("optional"):
            name, version = path.removeprefix("node_modules/"), package["version"]
            url = f"pkg:npm/{name.replace('@', '%40')}@{version}"
            entry = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
            yield entry | ({"licenses": [{"expression": package["license"]}]} if "license" in package else {})


def sbom(program):
    """Returns the document."""
    data = metadata(program.machine)
    packages = {one["id"]: one for one in data["packages"]}
    root, used = linked(data)
    sums = checksums()
    components = [crate(packages[one], sums) for one in used if one != root]
    relations = {reference(packages[one]): [reference(packages[other]) for other in others] for one, others in used.items()}
    for package in [packages[one] for one in used if packages[one]["name"] in BUNDLED]:
        library = bundled(package)
        components.append(library)
        relations[reference(package)].append(library["bom-ref"])
    console = list(npm_packages())
    components += console
    relations[next(name for name in relations if name.startswith("console@"))] += [one["bom-ref"] for one in console]
    main = crate(packages[root], sums) | {"type": "application", "hashes": [{"alg": "SHA-256", "content": program.sha256}]}
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
        # Derived from the program, so that two runs give the same number.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, program.sha256)}", "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(program.time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": main,
        },
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": [{"ref": one, "dependsOn": sorted(others)} for one, others in sorted(relations.items())],
    }
    return json.dumps(document, indent=1) + "\n"
