//! How a version's own form of a struct relates to its hub's: renamed fields and hand-written pairs.

use std::collections::HashMap;

use super::super::ast::{Convert, Marked};
use super::build::Ids;
use super::instances::{Instance, InstanceId, Instances, Member, json_of};
use super::program::{DeclId, HUB, Program};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{Conversion, Model, Span, StructId};
use crate::paths;

/// Fills [`crate::model::Struct::conversion`] of every struct that is not its hub's own.
pub fn build(
    program: &Program,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    let hubs = instances.hubs();
    for (id, instance) in instances.all.iter().enumerate().filter(|(id, _)| ids.shared[*id] == *id) {
        let Some(hub) = hubs.get(&instance.root).filter(|hub| **hub != id) else { continue };
        let (Some(here), Some(hub_id)) = (ids.struct_of(id), ids.struct_of(*hub)) else { continue };
        let renames = instance.fields.iter().filter_map(|member| rename(member, &instances.all[*hub])).collect();
        model.structs[here.0].conversion = Some(Conversion { hub: Some(hub_id), renames, ..Conversion::default() });
    }
    for (group, definition) in program.groups.iter().enumerate() {
        for (decl, declaration) in definition.decls.iter().enumerate() {
            for convert in &declaration.attrs.converts {
                let by = DeclId { group, decl };
                hand_written(program, instances, ids, &hubs, by, convert, model, diagnostics);
            }
        }
    }
}

fn rename(member: &Member<'_>, hub: &Instance<'_>) -> Option<(String, String)> {
    let renamed = member.field.renamed.as_ref()?;
    Some((member.field.model.json.clone(), json_of(&hub.fields, renamed)?))
}

#[allow(clippy::too_many_arguments, reason = "one step of build, which owns all of these")]
fn hand_written(
    program: &Program,
    instances: &Instances<'_>,
    ids: &Ids,
    hubs: &HashMap<DeclId, InstanceId>,
    by: DeclId,
    convert: &Convert,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    let version = program.home(by);
    let mut fail = |span: &Span, message: String| diagnostics.push(Diagnostic::error(codes::NOT_IN_HUB, span, message));
    if version == HUB {
        return fail(&convert.of.span, "`convert(..)` stands in the `mod` of the version that it converts".to_string());
    }
    let here = program.find(by.group, version, &convert.of.text, version).ok().and_then(|key| instances.get(key));
    let Some(here) = here else {
        let version = program.version_name(by.group, version);
        return fail(&convert.of.span, format!("{version} has no struct `{}`", convert.of.text));
    };
    let hub = hubs.get(&instances.all[here].root).copied().unwrap_or(here);
    let (Some(here_id), Some(hub_id)) = (ids.struct_of(here), ids.struct_of(hub)) else { return };
    if here_id == hub_id {
        return fail(&convert.of.span, format!("`{}` is the same as the hub's: nothing to convert", convert.of.text));
    }
    let mut names = |side: &[Marked], members: &[Member<'_>], id: StructId| -> Vec<String> {
        side.iter().filter_map(|said| name(said, members, id, model, &mut fail)).collect()
    };
    let here_only = names(&convert.here, &instances.all[here].fields, here_id);
    let hub_only = names(&convert.hub, &instances.all[hub].fields, hub_id);
    if let Some(conversion) = &mut model.structs[here_id.0].conversion {
        conversion.here_only.extend(here_only);
        conversion.hub_only.extend(hub_only);
        conversion.by_hand.extend(convert.by_hand.iter().map(|function| function.text.clone()));
    }
}

/// A field's JSON name from either of its names, or a path of JSON names.
fn name(
    said: &Marked,
    members: &[Member<'_>],
    id: StructId,
    model: &Model,
    fail: &mut dyn FnMut(&Span, String),
) -> Option<String> {
    if let Some(json) = json_of(members, said) {
        return Some(json);
    }
    match paths::follow(model, id, &said.text) {
        Ok(_) => Some(said.text.clone()),
        Err(message) => {
            fail(&said.span, message);
            None
        }
    }
}
