//! The schema of a version as its definition has it, packed. Whatever is made of it is made from here.

use apimachinery::apiextensions::v1::JSONSchemaProps;
use endpoints::Compressed;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref};
use serde_json::Value;

use crate::definition::is_structural;

/// A schema that is not needed now.
pub struct Source {
    text: Compressed,
    /// Whether validation rules stand in it.
    pub has_rules: bool,
}

/// What a schema with rules has in its text.
const RULES: &[u8] = b"x-kubernetes-validations";

impl Source {
    /// Packs a schema.
    pub fn new(props: &JSONSchemaProps) -> Self {
        let mut text = Vec::new();
        json::encode(Ref::of(props), &mut text);
        Source { has_rules: text.windows(RULES.len()).any(|part| part == RULES), text: Compressed::new(&text) }
    }

    /// The schema.
    pub fn props(&self) -> JSONSchemaProps {
        let mut props = JSONSchemaProps::default();
        // It was made from such a value.
        let _ = json::decode(&self.text.bytes(), Mut::of(&mut props), &mut Issues::ignore());
        props
    }

    /// The schema as a tree.
    pub fn document(&self) -> Value {
        json::parse(&self.text.bytes(), &mut Issues::ignore()).unwrap_or_default()
    }

    /// The same, as far as documents show it: nothing when it is not structural.
    pub fn published(&self) -> Option<Value> {
        is_structural(&self.props()).then(|| self.document())
    }
}
