//! Translates paths of the hub form to another version, for errors about an object that a client
//! wrote in that version.

use crate::def::{FieldDef, StructDef};

/// The path of the same field in the form of a version, such as `spec.parallelism` for
/// `spec.workers`.
///
/// If the version has no such field, the path ends at the struct that would contain it.
pub fn in_version(def: &'static StructDef, path: &str) -> String {
    let (mut out, mut at, mut rest) = (String::with_capacity(path.len()), Some(def), path);
    while let Some((step, behind)) = split(rest) {
        rest = behind;
        let name = step.trim_start_matches('.');
        match at {
            Some(def) if !name.starts_with('[') => {
                let Some(field) = find(def, name) else { return or_unchanged(out, path) };
                let dot = if out.is_empty() { "" } else { "." };
                out.extend([dot, field.json]);
                at = field.shape().struct_def();
            }
            _ => out.push_str(step),
        }
    }
    out
}

/// The translated path, or the original one if no element could be translated.
fn or_unchanged(out: String, path: &str) -> String {
    if out.is_empty() { path.to_owned() } else { out }
}

/// Splits off the first name or subscript.
fn split(path: &str) -> Option<(&str, &str)> {
    let end = match path.strip_prefix('[') {
        Some(subscript) => subscript.find(']')? + 2,
        None => path.get(1..)?.find(['.', '[']).map_or(path.len(), |end| end + 1),
    };
    Some(path.split_at(end))
}

/// The field that corresponds to a field of the hub form.
fn find(def: &'static StructDef, hub: &str) -> Option<&'static FieldDef> {
    let renamed = def.json_fields().find(|field| field.info.hub_names.contains(&hub));
    renamed.or_else(|| def.json_fields().find(|field| field.json == hub && field.info.hub_names.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::{FieldInfo, Flags};
    use crate::describe;
    use crate::reflect::Struct;

    #[derive(Clone, Default)]
    struct Build {
        parallelism: i32,
        tags: Vec<String>,
        steps: Vec<Build>,
    }

    const RENAMED: FieldInfo = FieldInfo { hub_names: &["workers"], ..FieldInfo::PLAIN };
    const SPLIT: FieldInfo = FieldInfo { hub_names: &["tag", "more"], ..FieldInfo::PLAIN };

    describe! { Build, BUILD "Build" {} [
        parallelism: "parallelism", 1, Flags::NONE, &RENAMED;
        tags: "tags", 2, Flags::NONE, &SPLIT;
        steps: "steps", 3, Flags::NONE;
    ] }

    #[test]
    fn paths_name_the_fields_of_the_version() {
        for (path, expect) in [
            ("workers", "parallelism"),
            ("steps[0].workers", "steps[0].parallelism"),
            ("steps[0].steps[a.b/c].more[2]", "steps[0].steps[a.b/c].tags[2]"),
            ("steps[0].gone", "steps[0]"),
            ("gone", "gone"),
            ("<nil>", "<nil>"),
            ("", ""),
        ] {
            assert_eq!(in_version(Build::def(), path), expect, "{path}");
        }
    }
}
