//! The route table of a resource: its paths and methods (upstream:
//! `APIInstaller.registerResourceHandlers`, `crdHandler`).
//!
//! A namespaced resource has the templates
//!
//! ```text
//! {resource}                                    GET
//! namespaces/{namespace}/{resource}             GET, POST, DELETE
//! namespaces/{namespace}/{resource}/{name}      GET, PUT, PATCH, DELETE, and its subresources below
//! watch/{resource}, watch/namespaces/{namespace}/{resource}, watch/namespaces/{namespace}/{resource}/{name}
//! ```
//!
//! and a cluster-scoped resource has those without `namespaces/{namespace}`. A template exists only
//! if the resource has the verb. A path without a template is not found. So authorization for one
//! scope never reaches an object of another.

use std::sync::Arc;

use http::Method;
use machinery::catalog::SubresourceDef;
use machinery::status::Status;
use request::RequestInfo;
use telemetry::metrics::Routed;

use crate::endpoint::{Endpoint, SubresourceHandler};
use crate::verbs;

/// The destination of a request.
pub(crate) enum Destination {
    /// A verb of this server.
    Verb(VerbTarget, &'static str),
    /// A subresource that proxies the request.
    Connect(Arc<dyn SubresourceHandler>),
}

/// The target of a verb.
pub(crate) enum VerbTarget {
    Resource,
    Subresource(&'static SubresourceDef),
}

/// Verbs by method.
type Verbs = &'static [(Method, &'static str)];

const WATCH: Verbs = &[(Method::GET, "watch")];
const ALL_NAMESPACES: Verbs = &[(Method::GET, "list")];
const COLLECTION: Verbs = &[(Method::GET, "list"), (Method::POST, "create"), (Method::DELETE, "deletecollection")];
const OBJECT: Verbs =
    &[(Method::GET, "get"), (Method::PUT, "update"), (Method::PATCH, "patch"), (Method::DELETE, "delete")];
const SUBRESOURCE: Verbs = &[
    (Method::GET, "get"),
    (Method::POST, "create"),
    (Method::PUT, "update"),
    (Method::PATCH, "patch"),
    (Method::DELETE, "delete"),
];
/// Verbs of custom resources. They are routed by verb, because upstream registers no templates for
/// them.
const CUSTOM: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// Whether the path matches the scope of a custom resource. Lists and watches may span all
/// namespaces.
pub(crate) fn is_in_scope(namespaced: bool, info: &RequestInfo) -> bool {
    match namespaced {
        true => !info.namespace.is_empty() || matches!(info.verb.as_ref(), "list" | "watch"),
        false => info.namespace.is_empty(),
    }
}

