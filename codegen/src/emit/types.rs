//! Versioned types: one module per definition file and version, holding plain structs and their descriptors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use heck::ToUpperCamelCase;

use super::rust::{HEADER, Paths, constant, docs, ident, literal, path_literal, snake, string, strings, struct_in};
use super::{File, checks, facts::Facts, package::extra_modules};
use crate::model::{Enum, Field, JsonForm, ListSemantics, Model, Package, Role, Struct, StructId, TypeRef, Validation};

/// Every module of types of one package, with the `mod.rs` files that join them.
pub fn files(model: &Model, facts: &Facts, package: Package) -> Vec<File> {
    let paths = Paths { model, package };
    let mut modules: BTreeMap<(String, String, String), Module> = BTreeMap::new();
    for (index, s) in model.structs.iter().enumerate() {
        if paths.package_of(&s.module) == package {
            let key = (s.module.clone(), s.version.clone(), stem(&s.span.file));
            modules.entry(key).or_default().structs.push(StructId(index));
        }
    }
    for e in &model.enums {
        if paths.package_of(&e.module) == package {
            let key = (e.module.clone(), e.version.clone(), stem(&e.span.file));
            modules.entry(key).or_default().enums.push(e);
        }
    }
    let mut out: Vec<File> = modules
        .iter()
        .map(|((module, version, stem), m)| File {
            path: format!("src/{module}/{version}/{stem}.rs"),
            bytes: m.render(paths, facts, stem).into_bytes(),
        })
        .collect();
    out.extend(mod_files(model, package, &modules));
    out
}

#[derive(Default)]
struct Module<'m> {
    structs: Vec<StructId>,
    enums: Vec<&'m Enum>,
}

/// The definition file's name without `.rs`, as a module name.
fn stem(file: &std::path::Path) -> String {
    file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().replace(['-', '.'], "_"))
}

/// `src/<module>/mod.rs` and `src/<module>/<version>/mod.rs`.
fn mod_files(model: &Model, package: Package, modules: &BTreeMap<(String, String, String), Module>) -> Vec<File> {
    let mut out = Vec::new();
    for group in model.groups.iter().filter(|g| g.package == package) {
        let mut text = format!("{HEADER}{}\n", docs(&group.docs, "").replace("///", "//!"));
        for version in &group.versions {
            let _ = writeln!(text, "pub mod {};", ident(&version.name));
            out.push(version_mod(model, group, version, modules));
        }
        text.push_str(&extra_modules(model, group));
        out.push(File { path: format!("src/{}/mod.rs", group.module), bytes: text.into_bytes() });
    }
    out
}

/// Joins the files of a version and aliases what it shares with another version.
fn version_mod(
    model: &Model,
    group: &crate::model::Group,
    version: &crate::model::Version,
    modules: &BTreeMap<(String, String, String), Module>,
) -> File {
    let label = if group.name.is_empty() { "core" } else { &group.name };
    let mut text = format!("{HEADER}//! {label}/{}.\n\n", version.name);
    let own: Vec<&String> =
        modules.keys().filter(|(m, v, _)| *m == group.module && *v == version.name).map(|(_, _, stem)| stem).collect();
    // A file called as one of its enums would hide the enum's module.
    let taken = |stem: &str| version.enums.keys().any(|name| snake(name) == stem);
    let module = |stem: &str| if taken(stem) { format!("{stem}_file") } else { ident(stem) };
    for stem in &own {
        if taken(stem) {
            let _ = writeln!(text, "#[path = \"{stem}.rs\"]");
        }
        let _ = writeln!(text, "mod {};", module(stem));
    }
    text.push('\n');
    for stem in &own {
        let _ = writeln!(text, "pub use {}::*;", module(stem));
    }
    let mut shared: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, id) in &version.structs {
        let s = &model.structs[id.0];
        if s.module == group.module && s.version != version.name {
            let names = shared.entry(&s.version).or_default();
            names.insert(ident(name));
            names.insert(constant(name));
        }
    }
    for (from, names) in shared {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "pub use super::{}::{{{names}}};", ident(from));
    }
    File { path: format!("src/{}/{}/mod.rs", group.module, version.name), bytes: text.into_bytes() }
}

impl Module<'_> {
    /// Structs of this version that another file declares and a field here holds.
    fn siblings(&self, paths: Paths<'_>, stem_here: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for home in self.structs.iter().map(|&id| paths.structure(id)) {
            let held = children(home).map(|id| paths.structure(id));
            let near = held
                .filter(|s| s.module == home.module && s.version == home.version && stem(&s.span.file) != stem_here);
            names.extend(near.map(|s| ident(&s.name)));
        }
        names
    }

    fn render(&self, paths: Paths<'_>, facts: &Facts, stem: &str) -> String {
        let first = self.structs.first().map(|&id| &paths.structure(id).span);
        let source =
            first.or(self.enums.first().map(|e| &e.span)).map_or(String::new(), |s| s.file.display().to_string());
        let mut body = String::new();
        for e in &self.enums {
            body.push_str(&enum_values(e));
        }
        for &id in &self.structs {
            let s = paths.structure(id);
            body.push_str(&structure(s, paths));
            body.push_str(&checks::rows(id, paths.model));
            body.push_str(&descriptor(id, s, paths, facts));
        }
        let mut head = imports(&body);
        let siblings = self.siblings(paths, stem);
        if !siblings.is_empty() {
            let _ = writeln!(head, "\nuse super::{{{}}};", siblings.into_iter().collect::<Vec<_>>().join(", "));
        }
        format!("{HEADER}//! From {source}.\n\n{head}\n{body}")
    }
}

