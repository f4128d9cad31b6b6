//! Validates the names of a new crate, its group and its kind, so that the crate compiles.

use super::checkout::Checkout;
use crate::error::MAX_LENGTH;
use crate::error::{GroupError, KindError, NameError, NewError};

/// Dependencies of the new crate, crates of Rust, and generated modules.
const RESERVED: [&str; 21] = [
    "alloc",
    "apimachinery",
    "apiserver",
    "build",
    "bytes",
    "catalog",
    "cel",
    "codegen",
    "core",
    "deps",
    "examples",
    "generated",
    "hatches",
    "http",
    "incremental",
    "machinery",
    "proc_macro",
    "regex",
    "serde_json",
    "std",
    "tokio",
];

/// Rust's lower-case keywords, and `test`.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "test", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Types in the definitions of a scaffold, and types that every definition imports.
const TYPES: [&str; 16] = [
    "Box",
    "Condition",
    "Duration",
    "IntOrString",
    "Map",
    "MicroTime",
    "ObjectMeta",
    "Option",
    "Quantity",
    "RawExtension",
    "Result",
    "Self",
    "Some",
    "String",
    "Time",
    "Vec",
];

/// Validates the crate name, which is also the name of a Service.
pub fn check_crate(name: &str) -> Result<(), NewError> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_whole = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.ends_with(ends);
    if !is_whole || !name.chars().all(is_inner) || name.len() > MAX_LENGTH {
        return Err(NewError::CrateName { name: name.to_owned() });
    }
    check_free(&library(name)).map_err(|source| NewError::CrateTaken { name: name.to_owned(), source })
}

/// Validates the group name.
pub fn check_group(group: &str, checkout: &Checkout) -> Result<(), NewError> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.len() < 64
            && label.starts_with(letter)
            && label.ends_with(letter)
            && label.chars().all(|c| letter(c) || c == '-')
    };
    let refuse = |source: GroupError| Err(NewError::Group { group: group.to_owned(), source });
    if !group.contains('.') || group.len() > 200 || !group.split('.').all(is_label) {
        return refuse(GroupError::NoSubdomain);
    }
    if ["k8s.io", "kubernetes.io"].iter().any(|end| group == *end || group.ends_with(&format!(".{end}"))) {
        return refuse(GroupError::OfKubernetes);
    }
    let module = module(group);
    if module.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse(GroupError::Digit);
    }
    if checkout.has_module(&module) {
        return refuse(GroupError::ModuleOfKubernetes { module });
    }
    check_free(&module).or_else(|taken| refuse(taken.into()))
}

/// Validates the kind name, which is also a type name.
pub fn check_kind(kind: &str) -> Result<(), NewError> {
    let refuse = |source: KindError| Err(NewError::Kind { kind: kind.to_owned(), source });
    let is_name = kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_name || kind.len() > MAX_LENGTH {
        return refuse(KindError::NotCamelCase);
    }
    match TYPES.contains(&kind) {
        true => refuse(KindError::InScope),
        false if kind == "Group" => refuse(KindError::Group),
        false => Ok(()),
    }
}

fn check_free(module: &str) -> Result<(), NameError> {
    match () {
        () if KEYWORDS.contains(&module) => Err(NameError::Keyword { module: module.to_owned() }),
        () if RESERVED.contains(&module) => Err(NameError::Exists { module: module.to_owned() }),
        () => Ok(()),
    }
}

/// Returns the crate name as a Rust identifier.
pub fn library(name: &str) -> String {
    name.replace('-', "_")
}

/// Returns the crate name as a DNS label.
pub fn label(name: &str) -> String {
    name.replace('_', "-")
}

/// Returns the module of a group: its first label.
pub fn module(group: &str) -> String {
    group.split('.').next().unwrap_or_default().replace('-', "_")
}

/// Returns the lower-case plural of a kind (upstream: `UnsafeGuessKindToResource`).
pub fn plural(kind: &str) -> String {
    let one = kind.to_ascii_lowercase();
    let is_sibilant = ["s", "x", "ch", "sh"].iter().any(|end| one.ends_with(end));
    let is_vowel = |c: char| matches!(c, 'a' | 'e' | 'o' | 'u');
    match one.strip_suffix('y').filter(|stem| !stem.ends_with(is_vowel)) {
        Some(stem) => format!("{stem}ies"),
        None if is_sibilant => format!("{one}es"),
        None => format!("{one}s"),
    }
}
