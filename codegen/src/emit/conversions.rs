//! Emits conversions between a version's own structs and the hub's: plain moves, and calls of the
//! hand-written pairs.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::print::{self, Block};
use super::rust::{Paths, identifier, snake, tokens};
use super::{File, functions};
use crate::model::{Conversion, Field, Model, Package, Struct, StructId, TypeRef};

/// `src/<module>/conversions.rs` for each group with versions that differ.
pub fn files(model: &Model, package: Package) -> Vec<File> {
    let paths = Paths { model, package };
    let mut functions: BTreeMap<&str, Vec<Block>> = BTreeMap::new();
    for (index, s) in model.structs.iter().enumerate() {
        if let Some(conversion) = s.conversion.as_ref().filter(|_| paths.package_of(&s.module) == package)
            && let Some(hub) = conversion.hub
        {
            let of_group = functions.entry(&s.module).or_default();
            for direction in [Direction::ToHub, Direction::FromHub] {
                let pair = Pair { paths, here: StructId(index), hub, conversion, direction };
                of_group.push(Block::Items(pair.function()));
            }
        }
    }
    let file = |(module, functions): (&str, Vec<Block>)| {
        let bytes = print::file("Moves between versions of this group and their hub forms.", &functions);
        File { path: format!("src/{module}/conversions.rs"), bytes }
    };
    functions.into_iter().map(file).collect()
}

/// Whether a group has a conversions module.
pub fn exist(model: &Model, module: &str) -> bool {
    model.structs.iter().any(|s| s.module == module && s.conversion.as_ref().is_some_and(|c| c.hub.is_some()))
}

/// Path of the conversion function of a struct, as seen from `paths.package`.
pub fn function_path(paths: Paths<'_>, s: &Struct, direction: Direction) -> String {
    format!("{}::{}", paths.module(&s.module, "conversions"), function_name(s, direction))
}

fn function_name(s: &Struct, direction: Direction) -> String {
    let suffix = match direction {
        Direction::ToHub => "to_hub",
        Direction::FromHub => "from_hub",
    };
    format!("{}_{}_{suffix}", s.version, snake(&s.name))
}

/// Direction of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToHub,
    FromHub,
}

/// One function: a struct, its hub form, a direction.
struct Pair<'m> {
    paths: Paths<'m>,
    here: StructId,
    hub: StructId,
    conversion: &'m Conversion,
    direction: Direction,
}

