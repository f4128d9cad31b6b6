//! Parses the impersonation headers.

use http::{HeaderMap, HeaderName, HeaderValue};

use machinery::scalar::go_text::quote;
use request::User;
use request::user::unescaped_extra_key;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const PREFIX: &str = "impersonate-";
const EXTRA_PREFIX: &str = "impersonate-extra-";

/// The user to impersonate, if any.
///
/// # Errors
/// There is no user name; the value has the other attributes.
pub(super) fn wanted(headers: &HeaderMap) -> Result<Option<User>, User> {
    if !headers.keys().any(|name| name.as_str().starts_with(PREFIX)) {
        return Ok(None);
    }
    let first = |name: HeaderName| headers.get(name).map(text).unwrap_or_default();
    let mut user = User { uid: first(UID), ..User::new(first(USER), headers.get_all(GROUP).iter().map(text)) };
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix(EXTRA_PREFIX) {
            user.extra.entry(unescaped_extra_key(key)).or_default().push(text(value));
        }
    }
    match user.name.is_empty() {
        false => Ok(Some(user)),
        true if user == User::default() => Ok(None),
        true => Err(user),
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The error message for impersonation without a user name; lists the other attributes in Go's
/// format.
pub(super) fn missing_user_message(wanted: &User, constrained: bool) -> String {
    if constrained {
        let groups = strings(&wanted.groups);
        let groups = if wanted.groups.is_empty() { "(nil)" } else { &groups };
        let extra: Vec<String> =
            wanted.extra.iter().map(|(key, values)| format!("{}:[]string{}", quote(key), strings(values))).collect();
        let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
        return format!(
            "requested &user.DefaultInfo{{Name:\"\", UID:{}, Groups:[]string{groups}, Extra:map[string][]string{extra}}} without impersonating a user name",
            quote(&wanted.uid)
        );
    }
    let version = "authentication.k8s.io/v1";
    let groups = wanted.groups.iter().map(|group| format!("{{Group  {group}    }}"));
    let extra = wanted
        .extra
        .iter()
        .flat_map(|(key, values)| values.iter().map(move |v| format!("{{UserExtra  {v}  {version}  {key}}}")));
    let uid = Some(&wanted.uid).filter(|uid| !uid.is_empty()).map(|uid| format!("{{UID  {uid}  {version}  }}"));
    let all: Vec<String> = groups.chain(extra).chain(uid).collect();
    format!("requested [{}] without impersonating a user", all.join(" "))
}

fn strings(values: &[String]) -> String {
    format!("{{{}}}", values.iter().map(|v| quote(v)).collect::<Vec<_>>().join(", "))
}
