//! Intended differences. `docs/differences.md` explains each under its ID.

use serde_json::Value;

use crate::compare::Difference;
use crate::conversation::Step;

/// An intended difference.
pub struct Rule {
    /// A heading of `docs/differences.md`.
    pub id: &'static str,
    matches: fn(&Step, &Difference) -> bool,
    /// A condition on all differences of the step.
    given: fn(&[Difference]) -> bool,
}

const ALWAYS: fn(&[Difference]) -> bool = |_| true;

/// The rule after which the servers hold different objects, so that later responses differ. It
/// applies only after an applied custom object.
const PRUNED_APPLIES: &str = "pruned-applies";

const DIVERGING: [&str; 9] = [
    "status-creates-service",
    "quantities-in-atomic-lists",
    "create-at-path",
    "applied-owners",
    "owners-of-other-versions",
    "empty-overhead",
    "whole-floats",
    "empty-bundle",
    PRUNED_APPLIES,
];

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { id: "column-descriptions", matches: column_descriptions, given: ALWAYS },
    Rule { id: "profiles", matches: |step, found| is_body_of(step, found, "/debug/"), given: ALWAYS },
    Rule { id: "metrics", matches: |step, found| is_body_of(step, found, "/metrics"), given: ALWAYS },
    Rule {
        id: "openapi-documents",
        matches: |step, found| is_body_of(step, found, "/openapi/") || is_hash(found),
        given: ALWAYS,
    },
    Rule {
        id: "order-of-component-statuses",
        matches: |step, found| is_body_of(step, found, "/api/v1/componentstatuses"),
        given: ALWAYS,
    },
    Rule { id: "order-of-rules", matches: order_of_rules, given: ALWAYS },
    Rule { id: "status-creates-service", matches: status_creates_service, given: is_missing_here },
    Rule { id: "quantities-in-atomic-lists", matches: quantities_in_atomic_lists, given: ALWAYS },
    Rule { id: "blank-token", matches: blank_token, given: ALWAYS },
    Rule {
        id: "version",
        matches: |step, found| is_body_of(step, found, "/version") && is_build_info(found),
        given: ALWAYS,
    },
    Rule {
        id: "openid-address",
        matches: |step, found| step.path == "/.well-known/openid-configuration" && found.place == "body.jwks_uri",
        given: ALWAYS,
    },
    Rule { id: "flags", matches: |step, found| is_body_of(step, found, "/flagz"), given: ALWAYS },
    Rule { id: "status-page", matches: |step, found| is_body_of(step, found, "/statusz"), given: ALWAYS },
    Rule { id: "bookmark-replicas", matches: bookmark_replicas, given: ALWAYS },
    Rule { id: "template-generation-in-metadata", matches: template_generation_in_metadata, given: ALWAYS },
    Rule { id: "negative-timeout", matches: negative_timeout, given: ALWAYS },
    Rule { id: "cells-without-column", matches: cells_without_column, given: ALWAYS },
    Rule { id: "create-at-path", matches: create_at_path, given: ALWAYS },
    Rule { id: "panics", matches: panics, given: ALWAYS },
    Rule { id: "first-unknown-field", matches: first_unknown_field, given: ALWAYS },
    Rule { id: "cel-recovery", matches: cel_recovery, given: ALWAYS },
    Rule { id: "internal-values", matches: internal_values, given: ALWAYS },
    Rule { id: "empty-overhead", matches: empty_overhead, given: is_refused_upstream },
    Rule { id: "whole-floats", matches: whole_floats, given: are_versions_or_duplicates },
    Rule { id: "empty-bundle", matches: empty_bundle, given: are_versions_or_duplicates },
    Rule { id: "order-of-finalizers", matches: is_of_finalizers, given: have_the_same_finalizers },
    Rule { id: "order-of-formats", matches: is_of_formats, given: have_the_same_formats },
    Rule { id: "applied-owners", matches: applied_owners, given: is_refused_here },
    Rule { id: "owners-of-other-versions", matches: owners_of_other_versions, given: ALWAYS },
    Rule { id: "condition-of-flow-schema", matches: condition_of_flow_schema, given: ALWAYS },
    Rule { id: PRUNED_APPLIES, matches: changes_custom_object, given: is_version_alone },
];

