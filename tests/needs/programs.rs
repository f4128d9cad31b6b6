//! Third-party programs: from an environment variable, built by `.ci/tools`, or in the path.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The script that builds the programs; it states their versions.
const TOOLS: &str = "../../.ci/tools";

/// Name of a program, the variable with its file, and the module whose version `.ci/tools` states.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("etcd", "ETCD", "etcd"),
    ("etcdctl", "ETCDCTL", "etcd"),
    ("kube-apiserver", "KUBE_APISERVER", "kubernetes"),
    ("kube-controller-manager", "KUBE_CONTROLLER_MANAGER", "kubernetes"),
    ("kube-scheduler", "KUBE_SCHEDULER", "kubernetes"),
    ("kwok", "KWOK", "kwok"),
];

/// Each program with the file that was found, if any.
pub struct Programs(Vec<(&'static str, Option<OsString>)>);

/// Looks for all programs.
pub fn all() -> Programs {
    println!("cargo::rerun-if-changed={TOOLS}");
    let folder = folder();
    // A program that is built later changes the folder. With an absent folder, Cargo would run the
    // build script each time.
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let versions = std::fs::read_to_string(TOOLS).unwrap_or_default();
    Programs(
        PROGRAMS
            .map(|(name, variable, module)| (name, find(name, variable, version(&versions, module), &folder)))
            .into(),
    )
}

fn find(name: &str, variable: &str, version: &str, folder: &Path) -> Option<OsString> {
    println!("cargo::rerun-if-env-changed={variable}");
    let built = folder.join(format!("{name}-{version}"));
    env::var_os(variable).or_else(|| built.exists().then(|| built.into_os_string())).or_else(|| in_path(name))
}

/// Returns a version from `.ci/tools`, which states them as `module=version`, one per line.
fn version<'t>(tools: &'t str, module: &str) -> &'t str {
    tools.lines().find_map(|line| line.strip_prefix(module)?.strip_prefix('=')).unwrap_or_default()
}

/// Returns the output folder of `.ci/tools`: `$KUBE_TOOLS`, or `tools` in the target folder.
fn folder() -> PathBuf {
    for variable in ["KUBE_TOOLS", "CARGO_TARGET_DIR"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let target =
        || env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from).join("tools");
    let folder = env::var_os("KUBE_TOOLS").map_or_else(target, PathBuf::from);
    // Relative names are relative to the root of the workspace.
    Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..").join(folder)
}

fn in_path(name: &str) -> Option<OsString> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()).map(PathBuf::into_os_string)
}

impl Programs {
    /// Returns the file of a program; its bare name when none was found.
    pub fn path<'p>(&'p self, name: &'p str) -> &'p OsStr {
        let found = self.0.iter().find(|(known, _)| *known == name).and_then(|(_, file)| file.as_deref());
        found.unwrap_or(OsStr::new(name))
    }

    /// Returns a line for each program of Kubernetes and kwok: the name as an identifier, and why
    /// the program is absent.
    pub fn absences(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(name, _)| *name != "etcd").map(|(name, file)| {
            let reason = if file.is_some() { String::new() } else { format!("no {name}: run `.ci/tools {name}`") };
            format!("{}={reason}", identifier(name))
        })
    }

    /// Returns a line for each program: the name as an identifier, and the file.
    pub fn lines(&self) -> Vec<String> {
        let line = |(name, _): &(&'static str, _)| format!("{}={}", identifier(name), self.path(name).display());
        self.0.iter().map(line).collect()
    }
}

fn identifier(name: &str) -> String {
    name.replace('-', "_")
}