impl Pair<'_> {
    fn function(&self) -> TokenStream {
        let here = self.paths.structure(self.here);
        let (from, to) = match self.direction {
            Direction::ToHub => (self.here, self.hub),
            Direction::FromHub => (self.hub, self.here),
        };
        let (source, target) = (self.paths.structure(from), self.paths.structure(to));
        let is_object = source.role != crate::model::Role::Part;
        let type_meta = is_object.then(|| quote! { type_meta: std::mem::take(&mut from.type_meta), });
        let moved = target.fields.iter().filter_map(|field| Some((field, self.origin(field, source)?)));
        let moves: Vec<TokenStream> = moved
            .map(|(field, origin)| {
                let (name, value) = (identifier(&field.name), self.value(origin, field));
                quote! { #name: #value, }
            })
            .collect();
        let rest = (moves.len() < target.fields.len()).then(|| quote! { ..Default::default() });
        let mutable = (!self.conversion.by_hand.is_empty()).then(|| quote! { mut });
        let by_hand = self.conversion.by_hand.iter().map(|function| {
            let suffix = if self.direction == Direction::ToHub { "to_hub" } else { "from_hub" };
            let place = functions::place(self.paths.model, &here.module, &format!("{function}_{suffix}"));
            let function = tokens(&place);
            quote! { crate::#function(from, &mut to); }
        });
        let name = identifier(&function_name(here, self.direction));
        let (from, to) = (tokens(&self.paths.path(from)), tokens(&self.paths.path(to)));
        quote! {
            pub fn #name(from: &mut #from) -> #to {
                let #mutable to = #to { #type_meta #(#moves)* #rest };
                #(#by_hand)*
                to
            }
        }
    }

    /// The field of the source that is moved into `field` of the target.
    fn origin<'s>(&self, field: &Field, source: &'s Struct) -> Option<&'s Field> {
        let by_hand = |f: &Field| {
            let names = [&self.conversion.here_only, &self.conversion.hub_only];
            names.iter().any(|list| list.iter().any(|n| *n == f.json || *n == f.name))
        };
        if by_hand(field) {
            return None;
        }
        let renamed = self.conversion.renames.iter().find_map(|(here, hub)| match self.direction {
            Direction::ToHub => (*hub == field.json || *hub == field.name).then_some(here),
            Direction::FromHub => (*here == field.json || *here == field.name).then_some(hub),
        });
        match renamed {
            Some(name) => source.fields.iter().find(|f| f.json == *name || f.name == *name),
            None => source.fields.iter().find(|f| f.name == field.name && !by_hand(f)),
        }
    }

    /// The moved value. Nested structs are converted; `Option` is added or removed where the sides
    /// differ.
    fn value(&self, from: &Field, to: &Field) -> TokenStream {
        let name = identifier(&from.name);
        let place = quote! { std::mem::take(&mut from.#name) };
        let is_struct = matches!(from.ty, TypeRef::Struct(_));
        let identity = from.ty == to.ty;
        if is_struct && !from.nullable && !identity {
            // Fields that are not moved stay in the source, where a pair of an enclosing struct reads
            // them.
            let inner = self.convert(&from.ty, &to.ty, quote! { from.#name });
            return if to.nullable {
                quote! { Some(Box::new(#inner)) }
            } else {
                inner
            };
        }
        let is_boxed = from.nullable && is_struct && identity;
        let inner = self.convert(
            &from.ty,
            &to.ty,
            if is_boxed {
                quote! { *v }
            } else {
                quote! { v }
            },
        );
        let v = binding(&from.ty, &to.ty);
        match (from.nullable, to.nullable) {
            (true, true) | (false, false) if identity => place,
            (true, true) if is_struct => quote! { #place.map(|#v| Box::new(#inner)) },
            (true, true) => quote! { #place.map(|#v| #inner) },
            (true, false) => quote! { { let #v = #place.unwrap_or_default(); #inner } },
            (false, true) if is_struct => quote! { { let #v = #place; Some(Box::new(#inner)) } },
            (false, true) => quote! { { let #v = #place; Some(#inner) } },
            (false, false) => quote! { { let #v = #place; #inner } },
        }
    }

    /// An expression that converts `v` from one type to the other.
    fn convert(&self, from: &TypeRef, to: &TypeRef, v: TokenStream) -> TokenStream {
        let item = |a, b| (binding(a, b), self.convert(a, b, quote! { v }));
        match (from, to) {
            _ if from == to => v,
            (TypeRef::Struct(a), TypeRef::Struct(b)) => {
                let (own, direction) = match self.direction {
                    Direction::ToHub => (self.paths.structure(*a), Direction::ToHub),
                    Direction::FromHub => (self.paths.structure(*b), Direction::FromHub),
                };
                let function = tokens(&function_path(self.paths, own, direction));
                quote! { #function(&mut #v) }
            }
            (TypeRef::List(a), TypeRef::List(b)) => {
                let (binding, item) = item(a, b);
                quote! { #v.into_iter().map(|#binding| #item).collect() }
            }
            (TypeRef::Map(a), TypeRef::Map(b)) => {
                let (binding, value) = item(a, b);
                quote! { #v.into_iter().map(|(k, #binding)| (k, #value)).collect() }
            }
            _ => v,
        }
    }
}

/// The pattern that binds a value to be converted; structs are destructured in place.
fn binding(from: &TypeRef, to: &TypeRef) -> TokenStream {
    if from != to && matches!(from, TypeRef::Struct(_)) {
        quote! { mut v }
    } else {
        quote! { v }
    }
}