/// Reports whether only the body of a response differs, at paths with this prefix.
fn is_body_of(step: &Step, found: &Difference, path: &str) -> bool {
    found.place.starts_with("body") && step.path.starts_with(path)
}

/// Reports whether a response references the same document by another hash.
fn is_hash(found: &Difference) -> bool {
    let path = |side: &Option<Value>| {
        let location = side.as_ref()?.as_str()?;
        Some(location.strip_prefix("/openapi/v3/")?.split_once("?hash=")?.0.to_string())
    };
    found.place == "headers.location" && path(&found.upstream).is_some() && path(&found.upstream) == path(&found.here)
}

/// Upstream collects rules in the random order of the bindings in its cache.
fn order_of_rules(step: &Step, found: &Difference) -> bool {
    step.path.contains("/selfsubjectrulesreviews") && found.place.contains("ourceRules[")
}

/// Upstream creates an object by a write to the status of a missing one: a service without an
/// address, or a policy.
fn status_creates_service(step: &Step, _: &Difference) -> bool {
    let writes = matches!(step.method.as_str(), "PUT" | "PATCH");
    let creates = ["/services/", "/validatingadmissionpolicies/"].iter().any(|kind| step.path.contains(kind));
    writes && creates && step.path.contains("/status")
}

fn is_refused_here(found: &[Difference]) -> bool {
    found.iter().any(|of| of.place == "status" && of.here.as_ref().is_some_and(|status| status == 400))
}

fn is_missing_here(found: &[Difference]) -> bool {
    found.iter().any(|of| of.place == "status" && of.here.as_ref().is_some_and(|status| status == 404))
}

/// A non-canonical quantity in an atomic list: upstream treats it as different from the stored one.
/// Later writes show the resulting managed fields.
fn quantities_in_atomic_lists(step: &Step, found: &Difference) -> bool {
    let kinds = ["/horizontalpodautoscalers/", "/resourceslices/"];
    let is_write = matches!(step.method.as_str(), "PUT" | "PATCH") && kinds.iter().any(|kind| step.path.contains(kind));
    let lists = ["f:metrics", "f:devices"];
    // When the write also changes the manager of all other fields, the entries differ as a whole.
    let is_owner = found.place.starts_with("body.metadata.managedFields[") && step.path.contains("fieldManager=");
    let is_list = |value: &Option<Value>| {
        let text = value.as_ref().map(Value::to_string).unwrap_or_default();
        lists.iter().any(|list| text.contains(list))
    };
    let of_owners = found.place.starts_with("body.metadata.managedFields")
        && (lists.iter().any(|list| found.place.ends_with(list)) || is_list(&found.upstream) || is_list(&found.here));
    let has_quantities = is_list(&step.body.as_ref().map(fields_of));
    is_write && (of_owners || (has_quantities && (is_owner || found.place == "body.metadata.resourceVersion")))
}

