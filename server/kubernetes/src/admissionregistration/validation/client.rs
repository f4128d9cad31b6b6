//! How a webhook is called (`k8s.io/apiserver/pkg/util/webhook`).

use machinery::field_path::Path;
use machinery::format;
use machinery::format::url::Url;
use machinery::hooks::Validation;

use generated::admissionregistration::v1::{ServiceReference, WebhookClientConfig};

const FORM: &str = "; desired format: https://host[/path]";

/// Exactly one of URL and service, and that well formed.
pub(super) fn validate_client_config(v: &mut Validation<'_>, path: &Path<'_>, config: &WebhookClientConfig) {
    match (&config.url, config.service.as_deref()) {
        (Some(url), None) => validate_url(v, &path.child("url"), url),
        (None, Some(service)) => validate_service(v, &path.child("service"), service),
        _ => v.required(path, "exactly one of url or service is required"),
    }
}

/// `ValidateWebhookURL`
fn validate_url(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(why) => return v.required(path, format!("url must be a valid URL: {why}{FORM}")),
    };
    if !url.scheme.eq_ignore_ascii_case("https") {
        let scheme = url.scheme.to_ascii_lowercase();
        v.invalid(path, scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if url.host.is_empty() {
        v.invalid(path, "", format!("host must be specified{FORM}"));
    }
    if let Some(user) = url.user {
        v.invalid(path, user, "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        v.invalid(path, url.fragment, "fragments are not permitted in the URL");
    }
    if !url.query.is_empty() {
        v.invalid(path, url.query, "query parameters are not permitted in the URL");
    }
}

/// `ValidateWebhookService`; as upstream's caller has it, an empty namespace is found at `name` and the other way round.
fn validate_service(v: &mut Validation<'_>, path: &Path<'_>, service: &ServiceReference) {
    v.filled(&path.child("name"), &service.namespace);
    v.filled(&path.child("namespace"), &service.name);
    let port = service.port.unwrap_or_default();
    let wrong = format::is_valid_port_num(port.into());
    if !wrong.is_empty() {
        v.invalid(&path.child("port"), port, format!("port is not valid: {}", wrong.join(", ")));
    }
    if let Some(text) = service.path.as_deref() {
        validate_path(v, &path.child("path"), text);
    }
}

fn validate_path(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    match text {
        "" | "/" => return,
        "//" => return v.invalid(path, text, "segment[0] may not be empty"),
        _ => {}
    }
    if !text.starts_with('/') {
        v.invalid(path, text, "must start with a '/'");
    }
    let mut characters = text.chars();
    characters.next();
    let rest = characters.as_str();
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            v.invalid(path, text, format!("segment[{index}] may not be empty"));
            continue;
        }
        for why in format::is_dns1123_subdomain(step) {
            v.invalid(path, text, format!("segment[{index}]: {why}"));
        }
    }
}
