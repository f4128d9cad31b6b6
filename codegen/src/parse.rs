//! Parses files into a [`Model`].
//!
//! `source` reads files, `words` implements the grammar of attributes, the readers build an [`ast`],
//! and `lower` resolves names and versions.
//!
//! Every stage reports all errors that it finds and continues. Definitions with errors still produce a
//! model, so that the checks report their errors in the same run.

mod ast;
mod braces;
mod checks;
mod columns;
mod conditions;
mod fields;
mod group;
mod items;
mod kinds;
mod lower;
mod reader;
mod source;
mod structs;
mod types;
mod words;

use crate::diagnostics::Diagnostics;
use crate::model::Model;
use crate::project::Project;

pub use self::ast::Break;
pub use self::lower::{Origins, type_text};

/// The vocabulary of the language.
///
/// Each row has the words of an attribute, or the attributes of a kind of item.
pub const VOCABULARY: &[(&str, &[&str])] = &[
    ("a group", group::ATTRIBUTES),
    ("group", group::GROUP_WORDS),
    ("version", group::VERSION_WORDS),
    ("gate", group::GATE_WORDS),
    ("a struct", structs::STRUCT_ATTRIBUTES),
    ("kind", kinds::KIND_WORDS),
    ("versions", kinds::VERSION_WORDS),
    ("subresource", kinds::SUBRESOURCE_WORDS),
    ("column", columns::WORDS),
    ("a cell", columns::CELLS),
    ("selectable", kinds::SELECTABLE_WORDS),
    ("strategy", kinds::STRATEGY_WORDS),
    ("rule", structs::RULE_WORDS),
    ("union", structs::UNION_WORDS),
    ("check", checks::ASSERTIONS),
    ("when", checks::CONDITIONS),
    ("convert", structs::CONVERT_WORDS),
    ("breaks", structs::BREAKS_WORDS),
    ("an enum", structs::ENUM_ATTRIBUTES),
    ("a variant", items::VARIANT_ATTRIBUTES),
    ("value", items::VALUE_WORDS),
    ("a field", fields::ATTRIBUTES),
    ("field", fields::WORDS),
];

/// The model of a project's definitions, and the origins of its words.
pub fn parse(project: &Project, diagnostics: &mut Diagnostics) -> (Model, Origins) {
    let groups = read(project, diagnostics);
    lower::lower(groups, diagnostics)
}

fn read(project: &Project, diagnostics: &mut Diagnostics) -> Vec<ast::Group> {
    let mut groups = Vec::new();
    for folder in source::read(project, diagnostics) {
        let Some(mut group) = group::read(&folder, diagnostics) else { continue };
        if project.is_foreign(&group.head, &folder.path) {
            continue;
        }
        for (index, file) in folder.files.iter().enumerate() {
            items::read(file, index, &mut group, diagnostics);
        }
        groups.push(group);
    }
    group::check_distinct(&groups, diagnostics);
    groups
}