/// Returns the fields of `spec` in a body or in the paths of a JSON patch, as managed fields name
/// them: `f:metrics`.
fn fields_of(body: &Value) -> Value {
    let members = body["spec"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let paths =
        body.as_array().into_iter().flatten().filter_map(|operation| operation["path"].as_str()?.split('/').nth(2));
    members.chain(paths).map(|name| Value::from(format!("f:{name}"))).collect()
}

/// A token review with a blank token: upstream passes it to the anonymous authenticator.
fn blank_token(step: &Step, found: &Difference) -> bool {
    let token = step.body.as_ref().and_then(|body| body.pointer("/spec/token")?.as_str());
    let is_blank = token.is_some_and(|token| !token.is_empty() && token.trim().is_empty());
    step.path.split('?').next().is_some_and(|path| path.ends_with("/tokenreviews"))
        && is_blank
        && found.place.starts_with("body.status")
}

/// Version information of the build.
fn is_build_info(found: &Difference) -> bool {
    let of_build = ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler"];
    of_build.iter().any(|field| found.place == format!("body.{field}"))
}

/// Bookmarks of upstream contain numbers that are not pointers in its internal types.
fn bookmark_replicas(step: &Step, found: &Difference) -> bool {
    let place = found.place.strip_prefix("body.$watch[").and_then(|place| Some(place.split_once("].object.")?.1));
    let is_empty = match place {
        Some("spec.replicas") => found.upstream == Some(0.into()),
        Some("metadata.annotations.deprecated.daemonset.template.generation") => found.upstream == Some("0".into()),
        _ => false,
    };
    step.watch.is_some() && is_empty && found.here.is_none()
}

/// Upstream omits the annotation from `PartialObjectMetadata`, and includes it in whole objects.
fn template_generation_in_metadata(step: &Step, found: &Difference) -> bool {
    let accepts = step.headers.get("Accept").map(Value::to_string).unwrap_or_default();
    let is_part = ["PartialObjectMetadata", "as=Table"].iter().any(|form| accepts.contains(form));
    let is_annotation = found.place.contains("metadata.annotations")
        && (found.place.contains("deprecated.daemonset.template.generation")
            || found.here.as_ref().is_some_and(|annotations| {
                let annotations = annotations.as_object();
                annotations.is_some_and(|all| all.keys().eq(["deprecated.daemonset.template.generation"]))
            }));
    step.path.contains("/daemonsets") && is_part && is_annotation && found.upstream.is_none()
}

/// A watch with a negative timeout: upstream ends it with or without an error, by chance.
fn negative_timeout(step: &Step, found: &Difference) -> bool {
    step.watch.is_some() && step.path.contains("timeoutSeconds=-") && found.place.starts_with("body.$watch")
}

/// Rows of upstream's address tables have one cell more than there are columns.
fn cells_without_column(step: &Step, found: &Difference) -> bool {
    step.path.contains("/ipaddresses") && found.place.ends_with(".cells[2]") && found.here.is_none()
}

/// Upstream creates any object at the path of a custom object, independently of the authorized
/// name.
fn create_at_path(step: &Step, _: &Difference) -> bool {
    let path = step.path.split('?').next().unwrap_or_default().strip_prefix("/apis/").unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let is_object = match parts.as_slice() {
        [_, _, "namespaces", rest @ ..] => rest.len() == 3,
        [_, _, rest @ ..] => rest.len() == 2,
        _ => false,
    };
    step.method == "POST" && is_object && parts[0].ends_with(".example.com")
}

/// Upstream's handler of a patch or of a Job's success policy panics, and the connection ends
/// without a response.
fn panics(step: &Step, found: &Difference) -> bool {
    let upstream = found.upstream.as_ref().and_then(Value::as_str).unwrap_or_default();
    let has_policy = |body: &Value| body.pointer("/spec/successPolicy").is_some();
    let may_panic = step.method == "PATCH" || step.body.as_ref().is_some_and(has_policy);
    may_panic && found.place.is_empty() && upstream.starts_with("no answer: connection closed")
}

/// Upstream visits the fields of a custom object in random order, and stops at the first unknown
/// field.
fn first_unknown_field(_: &Step, found: &Difference) -> bool {
    let is_typed = |side: &Option<Value>| {
        let text = side.as_ref().and_then(Value::as_str).unwrap_or_default();
        text.starts_with("failed to create typed patch object (")
    };
    let is_unknown = |side: &Option<Value>| side.to_owned().unwrap_or_default().to_string().contains("not declared");
    let (upstream, here) = (&found.upstream, &found.here);
    is_typed(upstream) && is_typed(here) && (is_unknown(upstream) || is_unknown(here))
}

/// Both servers reject a CEL expression for a syntax error at the same position. Upstream's parser
/// continues after the error, and reports further ones.
fn cel_recovery(_: &Step, found: &Difference) -> bool {
    let before = |side: &Option<Value>| {
        let (before, _) = side.as_ref()?.as_str()?.split_once("Syntax error: ")?;
        Some(before.to_owned())
    };
    let upstream = before(&found.upstream);
    found.place.ends_with("message") && upstream.is_some() && upstream == before(&found.here)
}

/// Both servers reject a document of the version `__internal`. Upstream first decodes it by Go
/// field names, and may report invalid values or unknown fields.
fn internal_values(_: &Step, found: &Difference) -> bool {
    let text = |side: &Option<Value>| side.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_decoding = text(&found.upstream).contains("in version \"__internal\" cannot be handled as a ");
    let names_version = text(&found.here).contains("__internal");
    found.place == "body.message" && is_decoding && names_version
}

/// A new pod with an empty map as overhead.
fn empty_overhead(step: &Step, _: &Difference) -> bool {
    let overhead = step.body.as_ref().and_then(|body| body.pointer("/spec/overhead")?.as_object());
    let creates = matches!(step.method.as_str(), "POST" | "PUT" | "PATCH");
    creates && step.path.contains("/pods") && overhead.is_some_and(serde_json::Map::is_empty)
}

fn is_refused_upstream(found: &[Difference]) -> bool {
    found.iter().any(|of| of.place == "status" && of.upstream.as_ref().is_some_and(|status| status == 403))
}

/// A write of a custom object with a whole number written as a fraction, such as `1.0`.
fn whole_floats(step: &Step, _: &Difference) -> bool {
    step.path.contains(".example.com/") && step.body.as_ref().is_some_and(|body| has(body, &is_whole_float))
}

fn is_whole_float(_: &str, value: &Value) -> bool {
    value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// A write with an empty certificate bundle.
fn empty_bundle(step: &Step, _: &Difference) -> bool {
    let is_empty = |name: &str, value: &Value| name == "caBundle" && value.as_str() == Some("");
    step.body.as_ref().is_some_and(|body| has(body, &is_empty))
}

/// Reports whether a document contains a matching value; items of lists have the name of their
/// list.
fn has(document: &Value, wanted: &dyn Fn(&str, &Value) -> bool) -> bool {
    fn below(name: &str, value: &Value, wanted: &dyn Fn(&str, &Value) -> bool) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| below(name, item, wanted)),
            Value::Object(members) => members.iter().any(|(name, value)| below(name, value, wanted)),
            value => wanted(name, value),
        }
    }
    below("", document, wanted)
}

