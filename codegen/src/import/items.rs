//! Renders types.

use std::fmt::Write;

use super::types::{ImportedBody, ImportedField, ImportedType};

/// A struct or an enum, with a blank line before it. `gone` are fields of the hub that the type does
/// not have.
pub fn item(ty: &ImportedType, gone: &[&ImportedField], visibility: &str) -> String {
    let mut out = String::from("\n");
    docs(&ty.docs, "", &mut out);
    for attribute in &ty.attributes {
        out.push_str(attribute);
        out.push('\n');
    }
    match &ty.body {
        ImportedBody::Enum(variants) => {
            let _ = writeln!(out, "{visibility}enum {} {{", ty.name);
            for (name, value) in variants {
                if name != value {
                    let _ = writeln!(out, "    #[value({value:?})]");
                }
                let _ = writeln!(out, "    {name},");
            }
        }
        ImportedBody::Struct(fields) if fields.is_empty() && gone.is_empty() => {
            let _ = writeln!(out, "{visibility}struct {} {{}}", ty.name);
            return out;
        }
        ImportedBody::Struct(fields) => {
            let _ = writeln!(out, "{visibility}struct {} {{", ty.name);
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    out.push('\n');
                }
                docs(&field.docs, "    ", &mut out);
                let words: String = field.words.iter().map(|word| format!(", {word}")).collect();
                let _ = writeln!(out, "    #[field({}{words})]", field.number);
                let _ = writeln!(out, "    {visibility}{}: {},", field.name, field.ty);
            }
            for (index, field) in gone.iter().enumerate() {
                let between = if index + fields.len() > 0 { "\n" } else { "" };
                let _ = writeln!(out, "{between}    #[gone]\n    {}: (),", field.name);
            }
        }
    }
    out.push_str("}\n");
    out
}

pub(super) fn docs(text: &str, indent: &str, out: &mut String) {
    for line in text.lines() {
        let space = if line.trim().is_empty() { "" } else { " " };
        let _ = writeln!(out, "{indent}///{space}{}", line.trim());
    }
}
