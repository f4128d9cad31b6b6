//! The sequence of requests for one object.

use codegen::model::{Field, ListSemantics, Model, StructId, TypeRef};
use differential::random::Random;
use serde_json::{Map, Value};

use crate::kinds::Kinds;
use crate::make::Maker;

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Create,
    Replace,
    /// A merge patch.
    Merge,
    /// Server-side apply.
    Apply,
    Status,
    /// A write to the store, bypassing the server; the object may be invalid.
    Seed,
    Read,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub op: Op,
    /// Index into the versions of the kind.
    pub version: usize,
    /// The object without its type and metadata.
    pub body: Value,
    /// Whether unknown fields are rejected.
    pub strict: bool,
}

/// Steps with an object of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub kind: usize,
    pub steps: Vec<Step>,
}

/// Generates the case of a seed.
///
/// With `local` servers of this program, some cases begin with an object that is written to the
/// store directly, and others use several versions. Another server would need a webhook for these.
pub fn make(kinds: &Kinds, seed: u64, local: bool) -> Case {
    let mut random = Random::new(seed);
    let kind = random.below(kinds.kinds.len());
    let of = &kinds.kinds[kind];
    let edge = *random.pick(&[0, 3, 6, 12, 30]);
    let versions = if local { of.versions.len() } else { 1 };
    let version = random.below(versions);
    let (_, id) = of.versions[version];
    let seeded = local && random.percent(25);
    // For a stored object, only the native kind ignores the spelling of an unchanged quantity.
    let loose = random.percent(30) && !seeded;
    let mut maker = Maker { model: &kinds.model, random, edge, typed: seeded, loose };
    let mut body = maker.structure(id);
    let first = body.clone();
    // Bodies of applies, and those of them that an update has followed.
    let (mut applied, mut updated) = (Vec::new(), Vec::new());
    let mut steps = Vec::new();
    let mut push = |op, body: &Value, strict| steps.push(Step { op, version, body: body.clone(), strict });
    if seeded {
        push(Op::Seed, &body, false);
        push(Op::Read, &Value::Object(Map::new()), false);
        push(Op::Replace, &body, false);
    } else {
        let op = if !loose && maker.random.percent(25) { Op::Apply } else { Op::Create };
        let strict = maker.random.percent(10);
        if op == Op::Apply {
            applied.push(body.clone());
        }
        push(op, &body, strict);
    }
    maker.edge = maker.edge.max(5);
    maker.typed = false;
    for _ in 0..2 + maker.random.below(4) {
        let op = *maker.random.weighted(&[
            (4, Op::Replace),
            (2, Op::Merge),
            (if loose { 0 } else { 3 }, Op::Apply),
            (if of.has_status { 2 } else { 0 }, Op::Status),
            (1, Op::Read),
        ]);
        if op == Op::Status {
            let status = kinds.model.structs[id.0].fields.iter().find(|field| field.json == "status");
            if let Some(TypeRef::Struct(status)) = status.map(|field| &field.ty) {
                // A native kind decodes the whole object, a custom resource only the status.
                let mut with = first.clone();
                with["status"] = maker.structure(*status);
                push(Op::Status, &with, false);
            }
            continue;
        }
        let before = body.clone();
        for _ in 0..1 + maker.random.below(2) {
            maker.change(id, &mut body);
        }
        // The native kind treats the emptied list or map as absent, a definition as too short. Only
        // local runs compare the two.
        let op = match op {
            Op::Apply if local && updated.iter().any(|earlier| empties(&kinds.model, id, earlier, &body)) => {
                Op::Replace
            }
            op => op,
        };
        match op {
            Op::Apply => applied.push(body.clone()),
            Op::Replace | Op::Merge => updated.append(&mut applied),
            _ => {}
        }
        push(op, &body, false);
        // Invalid values are usually not carried into the next step.
        if maker.random.percent(60) {
            body = before;
        }
    }
    for other in (0..versions).filter(|other| *other != version) {
        steps.push(Step { op: Op::Read, version: other, body: Value::Object(Map::new()), strict: false });
    }
    Case { kind, steps }
}

/// Reports whether an apply of `body`, after one of `earlier` and an update, can leave an empty
/// list or map of which a least number of items is required.
///
/// Without the update, the apply removes the whole list or map.
fn empties(model: &Model, id: StructId, earlier: &Value, body: &Value) -> bool {
    model.structs[id.0].fields.iter().any(|field| {
        let (was, is) = (&earlier[&field.json], &body[&field.json]);
        let is_limited = field.validation.min_items.is_some() && is_merged(field);
        (is_limited && length(was) > 0 && length(is) == 0)
            || match &field.ty {
                TypeRef::Struct(below) => empties(model, *below, was, is),
                TypeRef::List(item) | TypeRef::Map(item) => match **item {
                    TypeRef::Struct(below) => {
                        let mut pairs = entries(was).flat_map(|was| entries(is).map(move |is| (was, is)));
                        pairs.any(|(was, is)| empties(model, below, was, is))
                    }
                    _ => false,
                },
                _ => false,
            }
    })
}

/// Reports whether an apply merges the items of a field.
fn is_merged(field: &Field) -> bool {
    match &field.ty {
        TypeRef::List(_) => field.list.as_ref().is_some_and(|list| *list != ListSemantics::Atomic),
        TypeRef::Map(_) => field.map_atomic != Some(true),
        _ => false,
    }
}

fn entries(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn length(value: &Value) -> usize {
    entries(value).count()
}
