//! Paths and operations, independent of the document version.

use crate::catalog::{GroupVersionKind, Parameter};

/// A path with its operations.
pub(crate) struct Item<'a> {
    pub path: String,
    /// The path parameters, such as `namespace` and `name`.
    pub in_path: Vec<Parameter>,
    pub operations: Vec<Operation<'a>>,
}

/// An operation.
pub(crate) struct Operation<'a> {
    /// The HTTP method in lower case.
    pub method: &'static str,
    pub id: String,
    pub tag: String,
    pub description: String,
    /// `x-kubernetes-action`.
    pub action: Option<&'static str>,
    pub kind: Option<GroupVersionKind>,
    pub query: Vec<&'a Parameter>,
    pub body: Option<RequestBody<'a>>,
    pub answers: Vec<(u16, Content<'a>)>,
    pub consumes: &'static [&'static str],
    pub produces: &'static [&'static str],
}

/// The body of a request.
pub(crate) struct RequestBody<'a> {
    pub definition: &'a str,
    pub required: bool,
}

/// The body of a response.
pub(crate) enum Content<'a> {
    Definition(&'a str),
    Text,
}

impl<'a> Item<'a> {
    pub(crate) fn new(path: String, in_path: Vec<Parameter>) -> Self {
        Item { path, in_path, operations: Vec::new() }
    }

    /// The query parameters that all operations share. Documents list them once, at the path.
    pub(crate) fn shared_query(&self) -> Vec<&'a Parameter> {
        let Some((first, rest)) = self.operations.split_first() else { return Vec::new() };
        first.query.iter().filter(|p| rest.iter().all(|operation| operation.has(p))).copied().collect()
    }

    /// The query parameters of an operation that not all operations share.
    pub(crate) fn own_query(&self, operation: &Operation<'a>) -> Vec<&'a Parameter> {
        operation.query.iter().filter(|p| !self.operations.iter().all(|other| other.has(p))).copied().collect()
    }

    /// The definitions that requests and responses refer to.
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
