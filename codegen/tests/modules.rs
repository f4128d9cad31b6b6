//! Checks that the modules of some crates have no dependency cycle, so that they can be read in
//! sequence.
//!
//! A module here is one that the root of the crate declares, together with everything below it. It
//! depends on another one if a path in it, outside of tests, refers to that module.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Item;

/// Folders of the checked crates.
const CRATES: [&str; 3] = ["codegen", "server/patch", "server/schema"];

/// The modules that each module depends on.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The tokens of a crate's files by module path; the root has an empty path.
fn modules(folder: &Path) -> BTreeMap<Vec<String>, TokenStream> {
    let (mut modules, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(folder).unwrap().with_extension("");
                let mut names: Vec<String> =
                    inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
                if matches!(names.last().map(String::as_str), Some("mod" | "lib")) {
                    names.pop();
                }
                if names.last().is_none_or(|name| name != "tests") {
                    modules.insert(names, tokens(&path));
                }
            }
        }
    }
    modules
}

/// The tokens of a file without tests.
fn tokens(path: &Path) -> TokenStream {
    let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let is_test = |item: &Item| {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            _ => return false,
        };
        attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("cfg (test)"))
    };
    file.items.iter().filter(|item| !is_test(item)).map(|item| item.to_token_stream()).collect()
}

/// The paths in tokens, with trees of `use` expanded.
fn paths(tokens: TokenStream, before: &[String], out: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = before.to_vec();
    let mut tokens = tokens.into_iter().peekable();
    let mut follows = !before.is_empty();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) => {
                if !follows {
                    out.push(std::mem::take(&mut path));
                }
                path.push(name.to_string());
                follows = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                follows =
                    tokens.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == ':')).is_some();
            }
            TokenTree::Group(group) if follows && group.delimiter() == Delimiter::Brace => {
                paths(group.stream(), &path, out);
                path.clear();
                follows = false;
            }
            TokenTree::Group(group) => {
                out.push(std::mem::take(&mut path));
                paths(group.stream(), &[], out);
                follows = false;
            }
            // After a comma in a tree of `use`, a path has the same prefix again.
            TokenTree::Punct(mark) if mark.as_char() == ',' && !before.is_empty() => {
                out.push(std::mem::replace(&mut path, before.to_vec()));
                follows = true;
            }
            _ => {
                out.push(std::mem::take(&mut path));
                follows = false;
            }
        }
    }
    out.push(path);
}

/// The names that the root of a crate re-exports, each with its module.
fn exports(root: &TokenStream) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    paths(root.clone(), &[], &mut found);
    found
        .into_iter()
        .filter(|path| path.len() > 1)
        .filter_map(|path| Some((path.last()?.clone(), path[0].clone())))
        .collect()
}

/// The module of the crate that a path in a file refers to; `file` is the path of the file's own
/// module.
fn resolve(
    path: &[String],
    file: &[String],
    known: &BTreeSet<&str>,
    exports: &BTreeMap<String, String>,
) -> Option<String> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let rest = match path.first()?.as_str() {
        "crate" => &path[1..],
        "super" if ups == file.len() => &path[ups..],
        first if file.is_empty() && known.contains(first) => path,
        _ => return None,
    };
    let name = rest.first()?;
    if known.contains(name.as_str()) { Some(name.clone()) } else { exports.get(name).cloned() }
}

fn edges(folder: &Path) -> Edges {
    let files = modules(folder);
    let exports = files.get(&Vec::new()).map(exports).unwrap_or_default();
    let known: BTreeSet<&str> = files.keys().filter_map(|names| names.first()).map(String::as_str).collect();
    let mut edges = Edges::new();
    // The root only declares its modules.
    for (file, tokens) in files.iter().filter(|(file, _)| !file.is_empty()) {
        let mut found = Vec::new();
        paths(tokens.clone(), &[], &mut found);
        let to = found.iter().filter_map(|path| resolve(path, file, &known, &exports)).filter(|to| *to != file[0]);
        edges.entry(file[0].clone()).or_default().extend(to);
    }
    edges
}

/// Repeatedly removes modules without dependencies or without dependents; returns the edges of the
/// remaining ones.
fn circles(mut edges: Edges) -> Vec<String> {
    loop {
        let targets: BTreeSet<String> = edges.values().flatten().cloned().collect();
        let before = edges.len();
        let names: BTreeSet<String> = edges.keys().cloned().collect();
        edges.retain(|name, to| targets.contains(name) && !to.is_disjoint(&names));
        if edges.len() == before {
            break;
        }
    }
    let names: BTreeSet<String> = edges.keys().cloned().collect();
    let to = |to: &BTreeSet<String>| to.intersection(&names).cloned().collect::<Vec<_>>().join(", ");
    edges.iter().map(|(name, all)| format!("{name} -> {}", to(all))).collect()
}

#[test]
fn modules_have_no_dependency_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut complaints = Vec::new();
    for name in CRATES {
        let edges = edges(&root.join(name).join("src"));
        assert!(edges.values().any(|to| !to.is_empty()), "no path was found in {name}");
        complaints.extend(circles(edges).iter().map(|line| format!("{name}: {line}")));
    }
    assert!(complaints.is_empty(), "circles:\n{}", complaints.join("\n"));
}

#[test]
fn finds_dependency_cycle() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("lib.rs"), "mod a;\nmod b;\nmod c;\npub use a::A;\n").unwrap();
    fs::write(folder.join("a.rs"), "use std::{fmt, io};\npub struct A;\nfn f() { crate::b::g(\"crate::c\") }\n")
        .unwrap();
    fs::write(folder.join("b.rs"), "use super::{a::{A}, c};\n#[cfg(test)]\nmod tests { use crate::c::C; }\n").unwrap();
    fs::write(folder.join("c.rs"), "// crate::a\npub struct C;\n").unwrap();
    assert_eq!(circles(edges(&folder)), ["a -> b", "b -> a"]);
}
