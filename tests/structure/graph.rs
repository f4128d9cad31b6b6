//! The files that define what the modules of a crate name, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::Modules;

/// The names for which a file depends on another one.
pub type Names = BTreeSet<String>;

/// For each file the files that it depends on.
pub type Graph<'a> = BTreeMap<&'a Path, BTreeMap<&'a Path, Names>>;

/// Longest chain of re-exports.
const MAX_DEPTH: usize = 12;

/// What a path names.
enum Found<'a> {
    Module(Vec<String>),
    /// An item of a module of this file.
    Item(&'a Path),
    /// An item of another crate.
    Foreign,
}

pub fn graph(modules: &Modules) -> Graph<'_> {
    let mut graph = Graph::new();
    for (scope, module) in modules {
        let dependencies = graph.entry(module.file.as_path()).or_default();
        let imported = module.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
        // A word that names a child module is mostly a variable.
        let is_path = |path: &&Vec<String>| path.len() > 1 || !module.children.contains(&path[0]);
        for path in imported.chain(module.paths.iter().filter(is_path)) {
            match find(modules, scope, path, MAX_DEPTH) {
                Some(Found::Item(file)) if file != module.file => {
                    let names: &mut Names = dependencies.entry(file).or_default();
                    names.insert(path.join("::"));
                }
                _ => {}
            }
        }
    }
    graph
}

/// Finds what a path names in the scope of a module; `None` if it begins with another crate or a
/// local name.
fn find<'a>(modules: &'a Modules, scope: &[String], path: &[String], depth: usize) -> Option<Found<'a>> {
    let (first, rest) = path.split_first()?;
    let depth = depth.checked_sub(1)?;
    let module = match first.as_str() {
        "crate" => Vec::new(),
        "self" => scope.to_vec(),
        "super" => scope.split_last()?.1.to_vec(),
        _ => return find_name(modules, scope, path, depth),
    };
    match rest {
        [] => Some(Found::Module(module)),
        [next, ..] if next == "super" => find(modules, &module, rest, depth),
        // A name that no item defines is one of a macro or of generated code.
        _ => find_name(modules, &module, rest, depth).or_else(|| Some(Found::Item(modules[&module].file.as_path()))),
    }
}

/// Finds what a path names that begins with a name of a module.
fn find_name<'a>(modules: &'a Modules, scope: &[String], path: &[String], depth: usize) -> Option<Found<'a>> {
    let (name, rest) = path.split_first()?;
    let depth = depth.checked_sub(1)?;
    let module = &modules[scope];
    let is_item = module.items.contains(name);
    if is_item && (rest.is_empty() || !module.children.contains(name)) {
        return Some(Found::Item(module.file.as_path()));
    }
    let import = module.imports.iter().find(|import| import.name.as_ref() == Some(name));
    if module.children.contains(name) {
        let child: Vec<String> = scope.iter().cloned().chain([name.clone()]).collect();
        if !rest.is_empty() {
            let file = modules[&child].file.as_path();
            return find_name(modules, &child, rest, depth).or(Some(Found::Item(file)));
        }
        // A function may have the name of a module.
        return match import.and_then(|import| find(modules, scope, &import.path, depth)) {
            Some(Found::Item(file)) => Some(Found::Item(file)),
            _ => Some(Found::Module(child)),
        };
    }
    if let Some(import) = import {
        // `use name::other` in a scope without a module `name` imports from another crate.
        if import.path.first() == Some(name) {
            return Some(Found::Foreign);
        }
        let full: Vec<String> = import.path.iter().chain(rest).cloned().collect();
        return find(modules, scope, &full, depth).or(Some(Found::Foreign));
    }
    module.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
        match find(modules, scope, &import.path, depth)? {
            Found::Module(target) if target != scope => find_name(modules, &target, path, depth),
            _ => None,
        }
    })
}

/// Returns the sets of at least two files that depend on each other.
pub fn cycles<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a Path>> {
    let reachable: BTreeMap<&Path, BTreeSet<&Path>> =
        graph.keys().map(|file| (*file, reachable_from(graph, file))).collect();
    let mut cycles = Vec::new();
    let mut seen = BTreeSet::new();
    for (&file, targets) in &reachable {
        if seen.contains(file) || !targets.contains(file) {
            continue;
        }
        let cycle: BTreeSet<&Path> =
            targets.iter().copied().filter(|target| reachable[target].contains(file)).collect();
        seen.extend(cycle.iter().copied());
        cycles.push(cycle);
    }
    cycles
}

fn reachable_from<'a>(graph: &Graph<'a>, start: &Path) -> BTreeSet<&'a Path> {
    let mut found: BTreeSet<&Path> = BTreeSet::new();
    let mut open: Vec<&Path> = graph[start].keys().copied().collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(graph.get(file).into_iter().flat_map(|targets| targets.keys().copied()));
        }
    }
    found
}
