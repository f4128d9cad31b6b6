//! Determines which instances are the same type as their hub's.
//!
//! Types may be recursive, so the analysis is optimistic: it assumes that everything is shared until it
//! finds a difference. A type with a difference is not shared, and neither are the types that contain
//! it; the analysis repeats until nothing changes (the greatest fixed point, as in minimizing an
//! automaton). Two strongly connected components that are equal throughout are shared.

use super::super::ast::{Attrs, DeclBody, Field, Variant};
use super::instances::{Instance, InstanceId, Instances, ResolvedType, deprecated, inherited};
use super::program::Declarations;
use crate::model;

/// For every instance the one that represents it: its hub's if shared, otherwise itself.
pub fn share(program: &Declarations, instances: &Instances<'_>) -> Vec<InstanceId> {
    let hubs = instances.hubs();
    let mut shared: Vec<InstanceId> = Vec::with_capacity(instances.all.len());
    for (id, instance) in instances.all.iter().enumerate() {
        let hub = hubs.get(&instance.root).copied().unwrap_or(id);
        let same = hub == id || same_words(program, instance, &instances.all[hub]);
        shared.push(if same { hub } else { id });
    }
    loop {
        let refuted: Vec<InstanceId> = (0..shared.len())
            .filter(|id| shared[*id] != *id && !same_types(&instances.all[*id], &instances.all[shared[*id]], &shared))
            .collect();
        if refuted.is_empty() {
            return shared;
        }
        for id in refuted {
            shared[id] = id;
        }
    }
}

fn same_types(here: &Instance<'_>, hub: &Instance<'_>, shared: &[InstanceId]) -> bool {
    here.fields.len() == hub.fields.len()
        && here.fields.iter().zip(&hub.fields).all(|(here, hub)| same_type(&here.ty, &hub.ty, shared))
}

fn same_type(here: &ResolvedType, hub: &ResolvedType, shared: &[InstanceId]) -> bool {
    match (here, hub) {
        (ResolvedType::Scalar(here), ResolvedType::Scalar(hub)) => here == hub,
        (ResolvedType::Instance(here), ResolvedType::Instance(hub)) => shared[*here] == shared[*hub],
        (ResolvedType::List(here), ResolvedType::List(hub)) | (ResolvedType::Map(here), ResolvedType::Map(hub)) => {
            same_type(here, hub, shared)
        }
        _ => false,
    }
}

/// Whether two instances are declared equally, apart from the types of their fields.
fn same_words(program: &Declarations, here: &Instance<'_>, hub: &Instance<'_>) -> bool {
    if here.key.decl == hub.key.decl {
        return true;
    }
    let docs = |instance: &Instance<'_>| match instance.decl.docs.is_empty() {
        true => program.decl(instance.root).docs.clone(),
        false => instance.decl.docs.clone(),
    };
    let bodies = match (&here.decl.body, &hub.decl.body) {
        (DeclBody::Enum(here), DeclBody::Enum(hub)) => {
            let same = |(here, hub): (&Variant, &Variant)| {
                (&here.name, &here.value, &here.docs, &here.gate) == (&hub.name, &hub.value, &hub.docs, &hub.gate)
            };
            here.len() == hub.len() && here.iter().zip(hub).all(same)
        }
        (DeclBody::Struct(_), DeclBody::Struct(_)) => {
            let pairs = || here.fields.iter().zip(&hub.fields);
            here.fields.len() == hub.fields.len() && pairs().all(|(here, hub)| same_field(here.field, hub.field))
        }
        _ => false,
    };
    bodies && here.decl.name == hub.decl.name && docs(here) == docs(hub) && same_attrs(program, here, hub)
}

fn same_field(here: &Field, hub: &Field) -> bool {
    if std::ptr::eq(here, hub) {
        return true;
    }
    let plain = |field: &Field| {
        let mut plain = model::Field { span: model::Span::default(), ..field.model.clone() };
        if plain.docs.is_empty() {
            plain.docs.clone_from(&hub.model.docs);
        }
        plain
    };
    here.renamed.is_none()
        && here.json_only == hub.json_only
        && here.default == hub.default
        && plain(here) == plain(hub)
}

fn same_attrs(program: &Declarations, here: &Instance<'_>, hub: &Instance<'_>) -> bool {
    fn same<T: PartialEq>(program: &Declarations, sides: [&Instance<'_>; 2], pick: fn(&Attrs) -> Option<&T>) -> bool {
        inherited(program, sides[0], pick) == inherited(program, sides[1], pick)
    }
    let sides = [here, hub];
    same(program, sides, |attrs| attrs.atomic.as_ref())
        && same(program, sides, |attrs| attrs.proto.as_ref())
        && same(program, sides, |attrs| attrs.json.as_ref())
        && same(program, sides, |attrs| attrs.defaults.as_ref())
        && same(program, sides, |attrs| attrs.normalize.as_ref())
        && same(program, sides, |attrs| attrs.unions.as_ref())
        && same_rules(program, sides)
        && deprecated(program, here) == deprecated(program, hub)
        && here.decl.attrs.open == hub.decl.attrs.open
}

fn same_rules(program: &Declarations, sides: [&Instance<'_>; 2]) -> bool {
    let plain = |side| {
        let rules = inherited(program, side, |attrs| attrs.rules.as_ref()).cloned().unwrap_or_default();
        rules.into_iter().map(|rule| model::Rule { span: model::Span::default(), ..rule }).collect::<Vec<_>>()
    };
    plain(sides[0]) == plain(sides[1])
}
