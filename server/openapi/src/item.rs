//! Paths and operations before they are written as v2 or v3.

use crate::catalog::{GroupVersionKind, Parameter};

/// One path with its operations.
pub(crate) struct Item<'a> {
    pub path: String,
    /// The parameters within the path, such as `namespace` and `name`.
    pub in_path: Vec<Parameter>,
    pub operations: Vec<Operation<'a>>,
}

/// One operation.
pub(crate) struct Operation<'a> {
    /// In lower case, as documents spell it.
    pub method: &'static str,
    pub id: String,
    pub tag: String,
    pub description: String,
    /// `x-kubernetes-action`.
    pub action: Option<&'static str>,
    pub kind: Option<GroupVersionKind>,
    pub query: Vec<&'a Parameter>,
    pub body: Option<Body<'a>>,
    pub answers: Vec<(u16, Content<'a>)>,
    pub consumes: &'static [&'static str],
    pub produces: &'static [&'static str],
}

/// The body of a request.
pub(crate) struct Body<'a> {
    pub definition: &'a str,
    pub required: bool,
}

/// The body of an answer.
pub(crate) enum Content<'a> {
    Definition(&'a str),
    Text,
}

impl<'a> Item<'a> {
    pub(crate) fn new(path: String, in_path: Vec<Parameter>) -> Self {
        Item { path, in_path, operations: Vec::new() }
    }

    /// The query parameters that every operation has: documents state them once, at the path.
    pub(crate) fn shared_query(&self) -> Vec<&'a Parameter> {
        let Some((first, rest)) = self.operations.split_first() else { return Vec::new() };
        first.query.iter().filter(|p| rest.iter().all(|operation| operation.has(p))).copied().collect()
    }

    /// The query parameters of an operation that are not shared by all.
    pub(crate) fn own_query(&self, operation: &Operation<'a>) -> Vec<&'a Parameter> {
        operation.query.iter().filter(|p| !self.operations.iter().all(|other| other.has(p))).copied().collect()
    }

    /// Definitions that requests and answers speak of.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &'a str> {
        self.operations.iter().flat_map(|operation| {
            let answers = operation.answers.iter().filter_map(|(_, content)| match content {
                Content::Definition(name) => Some(*name),
                Content::Text => None,
            });
            operation.body.iter().map(|body| body.definition).chain(answers)
        })
    }
}

impl Operation<'_> {
    fn has(&self, parameter: &Parameter) -> bool {
        self.query.iter().any(|own| own.name == parameter.name)
    }
}