/// `use` lines for what the text names.
fn imports(body: &str) -> String {
    let uses = |word: &str| body.contains(word);
    let pick = |names: &[&str], patterns: &[&str]| -> Vec<String> {
        names.iter().zip(patterns).filter(|(_, p)| uses(p)).map(|(n, _)| n.to_string()).collect()
    };
    let mut text = String::new();
    if uses("BTreeMap<") {
        text.push_str("use std::collections::BTreeMap;\n\n");
    }
    if uses("Bytes") && (uses(": Bytes,") || uses("<Bytes>") || uses(", Bytes>")) {
        text.push_str("use bytes::Bytes;\n");
    }
    let def = pick(
        &[
            "Constraint",
            "Defaults",
            "FieldInfo",
            "Flags",
            "JsonForm",
            "ListType",
            "Literal",
            "PatchStrategy",
            "RuleDef",
            "UnionDef",
        ],
        &[
            "Constraint::",
            "Defaults {",
            "FieldInfo",
            "Flags::",
            "JsonForm::",
            "ListType::",
            "Literal::",
            "PatchStrategy::",
            "RuleDef {",
            "UnionDef {",
        ],
    );
    let checks = pick(&["Assertion", "CheckDef", "Condition"], &["Assertion::", "CheckDef {", "Condition::"]);
    if !checks.is_empty() {
        let _ = writeln!(text, "use machinery::checks::{{{}}};", checks.join(", "));
    }
    if !def.is_empty() {
        let _ = writeln!(text, "use machinery::def::{{{}}};", def.join(", "));
    }
    if uses("describe! {") {
        text.push_str("use machinery::describe;\n");
    }
    let scalars: Vec<&str> =
        ["Duration", "FieldsV1", "IntOrString", "JsonValue", "MicroTime", "Quantity", "RawExtension", "Time"]
            .into_iter()
            .filter(|name| [format!(": {name},"), format!("<{name}>"), format!(", {name}>")].iter().any(|p| uses(p)))
            .collect();
    if !scalars.is_empty() {
        let _ = writeln!(text, "use machinery::scalar::{{{}}};", scalars.join(", "));
    }
    if uses(": TypeMeta,") {
        text.push_str("use machinery::type_meta::TypeMeta;\n");
    }
    text
}

/// The values of an enum as constants; its fields are strings, since clients may send values that this release does not know.
fn enum_values(e: &Enum) -> String {
    let mut text = docs(&e.docs, "");
    let _ = writeln!(text, "pub mod {} {{", ident(&snake(&e.name)));
    for (variant, value, variant_docs) in &e.variants {
        text.push_str(&docs(variant_docs, "    "));
        let name = constant(variant);
        let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("V{name}") } else { name };
        let _ = writeln!(text, "    pub const {name}: &str = {};", string(value));
    }
    text.push_str("}\n\n");
    text
}

fn structure(s: &Struct, paths: Paths<'_>) -> String {
    let mut text = docs(&s.docs, "");
    let _ = writeln!(text, "#[derive(Clone, Default)]\npub struct {} {{", ident(&s.name));
    if s.role != Role::Part {
        text.push_str(
            "    /// Its kind and version, where it travels as an object of its own.\n    pub type_meta: TypeMeta,\n",
        );
    }
    for field in &s.fields {
        text.push_str(&docs(&field.docs, "    "));
        let _ = writeln!(text, "    pub {}: {},", ident(&field.name), paths.field_type(field, s));
    }
    text.push_str("}\n\n");
    text
}

