//! Checks that a response contains only objects that its user may read.

use serde_json::Value;

use crate::common::wire::Answer;
use crate::generate::Request;
use crate::policy::{node_may_read, permits};
use crate::world::{MARKER, Object, World};

/// A response with an object that the user may not read, or a change that no user may make.
#[derive(Debug)]
pub struct Violation {
    /// The shape of the request, as named by the generator.
    pub shape: &'static str,
    pub text: String,
}

/// Returns the violations of one response.
pub fn answer(world: &World, request: &Request, answer: &Answer) -> Vec<Violation> {
    let mut violations: Vec<Violation> = shown(world, &answer.body)
        .filter(|object| !may_see(world, request, answer, object))
        .map(|object| {
            let grants = world.grants(&request.user);
            describe(request, answer, &format!("shows {}; rights: {grants:?}", object.path()))
        })
        .collect();
    if answer.code < 300 && !matches!(request.method, "GET" | "HEAD") {
        violations.extend(forbidden_change(request, &answer.body).map(|what| describe(request, answer, what)));
    }
    violations
}

fn describe(request: &Request, answer: &Answer, what: &str) -> Violation {
    let Request { shape, user, method, target, body, .. } = request;
    Violation { shape, text: format!("{user}: {method} {target} {body} -> {} {what}", answer.code) }
}

/// Returns the objects whose markers appear in a response, in any encoding.
fn shown<'w>(world: &'w World, body: &[u8]) -> impl Iterator<Item = &'w Object> {
    let text = String::from_utf8_lossy(body);
    let mut markers: Vec<usize> =
        text.match_indices(MARKER).filter_map(|(at, _)| text.get(at + 4..at + 8)?.parse().ok()).collect();
    markers.sort_unstable();
    markers.dedup();
    markers.into_iter().filter_map(|index| world.objects.get(index))
}

fn may_see(world: &World, request: &Request, answer: &Answer, object: &Object) -> bool {
    if request.body.contains(&object.marker) {
        return true;
    }
    let Some(grants) = world.grants(&request.user) else {
        let node = request.user.trim_start_matches("system:node:");
        return node_may_read(node, object);
    };
    let path = request.target.split('?').next().unwrap_or_default();
    let verbs: &[&str] = match request.method {
        // The verb is in the path; custom resources are watched with any method, as upstream.
        _ if path.contains("/watch/") => &["watch"],
        "GET" | "HEAD" if answer.body.starts_with(b"{\"type\":") => &["watch"],
        "GET" | "HEAD" if answer.body.starts_with(b"{") => &["get", "list"],
        // In encodings other than JSON, watch events are not distinguished from objects.
        "GET" | "HEAD" => &["get", "list", "watch"],
        "POST" => &["create"],
        "PUT" => &["update", "create"],
        "PATCH" => &["patch"],
        _ => &["delete", "deletecollection"],
    };
    let subresource = path.rsplit('/').next().unwrap_or_default();
    permits(grants, verbs, object, &[subresource])
}

/// Returns a change that admission has to reject: labels or claims of a pod by a node, and secrets
/// that an account may not mount.
fn forbidden_change(request: &Request, body: &[u8]) -> Option<&'static str> {
    let is_node = request.user.starts_with("system:node:");
    if !is_node && !request.target.contains("ephemeralcontainers") {
        return None;
    }
    let pod: Value = serde_json::from_slice(body).ok()?;
    if pod["kind"] != "Pod" {
        return None;
    }
    if is_node && request.target.contains("/status") {
        let labels = &pod["metadata"]["labels"];
        if labels.get("forged").is_some() {
            return Some("a node changed labels of a pod");
        }
        if pod["status"].get("resourceClaimStatuses").is_some() {
            return Some("a node set resource claims of a pod");
        }
    }
    let is_guarded = pod["spec"]["serviceAccountName"] == "allowed";
    if is_guarded && pod["spec"]["ephemeralContainers"].to_string().contains("\"other\"") {
        return Some("a pod refers to a secret that its service account may not mount");
    }
    None
}
