//! Which definitions a document needs: those its operations name, and those that they refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Where references of v3 point.
pub(crate) const SCHEMAS: &str = "#/components/schemas/";

/// The references of every definition, found once.
pub(crate) struct References<'a> {
    of: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> References<'a> {
    pub(crate) fn new(definitions: &'a BTreeMap<String, Value>) -> Self {
        let of = definitions.iter().map(|(name, schema)| {
            let mut found = Vec::new();
            collect(schema, &mut found);
            (name.as_str(), found)
        });
        References { of: of.collect() }
    }

    /// `roots` and everything reachable from them.
    pub(crate) fn closure<'b>(&'b self, roots: impl IntoIterator<Item = &'b str>) -> BTreeSet<&'b str>
    where
        'a: 'b,
    {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = roots.into_iter().collect();
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                open.extend(self.of.get(name).into_iter().flatten());
            }
        }
        seen
    }
}

fn collect<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str() {
                    Some(target) if key == "$ref" => found.extend(target.strip_prefix(SCHEMAS)),
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}
