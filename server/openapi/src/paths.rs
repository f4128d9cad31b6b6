//! The paths of a resource and their operations.
//!
//! Mirrors upstream's API installer (`k8s.io/apiserver/pkg/endpoints/installer.go`). Clients are
//! generated from its operation ids.

use std::sync::LazyLock;

use crate::catalog::{
    Catalog, GroupVersion, GroupVersionKind, Parameter, Resource, Scope, Subresource, SubresourceResponse,
};
use crate::item::{Content, Item, Operation, RequestBody};
use crate::media;
use crate::names::{self, title};

static PRETTY: LazyLock<Parameter> = LazyLock::new(|| Parameter {
    name: "pretty".into(),
    kind: "string".into(),
    description: "If `true`, JSON is indented; without it only for browsers and command line tools such as curl."
        .into(),
});

/// The verb that allows each method of a connection.
const CONNECT: [(&str, &str); 5] =
    [("delete", "delete"), ("get", "get"), ("patch", "patch"), ("create", "post"), ("update", "put")];

/// Builds the paths of a resource of one group version.
pub(crate) struct ResourcePaths<'a> {
    catalog: &'a Catalog,
    resource: &'a Resource,
    kind: GroupVersionKind,
    base: String,
    group_version: String,
    tag: String,
}

impl<'a> ResourcePaths<'a> {
    pub(crate) fn new(catalog: &'a Catalog, version: &'a GroupVersion, resource: &'a Resource) -> Self {
        ResourcePaths {
            catalog,
            resource,
            kind: GroupVersionKind {
                group: version.group.clone(),
                version: version.version.clone(),
                kind: resource.kind.clone(),
            },
            base: version.path(),
            group_version: names::group_version_id(&version.group, &version.version),
            tag: names::group_version_tag(&version.group, &version.version),
        }
    }

