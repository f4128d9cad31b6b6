//! The structure of the crates: cycles of modules, direct reads of the clock, calls that block, and
//! knowledge of the whole server.
//!
//! Modules in different files do not depend on each other in a cycle. A file depends on another file
//! of its crate if it names an item of that file: in a private `use`, or in a path outside of `use`.
//! The rule in detail:
//!
//! - A path is followed to the file that defines the item, through re-exports and `*`. So a module
//!   that declares children and re-exports their items does not depend on them, until its own code
//!   names one of those items. A child that names an item of its parent's file depends on its parent.
//! - A path that ends at a module is no dependency. A path through that module is one.
//! - Arguments of macros count. Tests do not: `#[cfg(test)]` and modules below it.
//! - A call of a method is no dependency, because no path names the file of an `impl`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "structure/graph.rs"]
mod graph;
#[path = "structure/names.rs"]
mod names;
#[path = "structure/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use source::{Modules, read_crate};

/// The cycles that stay: the folder of the crate, the files, and the reason.
const CYCLES: [(&str, &[&str], &str); 7] = [
    (
        "server/cel/src",
        &["value.rs", "value/collection.rs", "value/json.rs"],
        "a recursive type: a value is a list or a map of values",
    ),
    (
        "server/machinery/src",
        &[
            "checks.rs",
            "checks/items.rs",
            "checks/notes.rs",
            "checks/of.rs",
            "checks/plan.rs",
            "checks/plan/condition.rs",
            "def.rs",
            "hooks.rs",
            "protobuf/step.rs",
            "reflect/access.rs",
            "reflect/collections.rs",
            "reflect/field.rs",
            "reflect/owned.rs",
            "reflect/place.rs",
            "reflect/tables.rs",
            "reflect/value.rs",
            "reflect/view.rs",
        ],
        "a recursive type: a descriptor has checks, functions and tables for objects, and an object has its descriptor",
    ),
    (
        "server/machinery/src",
        &["json/encode.rs", "json/open.rs"],
        "a recursive algorithm: objects of open form contain declared structs, which contain objects of open form",
    ),
    ("server/features/src", &["lib.rs", "table.rs"], "a type and its constant table, which a lookup by name reads"),
    (
        "server/patch/src",
        &["strategic/list.rs", "strategic/map.rs"],
        "a recursive algorithm: the items of a list are objects, the members of an object are lists",
    ),
    (
        "server/storage/src",
        &["cache/budget.rs", "cache/entry.rs"],
        "a recursive type: an entry charges the budget, and the budget evicts entries",
    ),
    (
        "server/webhook/src",
        &["route.rs", "tls.rs"],
        "a recursive type: trust settings have a route, and the proxy of a route has trust settings",
    ),
];

/// Functions that read the clock of the machine. Code whose result a client sees uses
/// `registry::Clock`, which is injected.
const CLOCK: [[&str; 2]; 5] =
    [["SystemTime", "now"], ["OffsetDateTime", "now_utc"], ["Utc", "now"], ["Timestamp", "now"], ["UnixTime", "now"]];

/// The files that read the clock of the machine, and the reason.
const READ_CLOCK: [(&str, &str); 20] = [
    ("audit/src/context.rs", "the log records when requests arrived at this machine"),
    ("audit/src/rotation.rs", "names and ages of files, which the file system dates with the same clock"),
    ("authn/src/oidc.rs", "the issuer dates its tokens; its certificate is verified at the same time"),
    ("authn/src/tokens/external/metrics.rs", "a metric"),
    ("encryption/src/kms/plugin.rs", "the text of an error; a monotonic clock decides the expiry"),
    ("encryption/src/metrics.rs", "a metric"),
    ("endpoints/src/openapi_docs.rs", "a header for caches between client and server"),
    ("endpoints/src/verbs/watch.rs", "a source of randomness"),
    ("flowcontrol/src/control.rs", "dates in debug documents; a monotonic clock measures durations"),
    ("kubernetes/src/resource.rs", "a function that applies a default has no context"),
    ("machinery/src/hooks.rs", "the default of a context; requests set the time of the injected clock"),
    ("options/src/reload.rs", "a metric"),
    ("registry/src/clock.rs", "the implementation of the injected clock"),
    ("serving/src/certificates/pki.rs", "other programs verify the certificates with their clocks"),
    ("serving/src/listener/client_certificates.rs", "the implementation of the clock that its tests replace"),
    ("serving/src/system_paths.rs", "the start of the process, for its status page"),
    ("storage/src/clock.rs", "leases of the store outlive the process; no crate with the injected clock is below it"),
    ("telemetry/src/logging/format.rs", "the log"),
    ("telemetry/src/metrics/process.rs", "a metric"),
    ("telemetry/src/traces/span.rs", "traces"),
];

