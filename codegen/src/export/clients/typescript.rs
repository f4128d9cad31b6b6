//! TypeScript interfaces of objects in their JSON form. Types of Kubernetes' groups that are used are
//! declared in the same file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{ClientGroupVersion, is_always_written, parts};
use crate::Error;
use crate::emit::File;
use crate::model::{Enum, EnumId, Field, Group, Model, Role, Struct, StructId, TypeRef};

const HEADER: &str = "// Written by `export typescript`; change the definitions instead.\n\n";

/// `<module>/<version>.ts`.
///
/// # Errors
/// Fails if the group belongs to Kubernetes.
pub fn files(model: &Model, group: Option<&Group>) -> Result<Vec<File>, Error> {
    let parts = parts(model, group, "the package `@kubernetes/client-node`")?;
    Ok(parts.into_iter().map(|part| Writer::new(part).file()).collect())
}

/// Writes the types of a version, and those that they refer to.
struct Writer<'m> {
    part: ClientGroupVersion<'m>,
    /// Names by type, because types of several groups may have the same name.
    structs: BTreeMap<StructId, String>,
    enums: BTreeMap<EnumId, String>,
    names: BTreeSet<String>,
    open: Vec<StructId>,
}

impl<'m> Writer<'m> {
    fn new(part: ClientGroupVersion<'m>) -> Self {
        let (structs, enums, names, open) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new(), Vec::new());
        Writer { part, structs, enums, names, open }
    }

    fn file(mut self) -> File {
        // Types of the version keep their names.
        for (id, _) in self.part.structs() {
            self.name_of_struct(id);
        }
        for (id, _) in self.part.enums() {
            self.name_of_enum(id);
        }
        self.open.reverse();
        let mut texts = BTreeMap::new();
        let mut order = Vec::new();
        while let Some(id) = self.open.pop() {
            let text = self.structure(id);
            order.push(id);
            texts.insert(id, text);
        }
        let mut text = HEADER.to_owned();
        order.iter().for_each(|id| text.push_str(&texts[id]));
        for (id, name) in &self.enums {
            text.push_str(&enumeration(&self.part.model.enums[id.0], name));
        }
        let path = format!("{}/{}.ts", self.part.group.module, self.part.version.name);
        File { path, bytes: (text.trim_end().to_owned() + "\n").into_bytes() }
    }

    /// A name that no other type of the file has.
    fn free(&mut self, name: &str, module: &str, version: &str) -> String {
        let mut free = name.to_owned();
        if self.names.contains(&free) {
            free = format!("{name}_{module}_{version}");
        }
        self.names.insert(free.clone());
        free
    }

    fn name_of_struct(&mut self, id: StructId) -> String {
        if let Some(name) = self.structs.get(&id) {
            return name.clone();
        }
        let one = &self.part.model.structs[id.0];
        let name = self.free(&one.name, &one.module, &one.version);
        self.structs.insert(id, name.clone());
        self.open.push(id);
        name
    }

    fn name_of_enum(&mut self, id: EnumId) -> String {
        if let Some(name) = self.enums.get(&id) {
            return name.clone();
        }
        let one = &self.part.model.enums[id.0];
        let name = self.free(&one.name, &one.module, &one.version);
        self.enums.insert(id, name.clone());
        name
    }

    fn structure(&mut self, id: StructId) -> String {
        let one: &Struct = &self.part.model.structs[id.0];
        let name = self.structs[&id].clone();
        let inlined: Vec<String> = one
            .fields
            .iter()
            .filter_map(|field| match (&field.ty, field.json.as_str()) {
                (TypeRef::Struct(id), "") => Some(self.name_of_struct(*id)),
                _ => None,
            })
            .collect();
        let extends = if inlined.is_empty() { String::new() } else { format!(" extends {}", inlined.join(", ")) };
        let mut text = comment(&one.docs, "");
        let _ = writeln!(text, "export interface {name}{extends} {{");
        if one.role != Role::Part {
            let (api_version, kind) = (self.part.api_version(), &one.name);
            let _ = writeln!(text, "  apiVersion: {api_version:?};\n  kind: {kind:?};");
        }
        for field in one.fields.iter().filter(|field| !field.json.is_empty()) {
            text.push_str(&self.field(field));
        }
        text.push_str("}\n\n");
        if self.part.kind(one).is_some() {
            let (api_version, kind) = (self.part.api_version(), &one.name);
            let meta = "{ resourceVersion?: string; continue?: string; remainingItemCount?: number }";
            let _ = write!(
                text,
                "/** A list of {name}. */\nexport interface {name}List {{\n  apiVersion: {api_version:?};\n  kind: \
                 \"{kind}List\";\n  metadata: {meta};\n  items: {name}[];\n}}\n\n"
            );
        }
        text
    }

    fn field(&mut self, field: &Field) -> String {
        let is_name = field.json.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
        let name = if is_name { field.json.clone() } else { format!("{:?}", field.json) };
        let mark = if field.required || is_always_written(field) { "" } else { "?" };
        let ty = self.of(&field.ty);
        format!("{}  {name}{mark}: {ty};\n", comment(&field.docs, "  "))
    }

    fn of(&mut self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::String
            | TypeRef::Bytes
            | TypeRef::Quantity
            | TypeRef::Time
            | TypeRef::MicroTime
            | TypeRef::Duration => "string".into(),
            TypeRef::Bool => "boolean".into(),
            TypeRef::I32 | TypeRef::I64 | TypeRef::F64 => "number".into(),
            TypeRef::IntOrString => "number | string".into(),
            TypeRef::RawExtension | TypeRef::FieldsV1 => "Record<string, unknown>".into(),
            TypeRef::Json => "unknown".into(),
            TypeRef::Enum(id) => self.name_of_enum(*id),
            TypeRef::Struct(id) => self.name_of_struct(*id),
            TypeRef::List(item) => match self.of(item) {
                union if union.contains(' ') => format!("({union})[]"),
                item => format!("{item}[]"),
            },
            TypeRef::Map(value) => format!("Record<string, {}>", self.of(value)),
        }
    }
}

fn comment(text: &str, indent: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| line.replace("*/", "*\\/")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("{indent}/** {one} */\n"),
        several => {
            let lines = several.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}

fn enumeration(one: &Enum, name: &str) -> String {
    let mut values: Vec<String> = one.variants.iter().map(|(_, value, _)| format!("{value:?}")).collect();
    // `string & {}` keeps the suggestions of editors for the listed values.
    values.extend(one.open.then(|| "(string & {})".to_owned()));
    format!("{}export type {name} = {};\n\n", comment(&one.docs, ""), values.join(" | "))
}
