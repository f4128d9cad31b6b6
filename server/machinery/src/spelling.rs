//! How a version calls the fields of a kind's hub form: a field that was renamed kept its number.

use crate::def::{FieldDef, Flags, StructDef};

/// The path of a field, such as `spec.parts[0].colour`, in the names of another version. What is
/// not there keeps its name.
pub fn in_version(hub: &'static StructDef, version: &'static StructDef, path: &str) -> String {
    let (mut at, mut out, mut rest) = (Some((hub, version)), String::new(), path);
    while !rest.is_empty() {
        let end = match rest.starts_with('[') {
            true => rest.find(']').map_or(rest.len(), |end| end + 1),
            false => rest.find(['.', '[']).unwrap_or(rest.len()),
        };
        let (step, behind) = rest.split_at(end);
        rest = behind;
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
        }
        if step.starts_with('[') {
            out.push_str(step);
            continue;
        }
        let found = at.and_then(|(hub, version)| {
            let of_hub = field(hub, &|field| field.json == step)?;
            let same = |field: &FieldDef| field.number == of_hub.number && of_hub.number != 0;
            let here = field(version, &same).or_else(|| field_named(version, step))?;
            Some((of_hub, here))
        });
        if !out.is_empty() {
            out.push('.');
        }
        out.push_str(found.map_or(step, |(_, here)| here.json));
        at = found.and_then(|(of_hub, here)| of_hub.shape().struct_def().zip(here.shape().struct_def()));
    }
    out
}

fn field_named(of: &'static StructDef, name: &str) -> Option<&'static FieldDef> {
    field(of, &|field| field.json == name)
}

/// A field of a struct, or of one that is inlined in it.
fn field(of: &'static StructDef, wanted: &dyn Fn(&FieldDef) -> bool) -> Option<&'static FieldDef> {
    let own = of.fields.iter().find(|one| !one.flags.has(Flags::INLINE) && wanted(one));
    own.or_else(|| {
        let inlined = of.fields.iter().filter(|one| one.flags.has(Flags::INLINE));
        inlined.filter_map(|one| one.shape().struct_def()).find_map(|below| field(below, wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::{FieldInfo, Flags};
    use crate::describe;
    use crate::reflect::Ref;

    #[derive(Clone, Default)]
    struct Hub {
        spec: HubSpec,
    }

    #[derive(Clone, Default)]
    struct HubSpec {
        stock: i32,
        parts: Vec<HubPart>,
    }

    #[derive(Clone, Default)]
    struct HubPart {
        colour: String,
    }

    #[derive(Clone, Default)]
    struct Old {
        spec: OldSpec,
    }

    #[derive(Clone, Default)]
    struct OldSpec {
        replicas: i32,
        pieces: Vec<OldPart>,
    }

    #[derive(Clone, Default)]
    struct OldPart {
        hue: String,
    }

    describe! { Hub, HUB "Hub" {} [ spec: "spec", 1, Flags::NONE; ] }
    describe! { HubSpec, HUB_SPEC "HubSpec" {} [
        stock: "stock", 1, Flags::NONE;
        parts: "parts", 2, Flags::NONE, &FieldInfo::PLAIN;
    ] }
    describe! { HubPart, HUB_PART "HubPart" {} [ colour: "colour", 3, Flags::NONE; ] }
    describe! { Old, OLD "Old" {} [ spec: "spec", 1, Flags::NONE; ] }
    describe! { OldSpec, OLD_SPEC "OldSpec" {} [
        replicas: "replicas", 1, Flags::NONE;
        pieces:   "pieces",   2, Flags::NONE, &FieldInfo::PLAIN;
    ] }
    describe! { OldPart, OLD_PART "OldPart" {} [ hue: "hue", 3, Flags::NONE; ] }

    #[test]
    fn paths_are_spelt_as_a_version_calls_their_fields() {
        let (hub, old) = (Ref::of(&Hub::default()).def(), Ref::of(&Old::default()).def());
        for (path, expect) in [
            ("spec.stock", "spec.replicas"),
            ("spec.parts[0].colour", "spec.pieces[0].hue"),
            ("spec.parts[12]", "spec.pieces[12]"),
            ("metadata.labels[a.b]", "metadata.labels[a.b]"),
            ("spec.other.stock", "spec.other.stock"),
            ("<nil>", "<nil>"),
            ("", ""),
        ] {
            assert_eq!(in_version(hub, old, path), expect);
        }
    }
}