/// Functions that block a thread.
const BLOCK: [[&str; 2]; 2] = [["task", "block_in_place"], ["thread", "sleep"]];

/// The files that block a thread, and the reason.
const BLOCKS: [(&str, &str); 2] = [
    ("serving/src/work/pool.rs", "the one place where synchronous code waits for a call"),
    ("telemetry/src/logging/sink.rs", "a thread of its own flushes the log, even if the runtime hangs"),
];

/// The files that name `ServerContext`, which has all parts of a server, and the reason.
const ASSEMBLE: [(&str, &str); 8] = [
    ("admission/src/lib.rs", "assembles the admission plugins"),
    ("apiserver/src/delegation.rs", "assembles the server"),
    ("controlplane/src/bootstrap.rs", "starts the controllers and creates the initial objects"),
    ("controlplane/src/lib.rs", "assembles the handlers of subresources"),
    ("endpoints/src/background.rs", "work besides requests selects its parts at its start"),
    ("endpoints/src/kind_extensions.rs", "the interface between the server and the assembly of its components"),
    ("endpoints/src/lib.rs", "the public name"),
    ("endpoints/src/server_context.rs", "the definition"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All crates, by their root files.
static CRATES: LazyLock<BTreeMap<PathBuf, Modules>> =
    LazyLock::new(|| roots().into_iter().map(|root| (root.clone(), read_crate(&root))).collect());

/// Returns the root files of all crates.
fn roots() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root().join("server")).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    folders.extend(["codegen/src", "codegen/src/bin", "benches/load/src", "server"].map(|folder| root().join(folder)));
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let is_root = |path: &PathBuf| {
        ["lib.rs", "main.rs"].iter().any(|name| path.ends_with(name)) || path.parent().unwrap().ends_with("bin")
    };
    let mut roots: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).filter(is_root).collect();
    roots.sort();
    roots
}

/// Returns each cycle as the paths of its files below a folder, with a description.
fn cycles_of(folder: &Path, modules: &Modules) -> Vec<(BTreeSet<String>, String)> {
    let graph = graph::graph(modules);
    let name = |file: &Path| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let cycles = graph::cycles(&graph).into_iter().map(|cycle| {
        let mut text = format!("{}: a cycle of {} files", folder.display(), cycle.len());
        for file in &cycle {
            for (target, names) in graph[file].iter().filter(|(target, _)| cycle.contains(*target)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text += &format!("\n    {} -> {}: {}", name(file), name(target), names.join(", "));
            }
        }
        (cycle.into_iter().map(name).collect(), text)
    });
    cycles.collect()
}

