//! Request lines, compared with a second implementation of Go's `net/url` rules that works on
//! bytes, as Go does.

use std::collections::BTreeMap;
use std::fmt::Write;

use authz::AuthorizationAttributes;
use http::{Method, Uri};
use request::request_info::PathError;
use request::{Query, RequestInfo, User};

/// Parses a request line by Go's rules; authorization and handler interpret it identically.
pub fn requests(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (method, target) = text.split_once(' ').unwrap_or(("GET", text));
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), target.parse::<Uri>()) else { return };
    let expected_path = unescape(uri.path(), false);
    let info = match RequestInfo::new(&method, &uri) {
        Ok(info) => info,
        Err(PathError::Escape) => return assert_eq!(expected_path, None, "the escapes of the path are whole"),
        Err(PathError::NoKind(path)) => return assert_eq!(Some(path), expected_path),
    };
    assert_eq!(Some(&info.path), expected_path.as_ref());
    assert!(!info.is_resource_request || info.depth > 0);
    check_query(&info.query, uri.query().unwrap_or_default());
    check_normal_form(&method, &info);
    check_readers(&info);
}

/// Checks that the query has Go's parameters, and that re-encoding preserves them.
fn check_query(query: &Query, text: &str) {
    let expected = go_query(text);
    let again = Query::parse(&query.encode());
    for (name, values) in &expected {
        assert_eq!(query.all(name).collect::<Vec<_>>(), *values, "values of {name:?}");
        assert_eq!(again.all(name).collect::<Vec<_>>(), *values, "values of {name:?} after encoding");
        assert_eq!(query.get(name), values.first().map(String::as_str));
    }
    let pairs = expected.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)));
    let encoded: Vec<String> = pairs.map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    assert_eq!(query.encode(), encoded.join("&"));
}

/// Checks that a request line with all characters escaped and sorted parameters is the same
/// request.
fn check_normal_form(method: &Method, info: &RequestInfo) {
    let path = info.path.split('/').map(|segment| escape(segment).replace('+', "%20")).collect::<Vec<_>>().join("/");
    let target = format!("{path}?{}", info.query.encode());
    let Some(uri) = target.parse::<Uri>().ok().filter(|_| path.starts_with('/')) else { return };
    let mut again = RequestInfo::new(method, &uri).expect("the escaped path can be read");
    again.query.clone_from(&info.query);
    assert_eq!(again, *info);
}

/// Checks that the handler selects what authorization permits.
fn check_readers(info: &RequestInfo) {
    let user = User::anonymous();
    let seen = AuthorizationAttributes::of_request(&user, info);
    let fields = [&*seen.verb, seen.namespace, seen.group, seen.version, seen.resource, seen.subresource, seen.name];
    let handled = [
        &*info.verb,
        &info.namespace,
        &info.api_group,
        &info.api_version,
        &info.resource,
        &info.subresource,
        &info.name,
    ];
    assert_eq!(fields, handled);
    if !matches!(&*info.verb, "list" | "watch" | "deletecollection") {
        return;
    }
    // The handler rejects a selector that authorization cannot parse.
    let Ok(selected) = endpoints::fuzzing::selected(info) else { return };
    assert!(info.verb_in_path || !(seen.selectors.field_error || seen.selectors.label_error));
    if !seen.name.is_empty() {
        assert_eq!(selected.fields.requires_exact_match("metadata.name"), Some(seen.name), "another name is selected");
    }
    for term in &seen.selectors.fields {
        assert!(selected.fields.requirements().contains(term), "{term:?} was permitted and is not selected");
    }
    for term in &seen.selectors.labels {
        assert!(selected.labels.requirements().contains(term), "{term:?} was permitted and is not selected");
    }
}

/// `url.ParseQuery`: the values of each parameter. An error skips only its parameter.
fn go_query(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut values = BTreeMap::<String, Vec<String>>::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let (Some(name), Some(value)) = (unescape(name, true), unescape(value, true)) {
            values.entry(name).or_default().push(value);
        }
    }
    values
}

/// `url.QueryUnescape`, or `url.PathUnescape`, which leaves a plus sign; `None` for a broken
/// escape.
fn unescape(text: &str, is_query: bool) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        match first {
            b'%' => {
                let [high, low, behind @ ..] = behind else { return None };
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                out.push((digit(high)? * 16 + digit(low)?) as u8);
                rest = behind;
            }
            b'+' if is_query => out.push(b' '),
            byte => out.push(*byte),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// `url.QueryEscape`
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => out.push(byte.into()),
            b' ' => out.push('+'),
            byte => write!(out, "%{byte:02X}").expect("a string takes everything"),
        }
    }
    out
}
