//! Emits tables of the hand-written functions that definitions of Kubernetes' groups refer to, and the
//! calls that register them.
//!
//! Types and descriptors call the functions through one table per group. The crate that owns the
//! functions fills the tables with the text of [`registration`], where rustc checks their names and
//! signatures. Functions of custom groups are compiled in the package of the types, where rustc checks
//! each one against a constant of its type.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::rust::{Paths, identifier, tokens};
use super::{File, print};
use crate::functions::{Parameter, ParameterType, Passing, Signature, signatures};
use crate::model::{Group, Model, Package};

/// `src/functions.rs`, and `src/functions/<module>.rs` for groups that name functions.
pub fn files(model: &Model, package: Package) -> Vec<File> {
    let Some(owner) = package.owner() else { return Vec::new() };
    let paths = Paths { model, package };
    let tables = tables(model, package);
    let modules = tables.keys().map(|module| identifier(module));
    let index = quote! { #(pub mod #modules;)* };
    let docs = "Functions written by hand that definitions name; the crate that owns them registers them.";
    let mut files =
        vec![File { path: "src/functions.rs".into(), bytes: print::file(docs, &[print::Block::Items(index)]) }];
    files.extend(tables.iter().map(|(module, functions)| {
        let docs = format!("Functions of `{module}` that are written by hand.");
        let bytes = print::file(&docs, &print::separate_items(&table(paths, owner, functions).to_string()));
        File { path: format!("src/functions/{module}.rs"), bytes }
    }));
    files
}

/// The call that fills the tables of a package, as a file of [`Package::owner`].
pub fn registration(model: &Model, package: Package) -> File {
    let root = format_ident!("{}", package.name());
    let calls = tables(model, package).into_iter().map(|(module, functions)| {
        let module = identifier(module);
        let rows = functions.values().map(|function| {
            let (name, path) = (flat(&function.name), path(&function.name));
            quote! { #name: crate::#module::#path }
        });
        quote! { #root::functions::#module::register(#root::functions::#module::Functions { #(#rows),* }); }
    });
    let text = quote! {
        /// Makes the functions of all groups known to the types.
        pub fn register() { #(#calls)* }
    };
    let docs = "Enters the functions of this crate that definitions name.";
    File { path: "generated/registration.rs".into(), bytes: print::file(docs, &[print::Block::Items(text)]) }
}

/// `src/hatches.rs`, which includes the functions of custom groups.
///
/// The functions are in files in `folder`. The rendered file checks the type of each function.
pub fn custom_functions(model: &Model, package: Package, folder: &str) -> Option<File> {
    let paths = Paths { model, package };
    let tables = if package.owner().is_none() { tables(model, package) } else { BTreeMap::new() };
    let groups = tables.iter().map(|(module, functions)| {
        let (file, name) = (format!("{folder}/{module}.rs"), identifier(module));
        let checks = functions.values().map(|function| {
            let (path, returns) = (path(&function.name), returns(function));
            let types = function.parameters.iter().map(|parameter| ty(paths, parameter));
            quote! { const _: fn(#(#types),*) #returns = #name::#path; }
        });
        let group = quote! { #[path = #file] #[warn(clippy::all)] pub mod #name; };
        // Authors format the package together with their functions; rustfmt has to skip the generated
        // items.
        let checks = quote! { #[rustfmt::skip] const _: () = { #(#checks)* }; };
        [print::Block::Items(group), print::Block::Items(checks)]
    });
    let machinery = print::Block::Items(imports());
    let blocks: Vec<print::Block> = std::iter::once(machinery).chain(groups.flatten()).collect();
    let docs = "Functions written by hand that definitions name (`by_hand`), and the signatures that they need.";
    let file = || File { path: "src/hatches.rs".into(), bytes: print::file(docs, &blocks) };
    (!tables.is_empty()).then(file)
}

/// Imports of the machinery types that functions take and return.
fn imports() -> TokenStream {
    quote! {
        use machinery::field_path::Path;
        use machinery::hooks::{Validation, WriteContext};
        use machinery::print::{Cell, PrintContext, RowCondition};
    }
}

/// Whether definitions of a group refer to functions.
pub fn has_functions(model: &Model, group: &Group) -> bool {
    signatures(model).iter().any(|signature| signature.module == group.module)
}

/// Path of a function of a group, relative to the package of the group's types.
pub fn place(model: &Model, module: &str, function: &str) -> String {
    let package = model.groups.iter().find(|group| group.module == module).map(|group| group.package);
    let module = super::rust::ident(module);
    if package.and_then(Package::owner).is_some() {
        format!("functions::{module}::{}", function.replace("::", "_"))
    } else {
        format!("hatches::{module}::{function}")
    }
}

/// The functions of each group, by name.
fn tables(model: &Model, package: Package) -> BTreeMap<&str, BTreeMap<String, Signature>> {
    let mut tables: BTreeMap<&str, BTreeMap<String, Signature>> = BTreeMap::new();
    for signature in signatures(model) {
        let group = model.groups.iter().find(|group| group.module == signature.module && group.package == package);
        if let Some(group) = group {
            tables.entry(&group.module).or_default().entry(signature.name.clone()).or_insert(signature);
        }
    }
    tables
}

fn table(paths: Paths<'_>, owner: &str, functions: &BTreeMap<String, Signature>) -> TokenStream {
    let fields = functions.values().map(|function| {
        let (name, returns) = (flat(&function.name), returns(function));
        let types = function.parameters.iter().map(|parameter| ty(paths, parameter));
        quote! { pub #name: fn(#(#types),*) #returns }
    });
    let calls = functions.values().map(|function| {
        let (name, returns) = (flat(&function.name), returns(function));
        let names: Vec<Ident> =
            function.parameters.iter().map(|parameter| format_ident!("{}", parameter.name)).collect();
        let types = function.parameters.iter().map(|parameter| ty(paths, parameter));
        quote! { pub fn #name(#(#names: #types),*) #returns { (functions().#name)(#(#names),*) } }
    });
    let missing = format!("`{owner}::register()` is called before objects are worked on");
    let imports = imports();
    quote! {
        use std::sync::OnceLock;
        #imports

        /// The functions by name.
        pub struct Functions { #(#fields),* }

        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

        /// Makes the functions known. Those of the first call stay.
        pub fn register(functions: Functions) { FUNCTIONS.get_or_init(|| functions); }

        fn functions() -> &'static Functions {
            FUNCTIONS.get().expect(#missing)
        }

        #(#calls)*
    }
}

fn ty(paths: Paths<'_>, parameter: &Parameter) -> TokenStream {
    let named = match parameter.ty {
        ParameterType::Struct(id) => tokens(&paths.path(id)),
        ParameterType::Named(name @ ("Validation" | "Path")) => tokens(&format!("{name}<'_>")),
        ParameterType::Named(name) => tokens(name),
    };
    match (parameter.passing, parameter.ty) {
        (Passing::Mutable, _) => quote! { &mut #named },
        (Passing::Shared, _) => quote! { &#named },
        (Passing::Optional, ParameterType::Struct(_)) => quote! { Option<&#named> },
        (Passing::Optional, ParameterType::Named(_)) => quote! { Option<#named> },
    }
}

fn returns(function: &Signature) -> TokenStream {
    match function.returns {
        "" => TokenStream::new(),
        "Vec" if function.parameters.len() == 1 => quote! { -> Vec<RowCondition> },
        "Vec" => quote! { -> Vec<String> },
        "Option" => quote! { -> Option<i64> },
        other => {
            let named = tokens(other);
            quote! { -> #named }
        }
    }
}

/// `v1beta1::default_device` as one identifier.
fn flat(name: &str) -> Ident {
    format_ident!("{}", name.replace("::", "_"))
}

fn path(name: &str) -> TokenStream {
    tokens(name)
}
