//! Names of formats and of name rules, read from the source of `format`, so that no second list
//! exists.

use std::path::{Path, PathBuf};

/// Allowed words of `format = ..` and `name = ..`. If the lists are empty because `format` is not
/// available, nothing is checked.
#[derive(Default)]
pub struct Formats {
    pub fields: Vec<String>,
    pub names: Vec<String>,
    /// Functions of `format::field` that return the errors of a text, which `check(.., format = ..)`
    /// refers to.
    pub texts: Vec<String>,
}

/// Formats with a word that differs from the variant's name: the Kubernetes names predate upstream's
/// tags.
const RENAMED: &[(&str, &str)] = &[
    ("short_name", "dns1123_label"),
    ("long_name", "dns1123_subdomain"),
    ("long_name_caseless", "dns1123_subdomain_caseless"),
];

/// Reads the variants of `DeclaredFormat` and `NameRule` below `server/format/src`.
pub fn read(root: &Path) -> Formats {
    let folder = root.join("server/format/src");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut formats = Formats::default();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let syntax = std::fs::read_to_string(file).ok().and_then(|text| syn::parse_file(&text).ok());
        syntax.iter().flat_map(|file| &file.items).for_each(|item| formats.add(item));
    }
    formats
}

impl Formats {
    fn add(&mut self, item: &syn::Item) {
        if let syn::Item::Fn(function) = item
            && matches!(function.vis, syn::Visibility::Public(_))
            && function.sig.inputs.len() == 2
        {
            self.texts.push(function.sig.ident.to_string());
        }
        let syn::Item::Enum(item) = item else { return };
        let words = item.variants.iter().map(|variant| snake(&variant.ident.to_string()));
        match item.ident.to_string().as_str() {
            "DeclaredFormat" => self.fields.extend(words.map(renamed)),
            "NameRule" => self.names.extend(words),
            _ => {}
        }
    }
}

fn renamed(word: String) -> String {
    RENAMED.iter().find(|(variant, _)| *variant == word).map_or(word, |(_, name)| name.to_string())
}

/// `Dns1123Label` -> `dns1123_label`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.char_indices() {
        if c.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