fn descriptor(id: StructId, s: &Struct, paths: Paths<'_>, facts: &Facts) -> String {
    let setters = setters(id, s, facts);
    let (name, def) = (ident(&s.name), constant(&s.name));
    if s.fields.is_empty() && s.role == Role::Part {
        return format!("describe! {{ {name}, {def} {} {{{setters}}} [] }}\n\n", string(&s.name));
    }
    let mut rows: Vec<[String; 5]> = Vec::new();
    if s.role != Role::Part {
        rows.push(["type_meta:".into(), "\"\",".into(), "0,".into(), "Flags::INLINE".into(), String::new()]);
    }
    for field in &s.fields {
        let info = field_info(field, s, paths.model);
        rows.push([
            format!("{}:", ident(&field.name)),
            format!("{},", string(&field.json)),
            format!("{},", field.number),
            flags(field) + if info.is_empty() { "" } else { "," },
            info,
        ]);
    }
    let width = |column: usize| rows.iter().map(|r| r[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let direct = if facts.direct(id) { "direct " } else { "" };
    let mut text = format!("describe! {{ {direct}{name}, {def} {} {{{setters}}} [\n", string(&s.name));
    for [field, json, number, flags, info] in &rows {
        let line = format!(
            "    {field:a$} {json:b$} {number:>c$} {flags} {info}",
            a = widths[0],
            b = widths[1],
            c = widths[2]
        );
        let _ = writeln!(text, "{};", line.trim_end());
    }
    text.push_str("] }\n\n");
    text
}

fn setters(id: StructId, s: &Struct, facts: &Facts) -> String {
    let mut out: Vec<String> = Vec::new();
    let form = if s.transparent { JsonForm::Items } else { s.json_form };
    if form != JsonForm::Fields {
        out.push(format!(".json_form(JsonForm::{form:?})"));
    }
    if s.atomic {
        out.push(".atomic()".into());
    }
    if !s.path_defaults.is_empty() || s.default_by_hand.is_some() {
        out.push(format!(
            ".defaults(&Defaults {{ paths: &[{}], by_hand: {} }})",
            path_defaults(s),
            s.default_by_hand.as_ref().map_or("None".into(), |f| format!("Some({})", hook(s, f)))
        ));
    }
    if facts.defaults_below(id) {
        out.push(".defaults_below()".into());
    }
    if let Some(hatch) = &s.normalize {
        out.push(format!(".normalize({})", hook(s, hatch)));
    }
    if !s.checks.is_empty() {
        out.push(format!(".checks({})", checks::name(s)));
    }
    if let Some(hatch) = &s.validate_by_hand {
        out.push(format!(".validate({})", validation(s, hatch)));
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
    if out.is_empty() { String::new() } else { format!(" {} ", out.join(" ")) }
}

fn path_defaults(s: &Struct) -> String {
    s.path_defaults
        .iter()
        .map(|d| format!("({}, {})", path_literal(&d.path), literal(&d.value)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A closure that calls a hatch on the struct.
fn hook(s: &Struct, hatch: &str) -> String {
    format!(
        "|m| if let Some(v) = m.downcast::<{}>() {{ crate::hatches::{}::{hatch}(v) }}",
        ident(&s.name),
        ident(&s.module)
    )
}

/// A closure that calls a validation on the struct.
fn validation(s: &Struct, hatch: &str) -> String {
    format!(
        "|v, path, new, old| if let Some(new) = new.downcast::<{}>() {{ crate::hatches::{}::{hatch}(v, path, new, old.and_then(|o| o.downcast())) }}",
        ident(&s.name),
        ident(&s.module)
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
        names.push("SAYS_KIND");
    }
    match names.split_first() {
        None => "Flags::NONE".into(),
        Some((first, rest)) => rest.iter().fold(format!("Flags::{first}"), |text, n| format!("{text}.or(Flags::{n})")),
    }
}

/// The Go type of a field of strings: as it says, or its enum, with its package where that is not the struct's.
fn go_type(field: &Field, home: &Struct, model: &Model) -> Option<String> {
    let said = field.go_type.clone();
    said.or_else(|| {
        let of = &model.enums[enum_in(&field.ty)?.0];
        let is_near = (&of.module, &of.version) == (&home.module, &home.version);
        Some(if is_near { of.name.clone() } else { format!("{}.{}", of.version, of.name) })
    })
}

/// `&FieldInfo { .. }`, or nothing when there is nothing to say.
fn field_info(field: &Field, home: &Struct, model: &Model) -> String {
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
    if let Some(name) = go_type(field, home, model) {
        parts.push(format!("go_type: {}", string(&name)));
    }
    if let Some(name) = &field.go_whole {
        parts.push(format!("go_whole: {}", string(name)));
    }
    if parts.is_empty() { String::new() } else { format!("&FieldInfo {{ {}, ..FieldInfo::PLAIN }}", parts.join(", ")) }
}

fn enum_in(ty: &TypeRef) -> Option<crate::model::EnumId> {
    match ty {
        TypeRef::Enum(id) => Some(*id),
        TypeRef::List(inner) | TypeRef::Map(inner) => enum_in(inner),
        _ => None,
    }
}

fn constraints(field: &Field) -> Vec<String> {
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

/// The variant of `machinery::format::field::DeclaredFormat` that a definition's word means.
pub(super) fn declared_format(word: &str) -> String {
    match word {
        "dns1123_label" => "ShortName".into(),
        "dns1123_subdomain" => "LongName".into(),
        "dns1123_subdomain_caseless" => "LongNameCaseless".into(),
        other => other.to_upper_camel_case(),
    }
}

/// Structs that a struct's fields hold.
pub fn children(s: &Struct) -> impl Iterator<Item = StructId> + '_ {
    s.fields.iter().filter_map(|f| struct_in(&f.ty))
}
