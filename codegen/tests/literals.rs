//! Hand-written code must not repeat declared texts: values of enums, names of feature gates and JSON
//! names of fields are constants.
//!
//! The generator writes a module of constants for each enum (`generated::core::v1::pod_phase`), gates
//! are constants of `machinery::features`, and `machinery::json_name!` gives the JSON name of a field.
//! A literal of the same text would not follow a change of the declaration, and a misspelled one would
//! compile. Literals with the same text and another meaning are listed here.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use codegen::model::Package;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, Lit};

/// Crates that refer to Kubernetes' kinds.
const CRATES: [&str; 4] =
    ["server/admission/src", "server/controlplane/src", "server/kubernetes/src", "server/meta/src"];

/// Literals with a declared text and another meaning: the file below `server/`, and the text.
const OTHER_FACTS: [(&str, &str); 48] = [
    // Names of objects, and words of configurations and expressions.
    ("admission/src/event_rate_limit.rs", "User"),
    ("admission/src/policies/mutating.rs", "Object"),
    ("controlplane/src/aggregation/service_resolver.rs", "kubernetes"),
    ("controlplane/src/services/ip_allocator.rs", "kubernetes"),
    ("controlplane/src/services/kubernetes.rs", "kubernetes"),
    ("kubernetes/src/admissionregistration/expressions.rs", "Object"),
    ("kubernetes/src/autoscaling/behavior.rs", "Value"),
    ("kubernetes/src/batch/validation/schedule.rs", "Local"),
    ("meta/src/meta/object_meta.rs", "kubernetes"),
    // The cluster address of a headless service.
    ("controlplane/src/aggregation/service_resolver.rs", "None"),
    ("controlplane/src/services/stored.rs", "None"),
    ("kubernetes/src/core/strategy/service.rs", "None"),
    ("kubernetes/src/core/validation/service.rs", "None"),
    // Reasons and words of messages.
    ("admission/src/node_restriction.rs", "Unknown"),
    ("admission/src/quota/usage.rs", "Infeasible"),
    ("admission/src/toleration_restriction.rs", "cluster"),
    ("controlplane/src/aggregation/availability.rs", "Local"),
    ("controlplane/src/connect/log/options.rs", "All"),
    ("controlplane/src/flow_control/consumer.rs", "NotFound"),
    ("meta/src/apiregistration/strategy.rs", "Local"),
    // Types of conditions, and kinds of subjects, that no enum declares.
    ("kubernetes/src/rbac.rs", "Group"),
    ("kubernetes/src/rbac.rs", "User"),
    ("kubernetes/src/resource/columns.rs", "Complete"),
    ("kubernetes/src/resource/columns.rs", "Failed"),
    ("kubernetes/src/scheduling/columns.rs", "DisruptionTarget"),
    ("kubernetes/src/storagemigration.rs", "Failed"),
    ("kubernetes/src/storagemigration.rs", "Running"),
    ("kubernetes/src/storagemigration.rs", "Succeeded"),
    // Cells of tables.
    ("kubernetes/src/batch/columns.rs", "False"),
    ("kubernetes/src/batch/columns.rs", "Running"),
    ("kubernetes/src/batch/columns.rs", "Terminating"),
    ("kubernetes/src/batch/columns.rs", "True"),
    ("kubernetes/src/certificates/columns.rs", "Pending"),
    ("kubernetes/src/core/columns.rs", "Healthy"),
    ("kubernetes/src/core/columns.rs", "Unhealthy"),
    ("kubernetes/src/core/columns.rs", "Unknown"),
    ("kubernetes/src/core/columns/node.rs", "Ready"),
    ("kubernetes/src/core/columns/node.rs", "Unknown"),
    ("kubernetes/src/core/columns/pod.rs", "Completed"),
    ("kubernetes/src/core/columns/pod.rs", "Running"),
    ("kubernetes/src/core/columns/pod.rs", "Terminating"),
    ("kubernetes/src/core/columns/pod.rs", "Unknown"),
    ("kubernetes/src/core/columns/volume.rs", "Terminating"),
    ("kubernetes/src/resource/columns.rs", "Pending"),
    ("kubernetes/src/scheduling/columns.rs", "Pending"),
    ("kubernetes/src/storagemigration/columns.rs", "Unknown"),
    ("meta/src/apiregistration/columns.rs", "Local"),
    ("meta/src/apiregistration/columns.rs", "Unknown"),
];

/// Each declared text with the place of its declaration.
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
    // Names of kinds and resources, and wildcards, may be literals.
    let kinds = model.groups.iter().flat_map(|group| &group.kinds);
    for kind in kinds {
        texts.remove(&kind.name);
        kind.resource.iter().for_each(|resource| drop(texts.remove(&resource.plural)));
    }
    ["", "*"].into_iter().for_each(|text| drop(texts.remove(text)));
    texts
}

/// The source files of a crate, without test files.
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

/// The tokens of a file without tests.
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

/// JSON names that paths of fields are built from as literals (`Path::new("spec")`,
/// `path.child("name")`), with their lines.
fn steps_of_paths(tokens: TokenStream, out: &mut Vec<(String, usize)>) {
    let (mut is_step, mut of_path) = (false, false);
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let mut found = Vec::new();
            literals(group.stream(), &mut found);
            match is_step && group.stream().into_iter().count() == 1 {
                true => out.append(&mut found),
                false => steps_of_paths(group.stream(), out),
            }
        }
        if let TokenTree::Ident(name) = &token {
            is_step = name == "child" || (of_path && name == "new");
            of_path = name == "Path";
        } else if !matches!(&token, TokenTree::Punct(colon) if colon.as_char() == ':') {
            (is_step, of_path) = (false, false);
        }
    }
}

#[test]
fn path_steps_do_not_repeat_json_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let model = codegen::load(root).unwrap();
    let fields = model.structs.iter().flat_map(|one| &one.fields);
    // Functions about metadata of any kind begin at `metadata`.
    let declared: BTreeSet<&str> =
        fields.map(|field| field.json.as_str()).filter(|name| !matches!(*name, "" | "metadata")).collect();
    let mut repeated = Vec::new();
    for path in CRATES.iter().flat_map(|folder| files(&root.join(folder))) {
        let mut found = Vec::new();
        steps_of_paths(tokens(&path), &mut found);
        let names = found.into_iter().filter(|(name, _)| declared.contains(name.as_str()));
        repeated.extend(names.map(|(name, line)| format!("{}:{line}: `{name}`", path.display())));
    }
    assert!(repeated.is_empty(), "steps repeat JSON names, use `json_name!`:\n{}", repeated.join("\n"));
}

#[test]
fn no_literal_repeats_enum_value_or_gate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let declared = declared(root);
    let (mut repeated, mut unused) = (Vec::new(), OTHER_FACTS.to_vec());
    for path in CRATES.iter().flat_map(|folder| files(&root.join(folder))) {
        let file = path.strip_prefix(root.join("server")).unwrap().display().to_string();
        let mut found = Vec::new();
        literals(tokens(&path), &mut found);
        for (text, line) in found {
            let Some(of) = declared.get(&text) else { continue };
            if OTHER_FACTS.contains(&(&file, &text)) {
                unused.retain(|other| *other != (&file, &text));
            } else {
                repeated.push(format!("server/{file}:{line}: `{text}` is declared at {of}"));
            }
        }
    }
    assert!(repeated.is_empty(), "literals repeat a declaration, use its constant:\n{}", repeated.join("\n"));
    assert_eq!(unused, [], "no such literals are left");
}
