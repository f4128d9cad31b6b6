//! Code written by hand does not repeat what is declared: values of enums and names of feature gates are constants.
//! Literals that stood there when this test was written are counted, so that their number only falls.
//!
//! The generator writes a module of constants for each enum (`generated::core::v1::pod_phase`), and gates are constants
//! of `machinery::features`. A literal of the same text would not follow when the declaration changes, and a misspelled
//! one compiles.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::model::Package;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, Lit};

/// Crates that know Kubernetes' kinds.
const CRATES: [&str; 3] = ["server/controlplane/src", "server/kubernetes/src", "server/meta/src"];

/// How many literals are left (docs/plan.md); a change may take some away, and may not add one.
const LEFT: usize = 260;

/// Each declared text with where it is declared.
fn declared(root: &Path) -> BTreeMap<String, String> {
    let model = codegen::load(root).unwrap();
    let native = model.groups.iter().filter(|group| group.package != Package::Own);
    let mut texts = BTreeMap::new();
    for group in native {
        for one in model.enums.iter().filter(|one| one.module == group.module) {
            for (_, value, _) in &one.variants {
                texts.insert(value.clone(), format!("{}::{}::{}", one.module, one.version, one.name));
            }
        }
    }
    for gate in machinery::features::KnownGates::default().iter() {
        texts.insert(gate.name.to_owned(), format!("machinery::features::{}", gate.name));
    }
    // Kinds, resources and wildcards are spelled everywhere.
    let kinds = model.groups.iter().flat_map(|group| &group.kinds);
    for kind in kinds {
        texts.remove(&kind.name);
        kind.resource.iter().for_each(|resource| drop(texts.remove(&resource.plural)));
    }
    ["", "*"].into_iter().for_each(|text| drop(texts.remove(text)));
    texts
}

/// The files of a crate, without those of tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// What a file holds besides tests.
fn tokens(path: &Path) -> TokenStream {
    let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let is_test = |item: &Item| {
        let Item::Mod(item) = item else { return false };
        item.attrs.iter().any(|attribute| attribute.to_token_stream().to_string().contains("cfg (test)"))
    };
    file.items.iter().filter(|item| !is_test(item)).map(|item| item.to_token_stream()).collect()
}

/// The texts of literals, with their lines.
fn literals(tokens: TokenStream, out: &mut Vec<(String, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), out),
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                if let Lit::Str(text) = Lit::new(literal) {
                    out.push((text.value(), line));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn no_more_literals_repeat_values_of_enums_and_gates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let declared = declared(root);
    let mut repeated = Vec::new();
    for path in CRATES.iter().flat_map(|folder| files(&root.join(folder))) {
        let file = path.strip_prefix(root).unwrap().display().to_string();
        let mut found = Vec::new();
        literals(tokens(&path), &mut found);
        for (text, line) in found {
            if let Some(of) = declared.get(&text) {
                repeated.push(format!("{file}:{line}: `{text}` is declared at {of}"));
            }
        }
    }
    let count = repeated.len();
    assert!(count <= LEFT, "{count} literals repeat a declaration, {LEFT} did:\n{}", repeated.join("\n"));
}