    /// All paths of the resource.
    pub(crate) fn items(&self) -> Vec<Item<'a>> {
        let mut items = vec![self.collection(), self.object()];
        items.extend(self.all_namespaces());
        items.extend(self.watches());
        items.extend(self.resource.subresources.iter().flat_map(|subresource| self.subresource(subresource)));
        items.retain(|item| !item.operations.is_empty());
        items
    }

    fn namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    /// A path: `<base>/namespaces/{namespace}/<plural><rest>` or `<base>/<plural><rest>`.
    fn item(&self, prefix: &str, rest: &str) -> Item<'a> {
        let namespace = if self.namespaced() { "/namespaces/{namespace}" } else { "" };
        let path = format!("{}{prefix}{namespace}/{}{rest}", self.base, self.resource.plural);
        Item::new(path, self.path_parameters(rest))
    }

    fn path_parameters(&self, rest: &str) -> Vec<Parameter> {
        let parameter =
            |name: &str, description: String| Parameter { name: name.into(), kind: "string".into(), description };
        let mut parameters = Vec::new();
        if rest.contains("{name}") {
            parameters.push(parameter("name", format!("Name of the {}.", self.resource.kind)));
        }
        if self.namespaced() {
            parameters.push(parameter("namespace", "Namespace of the objects, such as a team or project.".into()));
        }
        if rest.contains("{path}") {
            parameters.push(parameter("path", "URL path of the request to the target.".into()));
        }
        parameters
    }

    /// An operation id: `<verb>CoreV1<infix>NamespacedPod<suffix>`.
    fn id(&self, verb: &str, infix: &str, suffix: &str) -> String {
        let scope = if self.namespaced() { "Namespaced" } else { "" };
        format!("{verb}{}{infix}{scope}{}{suffix}", self.group_version, self.resource.kind)
    }

    fn operation(&self, method: &'static str, action: &'static str, id: String, description: String) -> Operation<'a> {
        Operation {
            method,
            id,
            tag: self.tag.clone(),
            description,
            action: Some(action),
            kind: Some(self.kind.clone()),
            query: vec![&PRETTY],
            body: None,
            answers: Vec::new(),
            consumes: media::ANY,
            produces: media::OBJECT,
        }
    }

    fn collection(&self) -> Item<'a> {
        let mut item = self.item("", "");
        if let Some(list) = self.resource.list.as_deref().filter(|_| self.resource.can("list")) {
            item.operations.push(self.list(list, self.id("list", "", "")));
        }
        if self.resource.can("create") {
            item.operations.push(self.create(&self.kind, &self.resource.definition, ""));
        }
        if self.resource.can("deletecollection") {
            item.operations.push(self.delete_collection());
        }
        item
    }

    fn object(&self) -> Item<'a> {
        let mut item = self.item("", "/{name}");
        self.push_object_verbs(&mut item, &self.kind, &self.resource.definition, "", &|verb| self.resource.can(verb));
        if self.resource.can("delete") {
            item.operations.push(self.delete());
        }
        item
    }

    /// Adds the operations that read and write one object, or one of its subresources.
    fn push_object_verbs(
        &self,
        item: &mut Item<'a>,
        kind: &GroupVersionKind,
        definition: &'a str,
        suffix: &str,
        can: &dyn Fn(&str) -> bool,
    ) {
        let about = self.about(suffix);
        if can("get") {
            let id = self.id("read", "", suffix);
            let mut operation = self.operation("get", "get", id, format!("Reads {about}."));
            operation.answers = answers(&[200], definition);
            item.operations.push(Operation { kind: Some(kind.clone()), ..operation });
        }
        if can("update") {
            let id = self.id("replace", "", suffix);
            let mut operation = self.operation("put", "put", id, format!("Replaces {about}."));
            operation.query.extend(&self.catalog.parameters.update);
            operation.body = Some(RequestBody { definition, required: true });
            operation.answers = answers(&[200, 201], definition);
            item.operations.push(Operation { kind: Some(kind.clone()), ..operation });
        }
        if can("patch") {
            let id = self.id("patch", "", suffix);
            let mut operation = self.operation("patch", "patch", id, format!("Changes parts of {about}."));
            operation.query.extend(&self.catalog.parameters.patch);
            operation.body = Some(RequestBody { definition: names::PATCH, required: true });
            operation.answers = answers(&[200, 201], definition);
            operation.consumes = media::PATCH;
            item.operations.push(Operation { kind: Some(kind.clone()), ..operation });
        }
    }

    fn about(&self, suffix: &str) -> String {
        let kind = &self.resource.kind;
        if suffix.is_empty() { format!("one {kind}") } else { format!("{} of one {kind}", suffix.to_ascii_lowercase()) }
    }

    fn list(&self, list: &'a str, id: String) -> Operation<'a> {
        let description = format!("Lists objects of kind {}, or follows their changes.", self.resource.kind);
        let mut operation = self.operation("get", "list", id, description);
        operation.query.extend(&self.catalog.parameters.list);
        operation.answers = answers(&[200], list);
        operation.produces = media::LIST;
        operation
    }

    fn create(&self, kind: &GroupVersionKind, definition: &'a str, suffix: &str) -> Operation<'a> {
        let description = match suffix {
            "" => format!("Creates one {}.", self.resource.kind),
            _ => format!("Posts a {} to one {}.", kind.kind, self.resource.kind),
        };
        let mut operation = self.operation("post", "post", self.id("create", "", suffix), description);
        operation.query.extend(&self.catalog.parameters.create);
        operation.body = Some(RequestBody { definition, required: true });
        operation.answers = answers(&[200, 201, 202], definition);
        Operation { kind: Some(kind.clone()), ..operation }
    }

    fn delete(&self) -> Operation<'a> {
        let description = format!("Deletes one {}.", self.resource.kind);
        let mut operation = self.operation("delete", "delete", self.id("delete", "", ""), description);
        operation.query.extend(&self.catalog.parameters.delete);
        operation.body = Some(RequestBody { definition: names::DELETE_OPTIONS, required: false });
        let answer = if self.resource.delete_returns_object { &self.resource.definition } else { names::STATUS };
        operation.answers = answers(&[200, 202], answer);
        operation
    }

    fn delete_collection(&self) -> Operation<'a> {
        let description = format!("Deletes all objects of kind {} that match.", self.resource.kind);
        let mut operation =
            self.operation("delete", "deletecollection", self.id("delete", "Collection", ""), description);
        let parameters = &self.catalog.parameters;
        let not_for_watches = parameters.list.iter().filter(|p| p.name != "watch" && p.name != "allowWatchBookmarks");
        operation.query.extend(not_for_watches);
        operation.query.extend(&parameters.delete);
        operation.body = Some(RequestBody { definition: names::DELETE_OPTIONS, required: false });
        operation.answers = answers(&[200], names::STATUS);
        operation
    }

    /// The list of a namespaced resource over all namespaces.
    fn all_namespaces(&self) -> Option<Item<'a>> {
        let list = self.resource.list.as_deref().filter(|_| self.namespaced() && self.resource.can("list"))?;
        let mut item = Item::new(format!("{}/{}", self.base, self.resource.plural), Vec::new());
        item.operations.push(self.list(list, self.id_for_all("list", "")));
        Some(item)
    }

    fn id_for_all(&self, verb: &str, suffix: &str) -> String {
        format!("{verb}{}{}{suffix}ForAllNamespaces", self.group_version, self.resource.kind)
    }

    /// The deprecated watch paths, which need no `watch=true`.
    fn watches(&self) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        if !self.resource.watch_paths || !self.resource.can("watch") {
            return items;
        }
        let mut many = self.item("/watch", "");
        many.operations.push(self.watch("watchlist", self.id("watch", "", "List")));
        items.push(many);
        let mut one = self.item("/watch", "/{name}");
        one.operations.push(self.watch("watch", self.id("watch", "", "")));
        items.push(one);
        if self.namespaced() {
            let mut all = Item::new(format!("{}/watch/{}", self.base, self.resource.plural), Vec::new());
            all.operations.push(self.watch("watchlist", self.id_for_all("watch", "List")));
            items.push(all);
        }
        items
    }

    fn watch(&self, action: &'static str, id: String) -> Operation<'a> {
        let what = if action == "watch" { "one" } else { "all" };
        let description =
            format!("Follows changes of {what} {}. Deprecated: list with `watch=true`.", self.resource.kind);
        let mut operation = self.operation("get", action, id, description);
        operation.query.extend(&self.catalog.parameters.list);
        operation.answers = answers(&[200], names::WATCH_EVENT);
        operation.produces = media::LIST;
        operation
    }

    fn subresource(&self, subresource: &'a Subresource) -> Vec<Item<'a>> {
        let rest = format!("/{{name}}/{}", subresource.name);
        let suffix = title(&subresource.name);
        let mut item = self.item("", &rest);
        match &subresource.answer {
            SubresourceResponse::Object(definition) => {
                let can = |verb: &str| subresource.can(verb);
                self.push_object_verbs(&mut item, &subresource.kind, definition, &suffix, &can);
                if can("create") {
                    item.operations.push(self.create(&subresource.kind, definition, &suffix));
                }
            }
            SubresourceResponse::Text(query) => item.operations.push(self.text(subresource, query, &suffix)),
            SubresourceResponse::Connection(query) => {
                self.push_connections(&mut item, subresource, query, &suffix);
                // A proxied target with its own paths accepts any method, also below its own path.
                if query.iter().any(|p| p.name == "path") {
                    let mut below = self.item("", &format!("{rest}/{{path}}"));
                    self.push_connections(&mut below, subresource, query, &format!("{suffix}WithPath"));
                    return vec![item, below];
                }
            }
        }
        vec![item]
    }

    fn text(&self, subresource: &'a Subresource, query: &'a [Parameter], suffix: &str) -> Operation<'a> {
        let description = format!("Reads {} as text.", self.about(suffix));
        let mut operation = self.operation("get", "get", self.id("read", "", suffix), description);
        operation.kind = Some(subresource.kind.clone());
        operation.query.extend(query);
        operation.answers = vec![(200, Content::Text)];
        operation.produces = media::TEXT;
        operation
    }

    fn push_connections(
        &self,
        item: &mut Item<'a>,
        subresource: &'a Subresource,
        query: &'a [Parameter],
        suffix: &str,
    ) {
        let verbs = CONNECT.iter().filter(|(verb, _)| subresource.can(verb)).map(|(_, method)| *method);
        let any = if query.iter().any(|p| p.name == "path") { &["head", "options"][..] } else { &[] };
        for method in verbs.chain(any.iter().copied()) {
            let id = self.id("connect", &title(method), suffix);
            let description = format!("Connects {} requests to {}.", method.to_ascii_uppercase(), self.about(suffix));
            let operation = self.operation(method, "connect", id, description);
            item.operations.push(Operation {
                kind: Some(subresource.kind.clone()),
                query: query.iter().collect(),
                answers: vec![(200, Content::Text)],
                produces: media::ANY,
                ..operation
            });
        }
    }
}

/// The same response for several status codes.
fn answers<'a>(codes: &[u16], definition: &'a str) -> Vec<(u16, Content<'a>)> {
    codes.iter().map(|code| (*code, Content::Definition(definition))).collect()
}
