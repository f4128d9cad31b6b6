//! The route table of a resource: which paths and methods exist (upstream: `APIInstaller.registerResourceHandlers`, `crdHandler`).
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
//! and a cluster-scoped resource those without `namespaces/{namespace}`; each as far as the resource has the verb. A path that no template
//! matches is not found, so authorization of one scope can never reach an object of another.

use std::sync::Arc;

use http::Method;
use machinery::catalog::SubresourceDef;
use machinery::status::Status;
use serving::RequestInfo;
use serving::metrics::Routed;

use crate::endpoint::{Endpoint, SubresourceHandler};
use crate::verbs;

/// Where a request goes.
pub(crate) enum Route {
    /// To a verb of this server.
    Verb(Target, &'static str),
    /// To a subresource that passes the request on.
    Connect(Arc<dyn SubresourceHandler>),
}

/// What a verb is applied to.
pub(crate) enum Target {
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
/// Custom resources are routed by verb: upstream registers no templates for them.
const CUSTOM: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// Whether a custom resource of this scope is at the path; lists and watches may be of all namespaces.
pub(crate) fn is_in_scope(namespaced: bool, info: &RequestInfo) -> bool {
    match namespaced {
        true => !info.namespace.is_empty() || matches!(info.verb.as_ref(), "list" | "watch"),
        false => info.namespace.is_empty(),
    }
}

/// The route of a request.
///
/// # Errors
/// 404 without a template for the path, 405 without one for the method.
pub(crate) fn find(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Route, Status> {
    match endpoint.open.is_some() {
        true => of_custom(endpoint, info),
        false => of_declared(endpoint, info, method),
    }
}

/// What handlers look at once a route has been found: the namespace and the name of the path.
///
/// # Errors
/// 400 for a path whose name is empty.
pub(crate) fn check_names(endpoint: &Endpoint, info: &RequestInfo) -> Result<(), Status> {
    // `namespaces//pods/a` has the template of an object, and a list of all namespaces has none of an object.
    if endpoint.resource.namespaced && info.in_namespace && info.namespace.is_empty() && info.depth > 1 {
        return Err(Status::bad_request("Namespace parameter required."));
    }
    check_name(info)
}

fn of_declared(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Route, Status> {
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
        "list" if info.verb == "watch" => Ok(Route::Verb(Target::Resource, "watch")),
        verb => Ok(Route::Verb(Target::Resource, verb)),
    }
}

fn of_subresource(endpoint: &Endpoint, info: &RequestInfo, method: &Method) -> Result<Route, Status> {
    let Some(def) = endpoint.subresource(&info.subresource) else { return Err(Status::path_not_found()) };
    let connecter = endpoint.handlers.get(info.subresource.as_str()).filter(|handler| !handler.connects().is_empty());
    if info.depth > 3 && !connecter.is_some_and(|handler| handler.takes_subpath()) {
        return Err(Status::path_not_found());
    }
    if let Some(handler) = connecter.filter(|handler| handler.connects().contains(method)) {
        return Ok(Route::Connect(handler.clone()));
    }
    select(SUBRESOURCE, |verb| def.verbs.contains(&verb), method)
        .map(|verb| Route::Verb(Target::Subresource(def), verb))
}

/// The verb of a method, of those that the resource has.
fn select(verbs: Verbs, has: impl Fn(&str) -> bool, method: &Method) -> Result<&'static str, Status> {
    let mut served = verbs.iter().filter(|(_, verb)| has(verb)).peekable();
    if served.peek().is_none() {
        return Err(Status::path_not_found());
    }
    served.find(|(of, _)| of == method).map(|(_, verb)| *verb).ok_or_else(Status::method_not_allowed)
}

fn of_custom(endpoint: &Endpoint, info: &RequestInfo) -> Result<Route, Status> {
    let known = CUSTOM.into_iter().find(|verb| *verb == info.verb);
    if info.subresource.is_empty() {
        // A POST to the path of an object creates the object; its name has to be that of the path (`verbs::create`).
        let verb = known.filter(|verb| endpoint.resource.verbs.contains(verb));
        return verb.map(|verb| Route::Verb(Target::Resource, verb)).ok_or_else(Status::method_not_allowed);
    }
    let Some(def) = endpoint.subresource(&info.subresource) else {
        return Err(Status::not_found(endpoint.name(), &info.name));
    };
    let verb = known.filter(|verb| def.verbs.contains(verb));
    verb.map(|verb| Route::Verb(Target::Subresource(def), verb)).ok_or_else(Status::method_not_allowed)
}

/// The name of an object in the path is not empty.
fn check_name(info: &RequestInfo) -> Result<(), Status> {
    // The verb of a collection at the path of an object: the name, if any, is that of the field selector.
    let is_unnamed = !info.verb_in_path && matches!(&*info.verb, "list" | "watch" | "deletecollection");
    if info.depth > 1 && (info.name.is_empty() || is_unnamed) {
        return Err(Status::bad_request("name must be provided"));
    }
    Ok(())
}

/// What metrics are told of a request that has a route.
pub(crate) fn routed(endpoint: &Endpoint, route: &Route) -> Routed {
    Routed { removed_release: removed_release(endpoint, route) }
}

/// Of a deprecated version, the release without it; empty when no release is named. Nothing when the version is not
/// deprecated.
fn removed_release(endpoint: &Endpoint, route: &Route) -> Option<String> {
    if let Some(open) = &endpoint.open {
        return (!open.warnings().is_empty()).then(String::new);
    }
    let own_kind = match route {
        Route::Verb(Target::Resource, _) => true,
        Route::Verb(Target::Subresource(def), _) => {
            def.kind.2 == endpoint.kind.kind && def.kind.0 == endpoint.kind.group
        }
        Route::Connect(_) => false,
    };
    if own_kind { verbs::removed_release(endpoint.kind) } else { None }
}
