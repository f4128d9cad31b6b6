//! Emits descriptors: the `describe!` tables that codecs, validation and patches walk.

use std::fmt::Write;

use heck::ToUpperCamelCase;

use super::rust::{Paths, constant, ident, literal, path_literal, string, strings};
use super::{checks, facts::Facts, functions, print};
use crate::model::{Field, JsonForm, ListSemantics, Model, Role, Struct, StructId, TypeRef, Validation};

/// The table of a struct, for `describe!`.
pub fn table(id: StructId, s: &Struct, paths: Paths<'_>, facts: &Facts) -> String {
    let (name, def) = (ident(&s.name), constant(&s.name));
    let direct = if facts.direct(id) { "direct " } else { "" };
    let setters: Vec<String> = setters(id, s, paths.model, facts).iter().map(|one| print::setter(one)).collect();
    let mut text = print::head(&format!("{direct}{name},"), &format!("{def} {}", string(&s.name)), &setters);
    let rows = field_rows(s, paths);
    if !rows.is_empty() {
        text.push('\n');
    }
    text + &rows + "] }\n"
}

/// One aligned row per field. Further facts about a field are on separate lines if there are several.
fn field_rows(s: &Struct, paths: Paths<'_>) -> String {
    let mut rows: Vec<([String; 4], Vec<String>)> = Vec::new();
    if s.role != Role::Part {
        rows.push((["type_meta:".into(), "\"\",".into(), "0,".into(), "Flags::INLINE".into()], Vec::new()));
    }
    for field in &s.fields {
        let columns = [
            format!("{}:", ident(&field.name)),
            format!("{},", string(&field.json)),
            format!("{},", field.number),
            flags(field),
        ];
        rows.push((columns, field_info(field, s, paths.model)));
    }
    let width = |column: usize| rows.iter().map(|(row, _)| row[column].len()).max().unwrap_or(0);
    // Rows with names too long for the line width are not aligned.
    let mut widths = [width(0), width(1), width(2)];
    let begin = ", &FieldInfo {".len();
    if 4 + widths.iter().sum::<usize>() + width(3) + begin + 3 > print::WIDTH {
        widths = [0; 3];
    }
    let [a, b, c] = widths;
    let mut text = String::new();
    for ([field, json, number, flags], facts) in &rows {
        let mut row = format!("    {field:a$} {json:b$} {number:>c$} {flags}");
        if row.len() + begin > print::WIDTH {
            row = format!("    {field}\n        {json} {number} {flags}");
        }
        let column = row.lines().last().map_or(0, str::len);
        let _ = writeln!(text, "{row}{};", print::facts("FieldInfo", "FieldInfo::PLAIN", facts, column));
    }
    text
}

fn setters(id: StructId, s: &Struct, model: &Model, facts: &Facts) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let form = json_form(s);
    if form != JsonForm::Fields {
        out.push(format!(".json_form(JsonForm::{form:?})"));
    }
    if s.atomic {
        out.push(".atomic()".into());
    }
    if has_defaults(s) {
        out.push(format!(
            ".defaults(&Defaults {{ paths: &[{}], by_hand: {} }})",
            path_defaults(s),
            s.default_by_hand.as_ref().map_or("None".into(), |f| format!("Some({})", hook(s, model, f)))
        ));
    }
    if facts.defaults_below(id) {
        out.push(".defaults_below()".into());
    }
    if let Some(function) = &s.normalize {
        out.push(format!(".normalize({})", hook(s, model, function)));
    }
    if !s.checks.is_empty() {
        out.push(format!(".checks({})", checks::name(s)));
    }
    if let Some(function) = &s.validate_by_hand {
        out.push(format!(".validate({})", validation(s, model, function)));
    }
    if facts.normalize_below(id) {
        out.push(".normalize_below()".into());
    }
    if !s.rules.is_empty() {
        let rules: Vec<String> = s
            .rules
            .iter()
            .map(|r| {
                format!(
                    "RuleDef {{ expression: {}, field: {}, message: {}, message_expression: {}, reason: {}, \
                     optional_old_self: {} }}",
                    string(&r.expression),
                    string(&r.field),
                    string(&r.message),
                    string(&r.message_expression),
                    string(&r.reason),
                    r.optional_old_self
                )
            })
            .collect();
        out.push(format!(".rules(&[{}])", rules.join(", ")));
    }
    if !s.unions.is_empty() {
        let unions: Vec<String> = s
            .unions
            .iter()
            .map(|u| {
                let members: Vec<String> =
                    u.members.iter().map(|(v, m)| format!("({}, {})", string(v), string(m))).collect();
                format!(
                    "UnionDef {{ discriminator: {}, members: &[{}], zero_allowed: {} }}",
                    string(u.discriminator.as_deref().unwrap_or("")),
                    members.join(", "),
                    u.zero_allowed
                )
            })
            .collect();
        out.push(format!(".unions(&[{}])", unions.join(", ")));
    }
    out
}

