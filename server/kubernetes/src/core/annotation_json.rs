//! JSON in annotations, decoded as Go's `encoding/json` does: names match regardless of case.

use machinery::def::StructDef;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Struct};
use serde_json::{Map, Value};

use crate::Error;

/// Decodes a struct.
pub(super) fn parse<T: Struct>(text: &str) -> Result<T, Error> {
    check_syntax(text)?;
    decode(text)
}

/// Decodes a list of the structs in the field `list` of `T`, which then has them. A list has no
/// descriptor of its own.
pub(super) fn parse_list<T: Struct>(list: &str, text: &str) -> Result<T, Error> {
    check_syntax(text)?;
    decode(&format!("{{\"{list}\":{text}}}"))
}

fn check_syntax(text: &str) -> Result<(), Error> {
    json::syntax_error(text.as_bytes()).map_or(Ok(()), |why| Err(Error::Syntax(why)))
}

fn decode<T: Struct>(text: &str) -> Result<T, Error> {
    let mut value = T::default();
    let renamed = with_declared_names(T::def(), text);
    let text = renamed.as_deref().unwrap_or(text);
    json::decode(text.as_bytes(), Mut::of(&mut value), &mut Issues::only_limit())?;
    Ok(value)
}

/// The text with names in the declared case; `None` if it has no other names, as usual.
fn with_declared_names(def: &'static StructDef, text: &str) -> Option<String> {
    let mut document = serde_json::from_str(text).ok()?;
    rename(def, &mut document).then(|| document.to_string())
}

/// Renames the members of an object, or of the objects in a list. Returns whether there were any.
fn rename(def: &'static StructDef, value: &mut Value) -> bool {
    match value {
        Value::Array(items) => items.iter_mut().fold(false, |renamed, item| rename(def, item) | renamed),
        Value::Object(members) => {
            let mut renamed = false;
            let all = std::mem::take(members).into_iter().map(|(name, mut value)| {
                let fields = || def.json_fields().find(|field| field.json.eq_ignore_ascii_case(&name));
                let Some(field) = def.json_field(&name).or_else(fields) else { return (name, value) };
                renamed |= field.json != name;
                renamed |= field.shape().struct_def().is_some_and(|below| rename(below, &mut value));
                (field.json.to_owned(), value)
            });
            *members = all.collect::<Map<String, Value>>();
            renamed
        }
        _ => false,
    }
}
