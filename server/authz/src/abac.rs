//! Attribute-based access control by a policy file (upstream: `pkg/auth/authorizer/abac`).

use std::path::Path;

use request::user::ALL_AUTHENTICATED;
use request::{BoxFuture, User};
use serde_json::Value;

use crate::Error;
use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules, ready};

const V0: &str = "abac.authorization.kubernetes.io/v0";
const V1BETA1: &str = "abac.authorization.kubernetes.io/v1beta1";

/// The policies of a file; a request is allowed if any policy matches.
#[derive(Debug)]
pub struct Abac(Vec<Policy>);

/// One line of the file. An empty field matches nothing, `*` matches everything.
#[derive(Debug, Default, PartialEq, Eq)]
struct Policy {
    user: String,
    group: String,
    readonly: bool,
    api_group: String,
    resource: String,
    namespace: String,
    path: String,
}

impl Abac {
    /// Reads a file.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is invalid.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(options::Error::file(path))?;
        Self::parse(&text).map_err(|source| Error::PolicyFile { path: path.into(), source: Box::new(source) })
    }

    /// Parses the lines. Skips empty lines and lines that begin with `#`.
    fn parse(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(str::trim).enumerate();
        let policies = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let policy = |(i, line): (usize, &str)| {
            Policy::parse(line).map_err(|source| Error::Line { line: i + 1, source: Box::new(source) })
        };
        policies.map(policy).collect::<Result<_, _>>().map(Abac)
    }
}

impl Policy {
    fn parse(line: &str) -> Result<Self, Error> {
        let document: Value = serde_json::from_str(line)?;
        let version = document["apiVersion"].as_str().unwrap_or_default();
        let fields = if document["spec"].is_object() { &document["spec"] } else { &document };
        let text = |key: &str| fields[key].as_str().unwrap_or_default().to_owned();
        let mut policy = Policy {
            user: text("user"),
            group: text("group"),
            readonly: fields["readonly"] == true,
            api_group: text("apiGroup"),
            resource: text("resource"),
            namespace: text("namespace"),
            path: text("nonResourcePath"),
        };
        match version {
            V1BETA1 => {}
            "" | V0 => policy.widen_as_v0(),
            other => return Err(Error::PolicyVersion(other.to_owned())),
        }
        if policy.user == "*" || policy.group == "*" {
            (policy.user, policy.group) = (String::new(), ALL_AUTHENTICATED.into());
        }
        Ok(policy)
    }

    /// Applies the defaults of `v0`, in which an omitted field matches everything.
    fn widen_as_v0(&mut self) {
        if self.user.is_empty() && self.group.is_empty() {
            self.group = ALL_AUTHENTICATED.into();
        }
        if self.namespace.is_empty() && self.resource.is_empty() {
            self.path = "*".into();
        }
        for everything in [&mut self.namespace, &mut self.resource] {
            if everything.is_empty() {
                *everything = "*".into();
            }
        }
        self.api_group = "*".into();
    }

    fn allows(&self, attributes: &AuthorizationAttributes<'_>) -> bool {
        let reads = matches!(&*attributes.verb, "get" | "list" | "watch");
        self.applies_to(attributes.user) && (reads || !self.readonly) && self.covers(attributes)
    }

    fn applies_to(&self, user: &User) -> bool {
        let named = self.user.is_empty() || self.user == user.name;
        let member = self.group.is_empty() || user.is_in(&self.group);
        !(self.user.is_empty() && self.group.is_empty()) && named && member
    }

    fn covers(&self, attributes: &AuthorizationAttributes<'_>) -> bool {
        let matches = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        match attributes.is_resource_request {
            true => {
                matches(&self.namespace, attributes.namespace)
                    && matches(&self.resource, attributes.resource)
                    && matches(&self.api_group, attributes.group)
            }
            false => {
                matches(&self.path, attributes.path)
                    || self.path.strip_suffix('*').is_some_and(|prefix| attributes.path.starts_with(prefix))
            }
        }
    }
}

impl Authorizer for Abac {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(match self.0.iter().any(|policy| policy.allows(attributes)) {
            true => Decision::Allow("".into()),
            false => Decision::NoOpinion("No policy matched.".into()),
        })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules> {
        use crate::policy_rule::PolicyRule;
        let mut rules = UserRules::default();
        for policy in self.0.iter().filter(|policy| policy.applies_to(user)) {
            let verbs: &[&str] = if policy.readonly { &["get", "list", "watch"] } else { &["*"] };
            if !policy.resource.is_empty() && (policy.namespace == "*" || policy.namespace == namespace) {
                rules.rules.push(PolicyRule::resources(verbs, &[&policy.api_group], &[&policy.resource]));
            }
            if !policy.path.is_empty() {
                rules.rules.push(PolicyRule::paths(verbs, &[&policy.path]));
            }
        }
        ready(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
# upstream's example
{"user":"admin"}
{"user":"scheduler", "readonly": true, "resource": "pods"}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"group":"dev","namespace":"projectX","resource":"*","apiGroup":"apps"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"*","nonResourcePath":"/logs/*","readonly":true}}
"#;

    #[test]
    fn policies_allow_matching_requests() {
        let abac = Abac::parse(FILE).unwrap();
        for (user, group, verb, attributes, expect) in [
            ("admin", "x", "delete", "a/pods.", true),
            ("admin", "x", "get", "/healthz", true),
            ("scheduler", "x", "list", "a/pods.", true),
            ("scheduler", "x", "update", "a/pods.", false),
            ("scheduler", "x", "list", "a/secrets.", false),
            ("jane", "dev", "create", "projectX/deployments.apps", true),
            ("jane", "dev", "create", "projectX/pods.", false),
            ("jane", "dev", "create", "other/deployments.apps", false),
            ("jane", ALL_AUTHENTICATED, "get", "/logs/a", true),
            ("jane", ALL_AUTHENTICATED, "get", "/logins", false),
            ("jane", "unauthenticated", "get", "/logs/a", false),
        ] {
            let user = User::new(user, [group]);
            let attributes = match attributes.strip_prefix('/') {
                Some(_) => AuthorizationAttributes::path(&user, verb, attributes),
                None => {
                    let (namespace, resource) = attributes.split_once('/').unwrap();
                    let (resource, group) = resource.split_once('.').unwrap();
                    AuthorizationAttributes {
                        namespace,
                        ..AuthorizationAttributes::resource(&user, verb, group, resource)
                    }
                }
            };
            assert_eq!(abac.0.iter().any(|policy| policy.allows(&attributes)), expect, "{attributes:?}");
        }
        let error = Abac::parse("{\"apiVersion\": \"v9\"}").unwrap_err().to_string();
        assert_eq!(error, "line 1: unknown version \"v9\"");
        assert!(Abac::parse("nonsense").is_err());
    }
}