pub fn json_form(s: &Struct) -> JsonForm {
    if s.transparent { JsonForm::Items } else { s.json_form }
}

pub fn has_defaults(s: &Struct) -> bool {
    !s.path_defaults.is_empty() || s.default_by_hand.is_some()
}

fn path_defaults(s: &Struct) -> String {
    s.path_defaults
        .iter()
        .map(|d| format!("({}, {})", path_literal(&d.path), literal(&d.value)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A closure that calls a hand-written function on the struct.
fn hook(s: &Struct, model: &Model, function: &str) -> String {
    format!(
        "|m| if let Some(v) = m.downcast::<{}>() {{ crate::{}(v) }}",
        ident(&s.name),
        functions::place(model, &s.module, function)
    )
}

/// A closure that calls a hand-written validation on the struct.
fn validation(s: &Struct, model: &Model, function: &str) -> String {
    format!(
        "|v, path, new, old| if let Some(new) = new.downcast::<{}>() {{ crate::{}(v, path, new, old.and_then(|o| o.downcast())) }}",
        ident(&s.name),
        functions::place(model, &s.module, function)
    )
}

fn flags(field: &Field) -> String {
    let mut names = Vec::new();
    if field.omitempty && !field.inline {
        names.push("OMIT_EMPTY");
    }
    if field.required {
        names.push("REQUIRED");
    }
    if field.inline {
        names.push("INLINE");
    }
    if field.deprecated {
        names.push("DEPRECATED");
    }
    if field.says_kind {
        names.push("EMBEDS_TYPE_META");
    }
    match names.split_first() {
        None => "Flags::NONE".into(),
        Some((first, rest)) => rest.iter().fold(format!("Flags::{first}"), |text, n| format!("{text}.or(Flags::{n})")),
    }
}

/// The Go type of a string field: the declared one, or that of its enum, qualified if the enum is in
/// another package.
fn go_type(field: &Field, home: &Struct, model: &Model) -> Option<String> {
    let declared = field.go_type.clone();
    declared.or_else(|| {
        let of = &model.enums[enum_in(&field.ty)?.0];
        let is_near = (&of.module, &of.version) == (&home.module, &home.version);
        Some(if is_near { of.name.clone() } else { format!("{}.{}", of.version, of.name) })
    })
}

/// The fields of a `FieldInfo` that differ from the defaults.
pub fn field_info(field: &Field, home: &Struct, model: &Model) -> Vec<String> {
    let mut parts = Vec::new();
    match &field.list {
        Some(ListSemantics::Atomic) => parts.push("list: ListType::Atomic".to_string()),
        Some(ListSemantics::Set) => parts.push("list: ListType::Set".to_string()),
        Some(ListSemantics::Map(keys)) => parts.push(format!("list: ListType::Map({})", strings(keys))),
        None => {}
    }
    if let Some(atomic) = field.map_atomic.or(field.structure_atomic) {
        parts.push(format!("map_atomic: Some({atomic})"));
    }
    if let Some(strategy) = &field.patch_strategy {
        let strategy = match strategy.as_str() {
            "merge" => "Merge",
            "retain_keys" => "RetainKeys",
            "merge_retain_keys" => "MergeRetainKeys",
            _ => "Replace",
        };
        parts.push(format!("patch_strategy: PatchStrategy::{strategy}"));
    }
    if let Some(key) = &field.patch_merge_key {
        parts.push(format!("patch_merge_key: {}", string(key)));
    }
    if let Some(value) = &field.default {
        parts.push(format!("default: Some({})", literal(value)));
    }
    let constraints = constraints(field);
    if !constraints.is_empty() {
        parts.push(format!("constraints: &[{}]", constraints.join(", ")));
    }
    if let Some(e) = enum_in(&field.ty).map(|id| &model.enums[id.0]).filter(|e| !e.open) {
        let values: Vec<&String> = e.variants.iter().map(|(_, value, _)| value).collect();
        parts.push(format!("enum_values: {}", strings(&values)));
        let gated = e.gated.iter().map(|(value, gate)| format!("({}, {})", string(value), string(gate)));
        let gated: Vec<String> = gated.collect();
        if !gated.is_empty() {
            parts.push(format!("gated_values: &[{}]", gated.join(", ")));
        }
    }
    let is_tagged = |module: &str| model.groups.iter().any(|group| group.module == module && group.tagged_validation);
    if !field.hub_names.is_empty() && !is_tagged(&home.module) {
        parts.push(format!("hub_names: {}", strings(&field.hub_names)));
    }
    if let Some(gate) = &field.feature_gate {
        parts.push(format!("gate: {}", string(gate)));
    }
    if field.gate_with_struct {
        parts.push("gate_with_struct: true".to_owned());
    }
    if let Some(name) = go_type(field, home, model) {
        parts.push(format!("go_type: {}", string(&name)));
    }
    if let Some(name) = &field.go_whole {
        parts.push(format!("go_whole: {}", string(name)));
    }
    parts
}

fn enum_in(ty: &TypeRef) -> Option<crate::model::EnumId> {
    match ty {
        TypeRef::Enum(id) => Some(*id),
        TypeRef::List(inner) | TypeRef::Map(inner) => enum_in(inner),
        _ => None,
    }
}

pub fn constraints(field: &Field) -> Vec<String> {
    let Validation {
        min,
        max,
        min_length,
        max_length,
        max_bytes,
        min_items,
        max_items,
        pattern,
        format,
        immutable,
        unique,
    } = &field.validation;
    let mut out = Vec::new();
    let mut number = |name: &str, value: Option<String>| out.extend(value.map(|v| format!("Constraint::{name}({v})")));
    number("Min", min.map(|v| v.to_string()));
    number("Max", max.map(|v| v.to_string()));
    number("MinLength", min_length.map(|v| v.to_string()));
    number("MaxLength", max_length.map(|v| v.to_string()));
    number("MaxBytes", max_bytes.map(|v| v.to_string()));
    number("MinItems", min_items.map(|v| v.to_string()));
    number("MaxItems", max_items.map(|v| v.to_string()));
    number("Pattern", pattern.as_ref().map(|p| string(p)));
    number(
        "Format",
        format.as_ref().map(|f| format!("machinery::format::field::DeclaredFormat::{}", declared_format(f))),
    );
    if *immutable {
        out.push("Constraint::Immutable".into());
    }
    if *unique {
        out.push("Constraint::Unique".into());
    }
    out.extend(
        field.tags.iter().filter(|t| !t.starts_with("k8s:alpha(")).map(|t| format!("Constraint::Tag({})", string(t))),
    );
    out
}

/// The variant of `machinery::format::field::DeclaredFormat` for a word of definitions.
pub fn declared_format(word: &str) -> String {
    match word {
        "dns1123_label" => "ShortName".into(),
        "dns1123_subdomain" => "LongName".into(),
        "dns1123_subdomain_caseless" => "LongNameCaseless".into(),
        other => other.to_upper_camel_case(),
    }
}
