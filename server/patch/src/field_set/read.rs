//! Parses `fieldsV1`.

use serde_json::Value;

use super::FieldSet;
use super::build::FieldSetBuilder;
use super::element::PathElement;
use crate::Error;

impl FieldSet {
    /// Parses `fieldsV1`. Elements of unknown types are dropped, as upstream does.
    ///
    /// # Errors
    /// When it is not an object of path elements.
    pub fn from_value(fields: &Value) -> Result<Self, Error> {
        Ok(read(fields)?.0)
    }
}

/// Parses an object of `fieldsV1`: returns the set of fields below it, and whether it is itself a field.
fn read(fields: &Value) -> Result<(FieldSet, bool), Error> {
    let fields = fields.as_object().ok_or(Error::FieldsNotAnObject)?;
    let mut set = FieldSetBuilder::default();
    let mut is_member = false;
    for (key, value) in fields {
        if key == "." {
            is_member = true;
            continue;
        }
        let Some(element) = PathElement::parse(key)? else { continue };
        let (child, child_is_member) = read(value)?;
        set.add(element, child_is_member, child);
    }
    let is_leaf = set.is_empty();
    Ok((set.build(), is_member || is_leaf))
}
