//! An undeclared JSON object: the content of a custom resource besides kind, version and metadata.

use serde_json::{Map, Value};

/// Members by name. Protobuf does not encode it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document(pub Map<String, Value>);

impl Document {
    /// The value at a path of names through objects.
    pub fn at<S: AsRef<str>>(&self, path: &[S]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.0.get(first.as_ref())?, |value, name| value.get(name.as_ref()))
    }
}