#[test]
fn no_files_depend_on_each_other() {
    let mut unused: Vec<_> = CYCLES.to_vec();
    let mut complaints = Vec::new();
    assert!(CRATES.len() > 30, "{:?}", CRATES.keys());
    for (crate_root, modules) in CRATES.iter() {
        let path = crate_root.parent().unwrap();
        let folder = path.strip_prefix(root()).unwrap().display().to_string();
        for (files, description) in cycles_of(path, modules) {
            let is_same = |(of, allowed, _): &(&str, &[&str], &str)| {
                *of == folder && allowed.iter().map(ToString::to_string).collect::<BTreeSet<_>>() == files
            };
            match unused.iter().position(is_same) {
                Some(position) => drop(unused.remove(position)),
                None => complaints.push(description),
            }
        }
    }
    let stale = unused.iter().map(|(of, files, _)| format!("{of}: remove the allowed cycle {files:?}, there is none"));
    complaints.extend(stale);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Returns the files of `server/` that name a path for which `selected` holds, outside of tests.
fn files_naming(selected: impl Fn(&Vec<String>) -> bool) -> BTreeSet<String> {
    let server = root().join("server");
    let mut files = BTreeSet::new();
    for (_, modules) in CRATES.iter().filter(|(path, _)| path.starts_with(&server)) {
        for module in modules.values() {
            let mut paths = module.paths.iter().chain(module.imports.iter().map(|import| &import.path));
            if paths.any(&selected) {
                files.insert(module.file.strip_prefix(&server).unwrap().display().to_string());
            }
        }
    }
    files
}

/// Compares the callers of functions with those that may call them.
fn only_these_call(functions: &[[&str; 2]], allowed: &[(&str, &str)], advice: &str) {
    let calls = |path: &Vec<String>| functions.iter().any(|function| path.ends_with(&function.map(String::from)));
    only_these(files_naming(calls), allowed, advice);
}

/// Compares files with those that are allowed.
fn only_these(found: BTreeSet<String>, allowed: &[(&str, &str)], advice: &str) {
    let allowed = allowed.iter().map(|(file, _)| file.to_string()).collect();
    let new: Vec<&String> = found.difference(&allowed).collect();
    assert!(new.is_empty(), "{advice}: {new:?}");
    let stale: Vec<&String> = allowed.difference(&found).collect();
    assert!(stale.is_empty(), "remove these from the list: {stale:?}");
}

#[test]
fn clocks_are_injected() {
    only_these_call(&CLOCK, &READ_CLOCK, "use `registry::Clock`, or give a reason in READ_CLOCK");
}

#[test]
fn no_thread_of_the_runtime_is_blocked() {
    only_these_call(&BLOCK, &BLOCKS, "use `serving::work::blocking`, or give a reason in BLOCKS");
}

#[test]
fn components_take_the_parts_that_they_use() {
    let found = files_naming(|path| path.last().is_some_and(|name| name == "ServerContext"));
    only_these(found, &ASSEMBLE, "take the parts that you use instead of `ServerContext`");
}

/// Returns the cycles of a crate with these files.
fn cycles_in(files: &[(&str, &str)]) -> Vec<BTreeSet<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let modules = read_crate(&folder.path().join("lib.rs"));
    cycles_of(folder.path(), &modules).into_iter().map(|(files, _)| files).collect()
}

#[test]
fn cycles_are_found_through_re_exports_and_macros() {
    let both = |a: &str, b: &str| vec![BTreeSet::from([a.to_string(), b.to_string()])];
    let root = ("lib.rs", "mod a; mod b; pub use a::A; use b::*;");
    assert_eq!(
        cycles_in(&[root, ("a.rs", "pub struct A(crate::b::B);"), ("b.rs", "use crate::A; pub struct B(A);")]),
        both("a.rs", "b.rs")
    );
    let named_in_macro = ("b.rs", "pub struct B; fn f() { print!(\"{}\", super::a::text()) }");
    assert_eq!(cycles_in(&[root, ("a.rs", "use super::B; pub struct A(B);"), named_in_macro]), both("a.rs", "b.rs"));
    let child = ("a.rs", "mod c; pub use c::C; pub struct A(C);");
    let files = [root, child, ("a/c.rs", "use super::A; pub struct C;"), ("b.rs", "pub struct B;")];
    assert_eq!(cycles_in(&files), both("a.rs", "a/c.rs"));
}

#[test]
fn declarations_re_exports_and_tests_make_no_cycle() {
    let files = [
        ("lib.rs", "mod a; pub use a::{A, C}; pub const LIMIT: usize = 1;"),
        ("a.rs", "mod b; mod c; pub use c::C; pub struct A; #[cfg(test)] fn f(_: C) {}"),
        ("a/b.rs", "use super::C; pub fn b(_: C) { let _ = crate::LIMIT; }"),
        ("a/c.rs", "use super::A; pub struct C(A); #[cfg(test)] mod tests { use super::super::b::b; }"),
    ];
    assert_eq!(cycles_in(&files), Vec::<BTreeSet<String>>::new());
}
