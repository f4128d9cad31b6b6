//! Values for field selectors. Clients select by fields of their version, but the cache has objects
//! in the stored version. If fields move between versions, each version has its own values.

use std::collections::HashSet;

use machinery::catalog::{KindDef, SelectableDef, Selected};
use machinery::reflect::Ref;

use crate::conversion::{ConversionStrategy, FieldConversion};
use crate::unstructured::Unstructured;

/// The selectable fields of a definition, in the order of the values in the cache.
pub struct SelectableFields(Vec<Field>);

struct Field {
    /// The version that has the field. `None` if all versions have the same fields, or if only a
    /// webhook could convert. Then the field is read in the stored version, and selectors of other
    /// versions match the converted object.
    version: Option<String>,
    def: &'static SelectableDef,
}

/// Placeholder for the values of another version.
static OTHER: SelectableDef = SelectableDef { label: "", value: Selected::Path(&[]), reads: &[] };

impl SelectableFields {
    /// Collects the fields of all versions, each once.
    pub fn of<'v>(
        versions: impl Iterator<Item = (&'v str, &'static KindDef)>,
        conversion: &ConversionStrategy,
    ) -> Self {
        let is_by_version = matches!(conversion, ConversionStrategy::Fields(fields) if !fields.is_empty());
        let mut all: Vec<Field> = Vec::new();
        let mut known = HashSet::new();
        for (version, kind) in versions {
            let own = is_by_version.then(|| version.to_owned());
            for def in kind.resource.map_or(&[][..], |resource| resource.selectable) {
                if known.insert((own.clone(), def.label)) {
                    all.push(Field { version: own.clone(), def });
                }
            }
        }
        SelectableFields(all)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields for the store of a version.
    pub fn in_version(&self, name: &str) -> Vec<&'static SelectableDef> {
        let is_other = |field: &Field| field.version.as_ref().is_some_and(|version| version != name);
        self.0.iter().map(|field| if is_other(field) { &OTHER } else { field.def }).collect()
    }

    /// Returns the values in an object of the version `from`.
    pub fn values(&self, object: &Unstructured, from: &str, conversion: &ConversionStrategy) -> Vec<String> {
        let mut converted: Option<(&str, Unstructured)> = None;
        let value = |field: &Field, object: &Unstructured| field.def.value.of(Ref::of(object));
        let mut values = Vec::with_capacity(self.0.len());
        for field in &self.0 {
            let to = field.version.as_deref().filter(|to| *to != from);
            values.push(match (to, conversion) {
                (Some(to), ConversionStrategy::Fields(fields)) => {
                    let known = converted.take().filter(|(version, _)| *version == to);
                    let (_, other) = converted
                        .insert(known.unwrap_or_else(|| (to, convert_for_selection(object, fields, from, to))));
                    value(field, other)
                }
                _ => value(field, object),
            });
        }
        values
    }
}

/// Converts an object for selection. If conversion fails, its fields are empty; a read returns the
/// error.
fn convert_for_selection(object: &Unstructured, fields: &FieldConversion, from: &str, to: &str) -> Unstructured {
    let mut other = object.clone();
    if fields.convert(&mut other.content.0, from, to).is_err() {
        other.content.0.clear();
    }
    other
}
