//! The health endpoints: all checks at `/livez`, one at `/livez/{name}` (upstream:
//! `healthz.handleRootHealth`).

use std::fmt::Write;

use http::{HeaderValue, header};
use request::{Body, BoxFuture, Handler, Query, Request, RequestExt, Response, respond};

use super::results::Results;
use super::{Health, HealthEndpoint, Named};
use machinery::scalar::go_text::quote;

/// Handles `/healthz`, `/livez`, `/readyz`, and the paths below them; replies 404 to others.
pub struct HealthHandler(pub Health);

impl HealthHandler {
    /// Whether the path is handled here.
    pub fn serves(path: &str) -> bool {
        split(path).is_some()
    }

    fn answer(&self, path: &str, query: &Query) -> Response {
        let Some((endpoint, name)) = split(path) else { return respond::not_found() };
        let checks = self.0.checks(endpoint);
        match name {
            None => all(endpoint, &checks, query, &self.0.results),
            Some(name) => checks.iter().find(|c| c.name == name).map_or_else(respond::not_found, one),
        }
    }
}

/// The endpoint and the check that a path names.
fn split(path: &str) -> Option<(HealthEndpoint, Option<&str>)> {
    let (first, rest) = path.strip_prefix('/')?.split_at_checked(path[1..].find('/').unwrap_or(path.len() - 1))?;
    let endpoint = HealthEndpoint::ALL.into_iter().find(|e| e.name() == first)?;
    Some((endpoint, rest.strip_prefix('/')))
}

fn one(check: &Named) -> Response {
    match (check.check)() {
        Ok(()) => respond::bytes(200, respond::TEXT, "ok"),
        Err(why) => respond::text_error(500, &format!("internal server error: {why}")),
    }
}

fn all(endpoint: HealthEndpoint, checks: &[Named], query: &Query, results: &Results) -> Response {
    let mut excluded: Vec<&str> = query.all("exclude").collect();
    let (mut report, mut failed) = (String::new(), Vec::new());
    for check in checks {
        let name = check.name;
        // Writing to a string cannot fail.
        let _ = if excluded.contains(&name) {
            excluded.retain(|other| *other != name);
            writeln!(report, "[+]{name} excluded: ok")
        } else if let Err(why) = (check.check)() {
            results.record(name, endpoint.name(), false);
            failed.push(format!("{name}: {why}"));
            writeln!(report, "[-]{name} failed: reason withheld")
        } else {
            results.record(name, endpoint.name(), true);
            writeln!(report, "[+]{name} ok")
        };
    }
    if !excluded.is_empty() {
        excluded.sort_unstable();
        excluded.dedup();
        let names: Vec<String> = excluded.iter().map(|name| quote(name)).collect();
        let _ = writeln!(report, "warn: some health checks cannot be excluded: no matches for {}", names.join(", "));
    }
    let endpoint = endpoint.name();
    if !failed.is_empty() {
        tracing::debug!(endpoint, failed = failed.join("; "), "health check failed");
        return respond::text_error(500, &format!("{report}{endpoint} check failed"));
    }
    match query.get("verbose").is_some() {
        true => good(format!("{report}{endpoint} check passed\n")),
        false => good("ok"),
    }
}

fn good(text: impl Into<Body>) -> Response {
    let mut response = respond::bytes(200, respond::TEXT, text);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl Handler for HealthHandler {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let response = self.answer(request.path(), request.query());
        Box::pin(std::future::ready(response))
    }
}
