//! The position of the decoder in a document, kept on the call stack so that documents without
//! errors do not pay for it.

use crate::def::{JsonForm, StructDef};
use crate::reflect::FlatField;

/// A step, with its parent.
#[derive(Clone, Copy)]
pub(crate) struct ValuePath<'a> {
    up: Option<&'a ValuePath<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'static StructDef, &'static FlatField),
    Key(&'a str),
    Index(usize),
}

impl<'a> ValuePath<'a> {
    pub(crate) const ROOT: ValuePath<'static> = ValuePath { up: None, step: Step::Root };

    #[inline]
    pub(crate) fn field(&'a self, def: &'static StructDef, field: &'static FlatField) -> ValuePath<'a> {
        ValuePath { up: Some(self), step: Step::Field(def, field) }
    }

    #[inline]
    pub(crate) fn key(&'a self, key: &'a str) -> ValuePath<'a> {
        ValuePath { up: Some(self), step: Step::Key(key) }
    }

    #[inline]
    pub(crate) fn index(&'a self, index: usize) -> ValuePath<'a> {
        ValuePath { up: Some(self), step: Step::Index(index) }
    }

    /// The path of a field below, as strict errors show it: `spec.containers[0].foo`.
    pub(crate) fn child(&self, field: &str) -> String {
        let mut out = String::new();
        self.print(&mut out);
        push_name(&mut out, field);
        out
    }

    fn print(&self, out: &mut String) {
        if let Some(up) = self.up {
            up.print(out);
        }
        match self.step {
            Step::Root => {}
            Step::Field(_, field) => push_name(out, field.field.json),
            Step::Key(key) => push_name(out, key),
            Step::Index(index) => {
                out.push('[');
                out.push_str(&index.to_string());
                out.push(']');
            }
        }
    }

    /// The innermost field of the path, with its struct.
    pub(crate) fn last_field(&self) -> Option<(&'static StructDef, &'static FlatField)> {
        let mut at = Some(self);
        while let Some(path) = at {
            if let Step::Field(def, field) = path.step {
                return Some((def, field));
            }
            at = path.up;
        }
        None
    }

    /// The name of the innermost struct, and the names of all fields including those of embedded
    /// structs, as Go's `json.UnmarshalTypeError` prints them: no keys, no indexes.
    pub(crate) fn go_field(&self) -> (&'static str, String) {
        let mut owner = "";
        let mut names = Vec::new();
        let mut at = Some(self);
        while let Some(path) = at {
            if let Step::Field(def, field) = path.step {
                // Upstream decodes the declared fields of open structs separately.
                if def.json_form == JsonForm::Open {
                    break;
                }
                owner = if owner.is_empty() { def.name } else { owner };
                names.push(field.field.json);
                names.extend(field.via.iter().rev());
            }
            at = path.up;
        }
        names.reverse();
        (owner, names.join("."))
    }
}

fn push_name(out: &mut String, name: &str) {
    if !out.is_empty() {
        out.push('.');
    }
    out.push_str(name);
}
