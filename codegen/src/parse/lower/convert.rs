//! Builds the conversions between structs and their hub forms: renamed fields and hand-written pairs.
//!
//! The hub of a version's own form is the struct of that name in the hub version. The hub of a kind
//! that is `stored_as` a kind of another group is that kind; the structs below it are paired by their
//! places.

use std::collections::HashMap;

use super::super::ast::{Convert, Marked};
use super::build::Ids;
use super::instances::{Instances, type_at};
use super::program::{DeclId, Declarations};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes};
use crate::model::{Conversion, Field, Model, Span, Struct, StructId};
use crate::paths;

/// Sets [`crate::model::Struct::conversion`] of every struct that has a hub.
pub fn build(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    let mut pairs: HashMap<StructId, StructId> = HashMap::new();
    within_groups(instances, ids, &mut pairs);
    across_groups(program, instances, ids, model, &mut pairs);
    for (here, hub) in &pairs {
        model.structs[here.0].conversion = Some(Conversion { hub: Some(*hub), ..Conversion::default() });
    }
    renames(instances, ids, model, diagnostics);
    for (group, definition) in program.groups.iter().enumerate() {
        for (decl, declaration) in definition.decls.iter().enumerate() {
            for convert in &declaration.attrs.converts {
                let found = find(program, instances, ids, DeclId { group, decl }, convert);
                let done = found.and_then(|here| hand_written(here, convert, model));
                diagnostics.extend(done.err());
            }
        }
    }
}

fn within_groups(instances: &Instances<'_>, ids: &Ids, pairs: &mut HashMap<StructId, StructId>) {
    let hubs = instances.hubs();
    for (id, instance) in instances.all.iter().enumerate().filter(|(id, _)| ids.shared[*id] == *id) {
        let hub = hubs.get(&instance.root).filter(|hub| **hub != id);
        if let (Some(here), Some(hub)) = (ids.struct_of(id), hub.and_then(|hub| ids.struct_of(*hub))) {
            pairs.insert(here, hub);
        }
    }
}

fn across_groups(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &Model,
    pairs: &mut HashMap<StructId, StructId>,
) {
    for instance in &instances.all {
        let kind = instance.decl.attrs.kind.as_ref();
        let stored_as = kind.and_then(|kind| kind.stored_as.as_ref()).and_then(|path| type_at(program, &path.segments));
        let ends = (instances.get(instance.key), stored_as.and_then(|key| instances.get(key)));
        let (Some(here), Some(hub)) = ends else { continue };
        if let (Some(here), Some(hub)) = (ids.struct_of(here), ids.struct_of(hub)) {
            pair_below(here, hub, model, pairs);
        }
    }
}

/// Pairs two structs, and the structs of their fields with equal JSON names.
fn pair_below(here: StructId, hub: StructId, model: &Model, pairs: &mut HashMap<StructId, StructId>) {
    let same_group = model.structs[here.0].module == model.structs[hub.0].module;
    if same_group || pairs.contains_key(&here) {
        return;
    }
    pairs.insert(here, hub);
    for field in &model.structs[here.0].fields {
        let counterpart = model.structs[hub.0].fields.iter().find(|other| other.name == field.name);
        let held = (field.ty.held(), counterpart.and_then(|other| other.ty.held()));
        if let (Some(here), Some(hub)) = held {
            pair_below(here, hub, model, pairs);
        }
    }
}

