//! Compressed schemas of versions. Compiled and published forms are derived from them.

use apimachinery::apiextensions::v1::JSONSchemaProps;
use endpoints::Compressed;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref};
use serde_json::Value;

use crate::definition::is_structural;

/// A compressed schema.
pub struct CompressedSchema {
    text: Compressed,
    /// Whether the schema has validation rules.
    pub has_rules: bool,
}

/// The field name of validation rules.
const RULES: &[u8] = b"x-kubernetes-validations";

impl CompressedSchema {
    /// Compresses a schema.
    pub fn new(props: &JSONSchemaProps) -> Self {
        let mut text = Vec::new();
        json::encode(Ref::of(props), &mut text);
        CompressedSchema {
            has_rules: text.windows(RULES.len()).any(|part| part == RULES),
            text: Compressed::new(&text),
        }
    }

    /// Decodes the schema.
    pub fn props(&self) -> JSONSchemaProps {
        let mut props = JSONSchemaProps::default();
        // Cannot fail: the text was encoded from such a value.
        let _ = json::decode(&self.text.bytes(), Mut::of(&mut props), &mut Issues::ignore());
        props
    }

    /// Decodes the schema as a tree.
    pub fn document(&self) -> Value {
        json::parse(&self.text.bytes(), &mut Issues::ignore()).unwrap_or_default()
    }

    /// Returns the schema for OpenAPI documents; nothing if it is not structural.
    pub fn published(&self) -> Option<Value> {
        is_structural(&self.props()).then(|| self.document())
    }
}