/// Reports whether the object differs only in versions and managers, or is rejected here for equal
/// items of a set.
fn are_versions_or_duplicates(found: &[Difference]) -> bool {
    let places = ["body.metadata.generation", "body.metadata.resourceVersion", "body.metadata.managedFields"];
    let is_duplicate =
        |of: &Difference| of.here.as_ref().is_some_and(|text| text.to_string().contains("Duplicate value"));
    let is_version = |of: &Difference| places.iter().any(|place| of.place.starts_with(place));
    found.iter().all(is_version) || found.iter().any(|of| of.place == "body.message" && is_duplicate(of))
}

/// A deletion that changes finalizers: upstream leaves them in random order.
fn is_of_finalizers(_: &Step, found: &Difference) -> bool {
    found.place.starts_with("body.metadata.finalizers[")
}

fn have_the_same_finalizers(found: &[Difference]) -> bool {
    have_the_same(found, "body.metadata.finalizers[")
}

/// A warning about an unknown format in a definition.
fn is_of_formats(step: &Step, found: &Difference) -> bool {
    let is_of_format = |text: &Option<Value>| {
        text.as_ref().and_then(Value::as_str).is_some_and(|text| text.contains("unrecognized format"))
    };
    step.path.contains("/customresourcedefinitions")
        && found.place.starts_with("warning[")
        && is_of_format(&found.upstream)
        && is_of_format(&found.here)
}

fn have_the_same_formats(found: &[Difference]) -> bool {
    have_the_same(found, "warning[")
}

/// Reports whether the differences in a list are only of its order.
fn have_the_same(found: &[Difference], list: &str) -> bool {
    let found = found.iter().filter(|of| of.place.starts_with(list));
    let (mut upstream, mut here): (Vec<_>, Vec<_>) =
        found.map(|of| (of.upstream.as_ref().map(Value::to_string), of.here.as_ref().map(Value::to_string))).unzip();
    upstream.sort_unstable();
    here.sort_unstable();
    upstream == here
}

