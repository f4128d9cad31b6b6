//! Validation of the conversion of a definition (`validateCustomResourceConversion`).

use std::collections::HashSet;

use apimachinery::apiextensions::v1::{ServiceReference, WebhookClientConfig};
use apimachinery::apiextensions::v1beta1::CustomResourceConversion;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::field::{webhook_path, webhook_url};
use machinery::format::is_dns1035_label;
use machinery::hooks::Validation;

/// Supported versions of `ConversionReview`.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// Checks a conversion. `requires_known`: whether it must name a supported review version.
pub fn check(v: &mut Validation<'_>, conversion: &CustomResourceConversion, requires_known: bool, path: &Path<'_>) {
    v.required_one_of_strings(&path.child("strategy"), &conversion.strategy, &["None", "Webhook"]);
    let (client, reviews) = (path.child("webhookClientConfig"), path.child("conversionReviewVersions"));
    if conversion.strategy != "Webhook" {
        const WHY: &str = "should not be set when strategy is not set to Webhook";
        if conversion.webhook_client_config.is_some() {
            v.forbidden(&client, WHY);
        }
        if !conversion.conversion_review_versions.is_empty() {
            v.forbidden(&reviews, WHY);
        }
        return;
    }
    match &conversion.webhook_client_config {
        None => v.required(&client, "required when strategy is set to Webhook"),
        Some(config) => endpoint(v, config, &client),
    }
    review_versions(v, &conversion.conversion_review_versions, requires_known, &reviews);
}

/// Checks of enumerations, with values shown as plain strings.
trait Choices {
    fn required_one_of_strings(&mut self, path: &Path<'_>, value: &str, known: &[&str]);
}

impl Choices for Validation<'_> {
    fn required_one_of_strings(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        match value {
            "" => self.required(path, ""),
            value if known.contains(&value) => {}
            value => self.not_supported(path, value, known),
        }
    }
}

/// `validateEnumStrings`
pub fn choice(v: &mut Validation<'_>, path: &Path<'_>, value: &str, known: &[&str]) {
    v.required_one_of_strings(path, value, known);
}

fn endpoint(v: &mut Validation<'_>, config: &WebhookClientConfig, path: &Path<'_>) {
    match (&config.url, &config.service) {
        (Some(url), None) => v.errors.extend(webhook_url(&path.child("url"), url)),
        (None, Some(service)) => check_service(v, service, &path.child("service")),
        _ => v.required(path, "exactly one of url or service is required"),
    }
}

/// `webhook.ValidateWebhookService`
fn check_service(v: &mut Validation<'_>, service: &ServiceReference, path: &Path<'_>) {
    if service.name.is_empty() {
        v.required(&path.child("name"), "service name is required");
    }
    if service.namespace.is_empty() {
        v.required(&path.child("namespace"), "service namespace is required");
    }
    let port = i64::from(service.port.unwrap_or(443));
    if !(1..=65535).contains(&port) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        v.invalid(&path.child("port"), port, why);
    }
    if let Some(text) = &service.path {
        v.errors.extend(webhook_path(&path.child("path"), text));
    }
}

fn review_versions(v: &mut Validation<'_>, versions: &[String], requires_known: bool, path: &Path<'_>) {
    if versions.is_empty() {
        return v.required(path, "");
    }
    let mut seen = HashSet::new();
    for (index, version) in versions.iter().enumerate() {
        if !seen.insert(version) {
            v.invalid(&path.index(index), version, "duplicate version");
            continue;
        }
        v.malformed(&path.index(index), version, is_dns1035_label(version));
    }
    if requires_known && !versions.iter().any(|version| REVIEWS.contains(&version.as_str())) {
        let why = format!("must include at least one of {}", REVIEWS.join(", "));
        v.invalid(path, BadValue::strings(versions), why);
    }
}

/// Whether a stored conversion requires its successor to name a supported version.
pub fn has_known_review(conversion: Option<&CustomResourceConversion>) -> bool {
    conversion.is_none_or(|conversion| {
        let versions = &conversion.conversion_review_versions;
        versions.is_empty() || versions.iter().any(|version| REVIEWS.contains(&version.as_str()))
    })
}