/// Finds the route of a request.
///
/// # Errors
/// Returns 404 if no template matches the path, 405 if none has the method.
pub(crate) fn find(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Destination, Status> {
    match endpoint.open.is_some() {
        true => of_custom(endpoint, info),
        false => of_declared(endpoint, info, method),
    }
}

/// Checks the namespace and the name of the path. Runs after the route is found.
///
/// # Errors
/// Returns 400 for an empty namespace or name.
pub(crate) fn check_names(endpoint: &Endpoint, info: &RequestInfo) -> Result<(), Status> {
    // `namespaces//pods/a` matches the template of an object. A list in all namespaces does not.
    if endpoint.resource.namespaced && info.in_namespace && info.namespace.is_empty() && info.depth > 1 {
        return Err(Status::bad_request("Namespace parameter required."));
    }
    check_name(info)
}

fn of_declared(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Destination, Status> {
    let resource = endpoint.resource;
    let everywhere = resource.namespaced && !info.in_namespace;
    if !resource.namespaced && info.in_namespace {
        return Err(Status::path_not_found());
    }
    let verbs = match (info.verb_in_path, info.depth) {
        (true, 1) if info.verb == "watch" => WATCH,
        (true, 2) if info.verb == "watch" && !everywhere => WATCH,
        (false, 1) if everywhere => ALL_NAMESPACES,
        (false, 1) => COLLECTION,
        (false, 2) if !everywhere => OBJECT,
        (false, 3..) if !everywhere => return of_subresource(endpoint, info, method),
        _ => return Err(Status::path_not_found()),
    };
    let has = |verb: &str| resource.verbs.contains(&verb);
    match select(verbs, has, method)? {
        "list" if info.verb == "watch" && !has("watch") => Err(Status::method_not_allowed()),
        "list" if info.verb == "watch" => Ok(Destination::Verb(VerbTarget::Resource, "watch")),
        verb => Ok(Destination::Verb(VerbTarget::Resource, verb)),
    }
}

fn of_subresource(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Destination, Status> {
    let Some(def) = endpoint.subresource(&info.subresource) else { return Err(Status::path_not_found()) };
    let connecter = endpoint.handlers.get(info.subresource.as_str()).filter(|handler| !handler.connects().is_empty());
    if info.depth > 3 && !connecter.is_some_and(|handler| handler.takes_subpath()) {
        return Err(Status::path_not_found());
    }
    if let Some(handler) = connecter.filter(|handler| handler.connects().contains(method)) {
        return Ok(Destination::Connect(handler.clone()));
    }
    select(SUBRESOURCE, |verb| def.verbs.contains(&verb), method)
        .map(|verb| Destination::Verb(VerbTarget::Subresource(def), verb))
}

/// Returns the verb of a method, if the resource has it.
fn select(verbs: Verbs, has: impl Fn(&str) -> bool, method: &Method) -> Result<&'static str, Status> {
    let mut served = verbs.iter().filter(|(_, verb)| has(verb)).peekable();
    if served.peek().is_none() {
        return Err(Status::path_not_found());
    }
    served.find(|(of, _)| of == method).map(|(_, verb)| *verb).ok_or_else(Status::method_not_allowed)
}

fn of_custom(endpoint: &Endpoint, info: &RequestInfo) -> Result<Destination, Status> {
    let known = CUSTOM.into_iter().find(|verb| *verb == info.verb);
    if info.subresource.is_empty() {
        // A POST to the path of an object creates it. Its name must be that of the path
        // (`verbs::create`).
        let verb = known.filter(|verb| endpoint.resource.verbs.contains(verb));
        return verb.map(|verb| Destination::Verb(VerbTarget::Resource, verb)).ok_or_else(Status::method_not_allowed);
    }
    let Some(def) = endpoint.subresource(&info.subresource) else {
        return Err(Status::not_found(endpoint.name(), &info.name));
    };
    let verb = known.filter(|verb| def.verbs.contains(verb));
    verb.map(|verb| Destination::Verb(VerbTarget::Subresource(def), verb)).ok_or_else(Status::method_not_allowed)
}

/// Checks that the name in the path of an object is not empty.
fn check_name(info: &RequestInfo) -> Result<(), Status> {
    // A collection verb at the path of an object: the name, if any, is from the field selector.
    let is_unnamed = !info.verb_in_path && matches!(&*info.verb, "list" | "watch" | "deletecollection");
    if info.depth > 1 && (info.name.is_empty() || is_unnamed) {
        return Err(Status::bad_request("name must be provided"));
    }
    Ok(())
}

/// Returns the metrics labels of a routed request.
pub(crate) fn routed(endpoint: &Endpoint, route: &Destination) -> Routed {
    Routed { removed_release: removed_release(endpoint, route) }
}

/// Returns the release that removes a deprecated version; empty if none is declared. Returns
/// nothing if the version is not deprecated.
fn removed_release(endpoint: &Endpoint, route: &Destination) -> Option<String> {
    if let Some(open) = &endpoint.open {
        return (!open.warnings().is_empty()).then(String::new);
    }
    let own_kind = match route {
        Destination::Verb(VerbTarget::Resource, _) => true,
        Destination::Verb(VerbTarget::Subresource(def), _) => {
            def.kind.2 == endpoint.kind.kind && def.kind.0 == endpoint.kind.group
        }
        Destination::Connect(_) => false,
    };
    if own_kind { verbs::removed_release(endpoint.kind) } else { None }
}
