//! Emits versioned types: one module per definition file and version, with plain structs and their
//! descriptors.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::print::{self, Block};
use super::rust::{HEADER, Paths, children, constant, doc, docs, ident, identifier, snake, tokens};
use super::{File, checks, descriptor, facts::Facts, imports, package::extra_modules};
use crate::model::{Enum, Model, Package, Role, Struct, StructId};

/// Every module of types of one package, and the `mod.rs` files that declare them.
pub fn files(model: &Model, facts: &Facts, package: Package) -> Vec<File> {
    let paths = Paths { model, package };
    let mut modules: BTreeMap<(String, String, String), Module> = BTreeMap::new();
    for (index, s) in model.structs.iter().enumerate() {
        if paths.package_of(&s.module) == package {
            let key = (s.module.clone(), s.version.clone(), stem(&s.span.file));
            modules.entry(key).or_default().structs.push(StructId(index));
        }
    }
    for e in &model.enums {
        if paths.package_of(&e.module) == package {
            let key = (e.module.clone(), e.version.clone(), stem(&e.span.file));
            modules.entry(key).or_default().enums.push(e);
        }
    }
    let mut out: Vec<File> = modules
        .iter()
        .map(|((module, version, stem), m)| File {
            path: format!("src/{module}/{version}/{stem}.rs"),
            bytes: m.render(paths, facts, stem),
        })
        .collect();
    out.extend(mod_files(model, package, &modules));
    out
}

#[derive(Default)]
struct Module<'m> {
    structs: Vec<StructId>,
    enums: Vec<&'m Enum>,
}

/// The definition file's name without `.rs`, as a module name.
fn stem(file: &std::path::Path) -> String {
    file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().replace(['-', '.'], "_"))
}

/// `src/<module>/mod.rs` and `src/<module>/<version>/mod.rs`.
fn mod_files(model: &Model, package: Package, modules: &BTreeMap<(String, String, String), Module>) -> Vec<File> {
    let mut out = Vec::new();
    for group in model.groups.iter().filter(|g| g.package == package) {
        let mut text = format!("{HEADER}{}\n", docs(&group.docs, "").replace("///", "//!"));
        for version in &group.versions {
            text.push_str(&format!("pub mod {};\n", ident(&version.name)));
            out.push(version_mod(model, group, version, modules));
        }
        text.push_str(&extra_modules(model, group));
        out.push(File { path: format!("src/{}/mod.rs", group.module), bytes: text.into_bytes() });
    }
    out
}

/// The `mod.rs` of a version: declares its files and aliases structs that it shares with another
/// version.
fn version_mod(
    model: &Model,
    group: &crate::model::Group,
    version: &crate::model::Version,
    modules: &BTreeMap<(String, String, String), Module>,
) -> File {
    let label = if group.name.is_empty() { "core" } else { &group.name };
    let own: Vec<&String> =
        modules.keys().filter(|(m, v, _)| *m == group.module && *v == version.name).map(|(_, _, stem)| stem).collect();
    // A file with the name of one of its enums would shadow the enum's module.
    let taken = |stem: &str| version.enums.keys().any(|name| snake(name) == stem);
    let module = |stem: &str| if taken(stem) { identifier(&format!("{stem}_file")) } else { identifier(stem) };
    let declared: TokenStream = own
        .iter()
        .map(|stem| {
            let path = taken(stem).then(|| format!("{stem}.rs")).into_iter();
            let module = module(stem);
            quote! { #(#[path = #path])* mod #module; }
        })
        .collect();
    let mut shared: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, id) in &version.structs {
        let s = &model.structs[id.0];
        if s.module == group.module && s.version != version.name {
            let names = shared.entry(&s.version).or_default();
            names.insert(ident(name));
            names.insert(constant(name));
        }
    }
    let own = own.iter().map(|stem| module(stem));
    let shared = shared.into_iter().map(|(from, names)| {
        let (from, names) = (identifier(from), names.into_iter().map(|name| tokens(&name)));
        quote! { pub use super::#from::{#(#names),*}; }
    });
    let used = quote! { #(pub use #own::*;)* #(#shared)* };
    let blocks: Vec<Block> = [declared, used].into_iter().filter(|items| !items.is_empty()).map(Block::Items).collect();
    let bytes = print::file(&format!("{label}/{}.", version.name), &blocks);
    File { path: format!("src/{}/{}/mod.rs", group.module, version.name), bytes }
}

impl Module<'_> {
    /// Structs of this version that other files declare and fields in this file refer to.
    fn siblings(&self, paths: Paths<'_>, stem_here: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for home in self.structs.iter().map(|&id| paths.structure(id)) {
            let held = children(home).map(|id| paths.structure(id));
            let near = held
                .filter(|s| s.module == home.module && s.version == home.version && stem(&s.span.file) != stem_here);
            names.extend(near.map(|s| ident(&s.name)));
        }
        names
    }

    fn render(&self, paths: Paths<'_>, facts: &Facts, stem: &str) -> Vec<u8> {
        let first = self.structs.first().map(|&id| &paths.structure(id).span);
        let source =
            first.or(self.enums.first().map(|e| &e.span)).map_or(String::new(), |s| s.file.display().to_string());
        let mut parts = Vec::new();
        for e in &self.enums {
            parts.push(Block::Items(enum_values(e)));
        }
        for &id in &self.structs {
            let s = paths.structure(id);
            parts.push(Block::Items(structure(s, paths)));
            parts.extend(
                Some(checks::rows(id, paths.model)).filter(|rows| !rows.is_empty()).map(|rows| Block::parse(&rows)),
            );
            parts.push(Block::Table(descriptor::table(id, s, paths, facts)));
        }
        let structs: Vec<&Struct> = self.structs.iter().map(|&id| paths.structure(id)).collect();
        let mut blocks = imports::of(&structs, paths.model);
        let siblings = self.siblings(paths, stem);
        if !siblings.is_empty() {
            let names = siblings.iter().map(|name| tokens(name));
            blocks.push(Block::Items(quote! { use super::{#(#names),*}; }));
        }
        blocks.extend(parts);
        print::file(&format!("From {source}."), &blocks)
    }
}

/// The values of an enum as constants. Fields are strings, because clients may send values that this
/// release does not know.
fn enum_values(e: &Enum) -> TokenStream {
    let (docs, module) = (doc(&e.docs), identifier(&snake(&e.name)));
    let values = e.variants.iter().map(|(variant, value, docs)| {
        let name = constant(variant);
        let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("V{name}") } else { name };
        let (name, docs) = (identifier(&name), doc(docs));
        quote! { #docs pub const #name: &str = #value; }
    });
    quote! { #docs pub mod #module { #(#values)* } }
}

fn structure(s: &Struct, paths: Paths<'_>) -> TokenStream {
    let (docs, name) = (doc(&s.docs), identifier(&s.name));
    let type_meta = (s.role != Role::Part).then(|| {
        let docs = doc("Its kind and version, where it travels as an object of its own.");
        quote! { #docs pub type_meta: TypeMeta, }
    });
    let fields = s.fields.iter().map(|field| {
        let (docs, name, ty) = (doc(&field.docs), identifier(&field.name), tokens(&paths.field_type(field, s)));
        quote! { #docs pub #name: #ty }
    });
    quote! { #docs #[derive(Clone, Default)] pub struct #name { #type_meta #(#fields),* } }
}