/// An applied object with managed fields that cannot be parsed.
fn applied_owners(step: &Step, _: &Difference) -> bool {
    let applies = step.headers.get("Content-Type").is_some_and(|of| of.to_string().contains("apply-patch"));
    applies && step.body.as_ref().is_some_and(|body| body.pointer("/metadata/managedFields").is_some())
}

/// A custom object with managed fields in a version that its definition does not have.
fn owners_of_other_versions(step: &Step, found: &Difference) -> bool {
    let names_other = |entry: &Value| {
        let version = entry["apiVersion"].as_str().unwrap_or_default();
        !version.is_empty() && version != "${rand}.example.com/v1"
    };
    let owners = step.body.as_ref().and_then(|body| body.pointer("/metadata/managedFields")?.as_array());
    step.path.contains(".example.com/v1/")
        && owners.is_some_and(|owners| owners.iter().any(names_other))
        && found.place.starts_with("body.metadata.managedFields")
        && found.upstream.is_none()
}

/// A controller writes the condition of a new flow schema, before or after the next request by
/// chance.
fn condition_of_flow_schema(step: &Step, found: &Difference) -> bool {
    let is_body_version = found.place == "body.metadata.resourceVersion";
    step.path.contains("/flowschemas/") && step.path.ends_with("/status") && is_body_version
}

/// Upstream stores an applied custom object with its unknown fields; the next write drops them.
fn changes_custom_object(step: &Step, _: &Difference) -> bool {
    matches!(step.method.as_str(), "PUT" | "PATCH") && step.path.contains(".example.com/")
}

fn applies_custom_object(step: &Step) -> bool {
    let applies = step.headers.get("Content-Type").is_some_and(|of| of.to_string().contains("apply-patch"));
    applies && step.path.contains(".example.com/")
}

fn is_version_alone(found: &[Difference]) -> bool {
    found.iter().all(|of| of.place == "body.metadata.resourceVersion")
}

/// The comparison ignores column descriptions in JSON; in YAML they are part of a text.
fn column_descriptions(_: &Step, found: &Difference) -> bool {
    let table =
        |side: &Option<Value>| side.as_ref().is_some_and(|text| text.to_string().contains("columnDefinitions:"));
    found.place == "body.$text" && table(&found.upstream) && table(&found.here)
}

/// The number of matches of each rule.
#[derive(Default)]
pub struct Matches {
    counts: Vec<usize>,
    diverged: bool,
    /// Whether a step of the conversation applied a custom object.
    applied: bool,
}

impl Matches {
    /// Resets the state of the previous conversation.
    pub fn begin_conversation(&mut self) {
        (self.diverged, self.applied) = (false, false);
    }

    /// Removes intended differences from those of a step.
    pub fn unexplained(&mut self, step: &Step, found: Vec<Difference>) -> Vec<Difference> {
        self.counts.resize(RULES.len(), 0);
        let applied = self.applied;
        self.applied |= applies_custom_object(step);
        let mut meant = |difference: &Difference| {
            let rule = RULES.iter().position(|rule| {
                (applied || rule.id != PRUNED_APPLIES) && (rule.matches)(step, difference) && (rule.given)(&found)
            });
            if let Some(at) = rule {
                self.counts[at] += 1;
                self.diverged |= DIVERGING.contains(&RULES[at].id);
            }
            rule.is_some()
        };
        found.iter().filter(|difference| !meant(difference)).cloned().collect()
    }

    /// Reports whether the servers hold different objects since the last call: later responses
    /// cannot be compared.
    pub fn take_diverged(&mut self) -> bool {
        std::mem::take(&mut self.diverged)
    }

    /// Returns rules without a match.
    pub fn unused(&self) -> Vec<&'static str> {
        let count = |at: usize| self.counts.get(at).copied().unwrap_or(0);
        RULES.iter().enumerate().filter(|(at, _)| count(*at) == 0).map(|(_, rule)| rule.id).collect()
    }
}

#[cfg(test)]
mod tests;
