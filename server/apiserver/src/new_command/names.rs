//! Names of a new crate, its group and its kind: those with which the crate compiles.

use super::checkout::Checkout;

/// Crates that the new one uses or that Rust has, and modules that the generator writes.
const TAKEN: [&str; 21] = [
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

/// Rust's keywords in small letters, and `test`.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "test", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Types that the definitions of a scaffold use, and those that every definition knows.
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

/// Greatest length of a crate's name, which objects of the deployment have with a suffix.
const LONGEST: usize = 50;

/// Checks the name of the crate, which is that of a service in a cluster, too.
pub fn check_crate(name: &str) -> Result<(), String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_whole = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.ends_with(ends);
    if !is_whole || !name.chars().all(is_inner) || name.len() > LONGEST {
        let rule = "small letters, digits, `-` and `_`, first a letter, last a letter or a digit";
        return Err(format!("{name:?} is no name of a crate here: {rule}, at most {LONGEST}"));
    }
    check_free(&library(name)).map_err(|why| format!("the crate cannot be called {name:?}: {why}"))
}

/// Checks the name of the group.
pub fn check_group(group: &str, checkout: &Checkout) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.len() < 64
            && label.starts_with(letter)
            && label.ends_with(letter)
            && label.chars().all(|c| letter(c) || c == '-')
    };
    let refuse = |why: &str| Err(format!("--group {group:?}: {why}"));
    if !group.contains('.') || group.len() > 200 || !group.split('.').all(is_label) {
        return refuse("a group is a DNS subdomain with a dot, such as `shop.example.com`");
    }
    if ["k8s.io", "kubernetes.io"].iter().any(|end| group == *end || group.ends_with(&format!(".{end}"))) {
        return refuse("groups below k8s.io and kubernetes.io are Kubernetes' own");
    }
    let module = module(group);
    if module.starts_with(|c: char| c.is_ascii_digit()) {
        return refuse("its first label names a module, which begins with a letter");
    }
    if checkout.has_module(&module) {
        return refuse(&format!("its first label names a module, and `{module}` is one of Kubernetes' groups"));
    }
    check_free(&module).or_else(|why| refuse(&format!("its first label names a module: {why}")))
}

/// Checks the name of the kind, which is that of a type.
pub fn check_kind(kind: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("--kind {kind:?}: {why}"));
    let is_name = kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_name || kind.len() > LONGEST {
        return refuse("a kind is called in CamelCase: letters and digits, first a capital letter");
    }
    match TYPES.contains(&kind) {
        true => refuse("every definition knows a type of this name"),
        false if kind == "Group" => refuse("the file `group.rs` declares the group"),
        false => Ok(()),
    }
}

fn check_free(module: &str) -> Result<(), String> {
    match () {
        () if KEYWORDS.contains(&module) => Err(format!("`{module}` is a word of Rust")),
        () if TAKEN.contains(&module) => Err(format!("a crate or module `{module}` is there already")),
        () => Ok(()),
    }
}

/// The crate as Rust code names it.
pub fn library(name: &str) -> String {
    name.replace('-', "_")
}

/// The crate's name as a label of DNS.
pub fn label(name: &str) -> String {
    name.replace('_', "-")
}

/// The module of a group: its first label.
pub fn module(group: &str) -> String {
    group.split('.').next().unwrap_or_default().replace('-', "_")
}

/// The plural of a kind, in small letters (upstream: `UnsafeGuessKindToResource`).
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