fn renames(instances: &Instances<'_>, ids: &Ids, model: &mut Model, diagnostics: &mut Diagnostics) {
    for (id, instance) in instances.all.iter().enumerate().filter(|(id, _)| ids.shared[*id] == *id) {
        let Some(here) = ids.struct_of(id) else { continue };
        for member in &instance.fields {
            let Some(renamed) = &member.field.renamed else { continue };
            let hub = model.structs[here.0].conversion.as_ref().and_then(|conversion| conversion.hub);
            let counterpart = hub.and_then(|hub| json_of(&model.structs[hub.0].fields, renamed));
            match (&mut model.structs[here.0].conversion, counterpart) {
                (Some(conversion), Some(hub)) => {
                    let json = &member.field.model.json;
                    let json = if json.is_empty() { &member.field.model.name } else { json };
                    conversion.renames.push((json.clone(), hub.clone()));
                    stands_for(&mut model.structs[here.0], json, [hub]);
                }
                _ => diagnostics.push(no_counterpart(renamed)),
            }
        }
    }
}

fn no_counterpart(renamed: &Marked) -> Diagnostic {
    let message = format!("no hub has a field `{}` that this one could be a new name of", renamed.text);
    error(codes::NOT_IN_HUB, &renamed.span, message)
}

fn error(code: Code, span: &Span, message: String) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

fn find(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    by: DeclId,
    convert: &Convert,
) -> Result<StructId, Diagnostic> {
    let version = program.home(by);
    let key = program.find(by.group, version, &convert.of.text, version).ok();
    key.and_then(|key| instances.get(key)).and_then(|id| ids.struct_of(id)).ok_or_else(|| {
        let message = format!("{} has no struct `{}`", program.version_name(by.group, version), convert.of.text);
        let visible = program.visible(by.group, version);
        let diagnostic = error(codes::NOT_IN_HUB, &convert.of.span, message);
        match crate::diagnostics::did_you_mean(&convert.of.text, &visible) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    })
}

fn hand_written(here: StructId, convert: &Convert, model: &mut Model) -> Result<(), Diagnostic> {
    let hub = model.structs[here.0].conversion.as_ref().and_then(|conversion| conversion.hub).ok_or_else(|| {
        let message = format!("`{}` has no other form to convert to", convert.of.text);
        let help = "`convert(..)` stands in the `mod` of a version, for a struct that differs from the hub's, or below a kind that \
                    is `stored_as` another";
        error(codes::NOT_IN_HUB, &convert.of.span, message).help(help)
    })?;
    let names = |side: &[Marked], id| side.iter().map(|word| name(word, id, model)).collect::<Result<Vec<_>, _>>();
    let (here_only, hub_only) = (names(&convert.here, here)?, names(&convert.hub, hub)?);
    if let [json] = here_only.as_slice() {
        stands_for(&mut model.structs[here.0], json, hub_only.iter().cloned());
    }
    if let Some(conversion) = &mut model.structs[here.0].conversion {
        conversion.here_only.extend(here_only);
        conversion.hub_only.extend(hub_only);
        conversion.by_hand.extend(convert.by_hand.iter().map(|function| function.text.clone()));
    }
    Ok(())
}

/// Records the hub fields that a version's field corresponds to, except for a field of the same name or
/// paths below other fields.
fn stands_for(one: &mut Struct, json: &str, hub: impl IntoIterator<Item = String>) {
    let Some(field) = one.fields.iter_mut().find(|field| field.json == json) else { return };
    field.hub_names.extend(hub.into_iter().filter(|name| name != json && !name.contains('.')));
}

/// A field's JSON name by its Rust or JSON name, or a path of JSON names.
fn name(word: &Marked, id: StructId, model: &Model) -> Result<String, Diagnostic> {
    if let Some(json) = json_of(&model.structs[id.0].fields, word) {
        return Ok(json);
    }
    let place = paths::follow(model, id, &word.text);
    place.map(|_| word.text.clone()).map_err(|why| error(codes::NOT_IN_HUB, &word.span, why.to_string()))
}

/// The JSON name of a field. `#[convert]` and `renamed` accept Rust and JSON names; the model has JSON
/// names.
fn json_of(fields: &[Field], word: &Marked) -> Option<String> {
    let found = fields.iter().find(|field| field.name == word.text || field.json == word.text);
    found.map(|field| if field.json.is_empty() { field.name.clone() } else { field.json.clone() })
}
