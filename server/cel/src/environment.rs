//! Names that an expression may use.

use std::collections::HashMap;
use std::sync::Arc;

use crate::types::{ObjectType, Type};

/// Finds an object type by name.
type FindObject = fn(&str) -> Option<Arc<ObjectType>>;

/// Variables and object types by name. All libraries of Kubernetes 1.36 are available in addition.
#[derive(Clone, Default)]
pub struct Environment {
    variables: HashMap<String, Type>,
    objects: Option<FindObject>,
    pub(crate) bindings: bool,
}

impl Environment {
    /// An environment with these variables. A name may have dots: `authorizer.requestResource`.
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, Type)>) -> Self {
        let variables = variables.into_iter().map(|(name, of)| (name.to_owned(), of)).collect();
        Environment { variables, objects: None, bindings: false }
    }

    /// Adds a variable.
    pub fn with(mut self, name: &str, of: Type) -> Self {
        self.variables.insert(name.to_owned(), of);
        self
    }

    /// Adds object types that expressions may construct: `Object{..}`.
    pub fn with_objects(mut self, objects: FindObject) -> Self {
        self.objects = Some(objects);
        self
    }

    /// Adds `cel.bind(name, value, expression)` (cel-go: `ext.Bindings`).
    pub fn with_bindings(mut self) -> Self {
        self.bindings = true;
        self
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    pub(crate) fn object(&self, name: &str) -> Option<Arc<ObjectType>> {
        self.objects.and_then(|find| find(name))
    }
}
