//! Items of a file: `use`, structs, enums, and a `mod` per version.

use syn::ext::IdentExt;

use super::ast::{Decl, DeclBody, Group, Marked, Marks, Use, Variant};
use super::reader::{Attr, ItemReader};
use super::source::{FileScope, SourceFile};
use super::words::ExprKind;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::Span;

pub(super) const VARIANT_ATTRIBUTES: &[&str] = &["value", "allow"];
pub(super) const VALUE_WORDS: &[&str] = &["gate"];

/// Reads one file of a folder into its group.
pub fn read(file: &SourceFile, index: usize, group: &mut Group, diagnostics: &mut Diagnostics) {
    let mut reader = ItemReader { scope: FileScope { file: &file.path }, diagnostics };
    for item in &file.syntax.items {
        reader.item(item, index, None, group);
    }
}

impl ItemReader<'_> {
    fn item(&mut self, item: &syn::Item, file: usize, home: Option<&Marked>, group: &mut Group) {
        match item {
            syn::Item::Struct(item) => group.decls.extend(self.struct_item(item, file, home)),
            syn::Item::Enum(item) => group.decls.extend(self.enum_item(item, file, home)),
            syn::Item::Use(item) => {
                let home = home.map(|home| home.text.clone());
                self.use_tree(&item.tree, &mut Vec::new(), &mut |path, alias, span| {
                    group.uses.push(Use { file, home: home.clone(), path, alias, span });
                });
            }
            syn::Item::Mod(item) => self.version_mod(item, file, home, group),
            other => self.unknown_item(other),
        }
    }

    fn version_mod(&mut self, item: &syn::ItemMod, file: usize, home: Option<&Marked>, group: &mut Group) {
        let name = item.ident.unraw().to_string();
        let span = self.scope.span(item.ident.span());
        if home.is_some() {
            return self.error(codes::UNKNOWN_ITEM, &span, "a version's `mod` holds no other `mod`");
        }
        if !group.head.versions.iter().any(|version| version.name == name) {
            let versions = group.head.versions.iter().map(|version| version.name.as_str());
            let diagnostic = Diagnostic::error(codes::VERSION, &span, format!("the group has no version `{name}`"));
            return self.push(diagnostic.suggest(&name, versions));
        }
        if group.head.versions.first().is_some_and(|hub| hub.name == name) {
            let diagnostic = Diagnostic::error(codes::VERSION, &span, format!("`{name}` is the hub"));
            return self.push(diagnostic.help("declarations of the hub are at the top of the file, outside any `mod`"));
        }
        self.attributes(&item.attrs, &[], "a version's `mod`");
        let Some((_, items)) = &item.content else {
            return self.error(codes::UNKNOWN_ITEM, &span, "a version's `mod` has to be in the same file, with braces");
        };
        let home = Marked { text: name, span };
        for item in items {
            self.item(item, file, Some(&home), group);
        }
    }

    fn unknown_item(&mut self, item: &syn::Item) {
        let (span, what) = match item {
            syn::Item::Fn(item) => (item.sig.fn_token.span, "a function"),
            syn::Item::Impl(item) => (item.impl_token.span, "an `impl`"),
            syn::Item::Trait(item) => (item.trait_token.span, "a trait"),
            syn::Item::Const(item) => (item.const_token.span, "a constant"),
            syn::Item::Static(item) => (item.static_token.span, "a static"),
            syn::Item::Type(item) => (item.type_token.span, "a type alias"),
            syn::Item::Macro(item) => (item.mac.bang_token.span, "a macro"),
            syn::Item::Union(item) => (item.union_token.span, "a `union`"),
            syn::Item::ExternCrate(item) => (item.extern_token.span, "an `extern crate`"),
            _ => return self.error(codes::UNKNOWN_ITEM, &self.scope.whole(), "an item that definitions do not have"),
        };
        let span = self.scope.span(span);
        let diagnostic =
            Diagnostic::error(codes::UNKNOWN_ITEM, &span, format!("definitions hold no such item: {what}"));
        self.push(diagnostic.help("definitions hold `use`, `struct`, `enum` and a `mod` per version"));
    }

    fn use_tree(
        &mut self,
        tree: &syn::UseTree,
        path: &mut Vec<String>,
        add: &mut dyn FnMut(Vec<String>, String, Span),
    ) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.unraw().to_string());
                self.use_tree(&step.tree, path, add);
                path.pop();
            }
            syn::UseTree::Name(name) => {
                let alias = name.ident.unraw().to_string();
                let full = path.iter().cloned().chain([alias.clone()]).collect();
                add(full, alias, self.scope.span(name.ident.span()));
            }
            syn::UseTree::Rename(rename) => {
                let full = path.iter().cloned().chain([rename.ident.unraw().to_string()]).collect();
                add(full, rename.rename.unraw().to_string(), self.scope.span(rename.ident.span()));
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(tree, path, add);
                }
            }
            syn::UseTree::Glob(glob) => {
                let span = self.scope.span(glob.star_token.spans[0]);
                self.push(
                    Diagnostic::error(codes::UNKNOWN_USE, &span, "`use` names each type").help("write the names out"),
                );
            }
        }
    }

    fn struct_item(&mut self, item: &syn::ItemStruct, file: usize, home: Option<&Marked>) -> Option<Decl> {
        let span = self.scope.span(item.ident.span());
        self.no_generics(&item.generics);
        let body = match &item.fields {
            syn::Fields::Named(fields) => DeclBody::Struct(self.fields(fields)),
            syn::Fields::Unit => DeclBody::Unit,
            syn::Fields::Unnamed(_) => {
                self.push(
                    Diagnostic::error(codes::BAD_TYPE, &span, "fields of a struct have names")
                        .help("write `{ name: Type }`"),
                );
                return None;
            }
        };
        let (docs, attrs) = self.struct_attrs(&item.attrs, &body);
        if matches!(body, DeclBody::Unit) && attrs.gone.is_none() && attrs.converts.is_empty() {
            let diagnostic =
                Diagnostic::error(codes::SHAPE, &span, "a struct without fields carries `gone` or `convert` only");
            self.push(diagnostic.help("write `struct Name {}` for a type without fields"));
        }
        Some(Decl { name: item.ident.unraw().to_string(), span, docs, file, home: home.cloned(), attrs, body })
    }

    fn enum_item(&mut self, item: &syn::ItemEnum, file: usize, home: Option<&Marked>) -> Option<Decl> {
        let span = self.scope.span(item.ident.span());
        self.no_generics(&item.generics);
        let variants = item.variants.iter().map(|variant| self.variant(variant)).collect();
        let (docs, attrs) = self.enum_attrs(&item.attrs);
        let body = DeclBody::Enum(variants);
        Some(Decl { name: item.ident.unraw().to_string(), span, docs, file, home: home.cloned(), attrs, body })
    }

    fn no_generics(&mut self, generics: &syn::Generics) {
        if let Some(open) = &generics.lt_token {
            let span = self.scope.span(open.span);
            self.error(codes::BAD_TYPE, &span, "types of the API take no parameters");
        }
    }

    fn variant(&mut self, variant: &syn::Variant) -> Variant {
        let (docs, attrs) = self.attributes(&variant.attrs, VARIANT_ATTRIBUTES, "a variant");
        let name = variant.ident.unraw().to_string();
        let span = self.scope.span(variant.ident.span());
        if !matches!(variant.fields, syn::Fields::Unit) || variant.discriminant.is_some() {
            let diagnostic = Diagnostic::error(codes::ENUM, &span, format!("variant `{name}` carries data"));
            self.push(
                diagnostic.help(
                    "enums are strings on the wire; for alternatives with data write a struct with `#[union(..)]`",
                ),
            );
        }
        let mut out = Variant { value: name.clone(), name, docs, gate: None, span, marks: Marks::default() };
        for attr in &attrs {
            match attr.name.as_str() {
                "value" => self.value(attr, &mut out),
                _ => self.mark(attr, &mut out.marks),
            }
        }
        out
    }

    /// `#[value("on-sale", gate = ShopSale)]`: the wire value, the gate, or both.
    fn value(&mut self, attr: &Attr, out: &mut Variant) {
        self.distinct(&attr.entries, "value");
        if attr.entries.is_empty() {
            self.error(codes::BAD_VALUE, &attr.span, "`value(..)` takes a string, or a gate");
        }
        for (index, entry) in attr.entries.iter().enumerate() {
            match (&entry.key, &entry.value.kind, entry.word().as_deref()) {
                (None, ExprKind::Str(text), _) if index == 0 => out.value.clone_from(text),
                (_, _, Some("gate")) => out.gate = self.ident(entry),
                _ => self.unknown(entry, "value", VALUE_WORDS),
            }
        }
    }
}
