//! Checks that conversions lose nothing: a hand-written pair has to convert each field that only one
//! side has, or that has different types.

use std::collections::HashSet;

use super::Checker;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Conversion, Field, Model, Struct, StructId, TypeRef};
use crate::parse::type_text;
use crate::paths;

impl Checker<'_> {
    pub(super) fn conversion(&mut self, here: &Struct) {
        let Some((conversion, hub_id)) = here.conversion.as_ref().and_then(|one| Some((one, one.hub?))) else { return };
        let hub = &self.model.structs[hub_id.0];
        let covered = covered(self.model, here);
        for field in &here.fields {
            let counterpart = counterpart(conversion, field, hub);
            let by_hand = covered.contains(&key(&here.span, field))
                || counterpart.is_some_and(|other| covered.contains(&key(&hub.span, other)));
            match counterpart {
                _ if by_hand => {}
                None => self.one_sided(field, here, hub),
                Some(other) if !movable(self.model, &field.ty, &other.ty) => self.changed(field, here, other, hub),
                Some(_) => {}
            }
        }
        let taken: Vec<&Field> = here.fields.iter().filter_map(|field| counterpart(conversion, field, hub)).collect();
        for field in &hub.fields {
            let is_taken = taken.iter().any(|other| std::ptr::eq(*other, field));
            if !is_taken && !covered.contains(&key(&hub.span, field)) {
                self.lost(field, here, hub);
            }
        }
    }

    fn one_sided(&mut self, field: &Field, here: &Struct, hub: &Struct) {
        let message = format!("`{}` exists in {} only, and nothing converts it", field.name, here.version);
        let diagnostic =
            Diagnostic::error(codes::CONVERT_MISSING, &field.span, message).also(&hub.span, "the form it converts to");
        self.push(diagnostic.help(format!(
            "if the hub only renamed it, say `renamed = HUB_FIELD`; otherwise name a pair:\n\
             #[convert({}, by_hand = NAME, here({}))] struct Name;",
            here.name, field.name
        )));
    }

    fn lost(&mut self, field: &Field, here: &Struct, hub: &Struct) {
        let message = format!("{} of `{}` has no `{}`, and nothing converts it", here.version, here.name, field.name);
        let diagnostic =
            Diagnostic::error(codes::CONVERT_MISSING, &here.span, message).also(&field.span, "what the other form has");
        self.push(
            diagnostic.help(format!(
                "name a pair: #[convert({}, by_hand = NAME, hub({}))] struct Name;",
                hub.name, field.name
            )),
        );
    }

    fn changed(&mut self, field: &Field, here: &Struct, other: &Field, hub: &Struct) {
        let (ty, hub_ty) = (type_text(self.model, &field.ty), type_text(self.model, &other.ty));
        let message = format!(
            "`{}` is `{ty}` in {} and `{hub_ty}` in {}, and nothing converts it",
            field.name, here.version, hub.version
        );
        let diagnostic =
            Diagnostic::error(codes::CONVERT_TYPE, &field.span, message).also(&other.span, "the other form");
        let (mine, theirs) = (&field.name, &other.name);
        self.push(diagnostic.help(format!(
            "name a pair: #[convert({}, by_hand = NAME, here({mine}), hub({theirs}))] struct Name;",
            here.name
        )));
    }
}

/// Identifies a field of a declaration, independent of the versions that share the declaration.
type Key = (crate::model::Span, String);

fn key(owner: &crate::model::Span, field: &Field) -> Key {
    (owner.clone(), field.name.clone())
}

/// Fields that hand-written pairs convert: those of the struct's own pairs, and those that a pair of an
/// enclosing struct reaches by a path.
fn covered(model: &Model, here: &Struct) -> HashSet<Key> {
    let mut out = HashSet::new();
    for (index, one) in model.structs.iter().enumerate() {
        let Some(conversion) = one.conversion.as_ref() else { continue };
        let same_place = one.module == here.module && one.version == here.version;
        let Some(other) = conversion.hub.filter(|_| same_place) else { continue };
        cover(model, StructId(index), &conversion.here_only, &mut out);
        cover(model, other, &conversion.hub_only, &mut out);
    }
    out
}

fn cover(model: &Model, from: StructId, names: &[String], out: &mut HashSet<Key>) {
    for name in names {
        let own = model.structs[from.0].fields.iter().find(|field| field.json == *name || field.name == *name);
        let reached = own
            .map(|field| (from, field))
            .or_else(|| paths::follow(model, from, name).ok().map(|place| (place.owner, place.field)));
        out.extend(reached.map(|(owner, field)| key(&model.structs[owner.0].span, field)));
    }
}

fn counterpart<'m>(conversion: &Conversion, field: &Field, hub: &'m Struct) -> Option<&'m Field> {
    let own = if field.json.is_empty() { &field.name } else { &field.json };
    match conversion.renames.iter().find(|(here, _)| here == own) {
        Some((_, name)) => hub.fields.iter().find(|other| other.json == *name || other.name == *name),
        None => hub.fields.iter().find(|other| other.name == field.name),
    }
}

/// Whether a value can be moved without a function: equal types, forms of one struct, or strings
/// however declared.
fn movable(model: &Model, here: &TypeRef, hub: &TypeRef) -> bool {
    let text = |ty: &TypeRef| matches!(ty, TypeRef::String | TypeRef::Enum(_));
    match (here, hub) {
        (TypeRef::Struct(here), TypeRef::Struct(hub)) => {
            let form = model.structs[here.0].conversion.as_ref().and_then(|conversion| conversion.hub);
            here == hub || form == Some(*hub)
        }
        (TypeRef::List(here), TypeRef::List(hub)) | (TypeRef::Map(here), TypeRef::Map(hub)) => {
            movable(model, here, hub)
        }
        _ => here == hub || (text(here) && text(hub)),
    }
}
