//! The values that field selectors look at. Clients name fields of the version that they speak, and the cache has objects in the stored one:
//! where fields stand elsewhere in other versions, each version has values of its own.

use std::collections::HashSet;

use machinery::catalog::{SelectableDef, Selected};
use machinery::reflect::Ref;

use crate::conversion::{Conversion, Fields};
use crate::custom::Version;
use crate::unstructured::Unstructured;

/// The selectable fields of a definition, in the order in which the cache has their values.
pub struct Selectable(Vec<Field>);

struct Field {
    /// The version whose field it is. None where all versions have the same fields, and where only a webhook could tell: then it is read in the
    /// version of the object, and selectors of other versions look at the converted object.
    version: Option<String>,
    def: &'static SelectableDef,
}

/// Stands where the values of another version are.
static OTHER: SelectableDef = SelectableDef { label: "", value: Selected::Path(&[]), reads: &[] };

impl Selectable {
    /// Those of all versions, each once.
    pub fn of(versions: &[Version], conversion: &Conversion) -> Self {
        let is_by_version = matches!(conversion, Conversion::Fields(fields) if !fields.is_empty());
        let mut all: Vec<Field> = Vec::new();
        let mut known = HashSet::new();
        for version in versions {
            let own = is_by_version.then(|| version.name.clone());
            for def in version.def.resource.map_or(&[][..], |resource| resource.selectable) {
                if known.insert((own.clone(), def.label)) {
                    all.push(Field { version: own.clone(), def });
                }
            }
        }
        Selectable(all)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As the store of a version looks for them.
    pub fn in_version(&self, name: &str) -> Vec<&'static SelectableDef> {
        let is_other = |field: &Field| field.version.as_ref().is_some_and(|version| version != name);
        self.0.iter().map(|field| if is_other(field) { &OTHER } else { field.def }).collect()
    }

    /// Their values in an object of the version `from`.
    pub fn values(&self, object: &Unstructured, from: &str, conversion: &Conversion) -> Vec<String> {
        let mut converted: Option<(&str, Unstructured)> = None;
        let value = |field: &Field, object: &Unstructured| field.def.value.of(Ref::of(object));
        let mut values = Vec::with_capacity(self.0.len());
        for field in &self.0 {
            let to = field.version.as_deref().filter(|to| *to != from);
            values.push(match (to, conversion) {
                (Some(to), Conversion::Fields(fields)) => {
                    let known = converted.take().filter(|(version, _)| *version == to);
                    let (_, other) = converted.insert(known.unwrap_or_else(|| (to, shifted(object, fields, from, to))));
                    value(field, other)
                }
                _ => value(field, object),
            });
        }
        values
    }
}

/// An object in another version. Of what cannot be converted nothing is selected; who reads it is told why.
fn shifted(object: &Unstructured, fields: &Fields, from: &str, to: &str) -> Unstructured {
    let mut other = object.clone();
    if fields.convert(&mut other.content.0, from, to).is_err() {
        other.content.0.clear();
    }
    other
}
