//! The attributes of a request for authorizers (upstream: `authorizer.Attributes`).

use std::borrow::Cow;

use machinery::scalar::go_text::quote;
use machinery::selector::{FieldRequirement, FieldSelector, LabelRequirement, LabelSelector};
use machinery::status::{GroupResource, Status};
use request::{RequestInfo, User};

/// The user of a request and what the request does.
#[derive(Clone, Debug)]
pub struct AuthorizationAttributes<'a> {
    pub user: &'a User,
    pub verb: Cow<'a, str>,
    /// Whether the request is for a resource; if not, only `verb` and `path` apply.
    pub is_resource_request: bool,
    pub namespace: &'a str,
    pub group: &'a str,
    pub version: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub name: &'a str,
    pub path: &'a str,
    pub selectors: Selectors,
}

/// The selectors of a request for a collection.
///
/// All terms have to match, so omitting a term only widens the request. An unparsable selector is omitted: it neither
/// allows a request that would be forbidden nor forbids one that would be allowed.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    pub fields: Vec<FieldRequirement>,
    pub labels: Vec<LabelRequirement>,
    /// Whether the field selector is unparsable.
    pub field_error: bool,
    /// Whether the label selector is unparsable.
    pub label_error: bool,
}

impl Selectors {
    /// Parses the selectors of a request; empty selectors select everything.
    pub fn parse(fields: &str, labels: &str) -> Self {
        let mut selectors = Selectors::default();
        selectors.parse_fields(fields);
        selectors.parse_labels(labels);
        selectors
    }

    /// Returns the selectors of a request. As upstream, a request with the verb in its path has none.
    fn of_request(info: &RequestInfo) -> Self {
        let (fields, labels) = match info.verb_in_path {
            true => return Selectors::default(),
            false => (info.selectors.fields(), info.selectors.labels()),
        };
        Selectors {
            field_error: fields.is_err(),
            label_error: labels.is_err(),
            fields: fields.map_or_else(|_| Vec::new(), |selector| selector.requirements().to_vec()),
            labels: labels.map_or_else(|_| Vec::new(), |selector| selector.requirements().to_vec()),
        }
    }

    /// Parses a field selector.
    pub fn parse_fields(&mut self, text: &str) {
        if !text.is_empty() {
            let parsed = FieldSelector::parse(text);
            self.field_error = parsed.is_err();
            self.fields = parsed.map_or_else(|_| Vec::new(), |selector| selector.requirements().to_vec());
        }
    }

    /// Parses a label selector.
    pub fn parse_labels(&mut self, text: &str) {
        if !text.is_empty() {
            let parsed = LabelSelector::parse(text);
            self.label_error = parsed.is_err();
            self.labels = parsed.map_or_else(|_| Vec::new(), |selector| selector.requirements().to_vec());
        }
    }
}

impl<'a> AuthorizationAttributes<'a> {
    /// Attributes of a non-resource request.
    pub fn path(user: &'a User, verb: impl Into<Cow<'a, str>>, path: &'a str) -> Self {
        AuthorizationAttributes { is_resource_request: false, path, ..Self::resource(user, verb, "", "") }
    }

    /// Attributes of a request for all objects of a resource; the caller sets further fields.
    pub fn resource(user: &'a User, verb: impl Into<Cow<'a, str>>, group: &'a str, resource: &'a str) -> Self {
        AuthorizationAttributes {
            user,
            verb: verb.into(),
            is_resource_request: true,
            namespace: "",
            group,
            version: "",
            resource,
            subresource: "",
            name: "",
            path: "",
            selectors: Selectors::default(),
        }
    }

    /// Attributes of an HTTP request (`filters.GetAuthorizerAttributes`).
    pub fn of_request(user: &'a User, info: &'a RequestInfo) -> Self {
        AuthorizationAttributes {
            user,
            verb: Cow::Borrowed(&info.verb),
            is_resource_request: info.is_resource_request,
            namespace: &info.namespace,
            group: &info.api_group,
            version: &info.api_version,
            resource: &info.resource,
            subresource: &info.subresource,
            name: &info.name,
            path: &info.path,
            selectors: Selectors::of_request(info),
        }
    }

    /// Returns `resource/subresource`, as in the rules of roles.
    pub fn combined_resource(&self) -> Cow<'a, str> {
        match self.subresource {
            "" => Cow::Borrowed(self.resource),
            subresource => Cow::Owned(format!("{}/{subresource}", self.resource)),
        }
    }

    /// Returns the 403 Status for a denied request (`responsewriters.Forbidden`).
    pub fn forbidden(&self, reason: &str) -> Status {
        let mut why = format!("User {} cannot {} ", quote(&self.user.name), self.verb);
        if self.is_resource_request {
            why += &format!("resource {} in API group {} ", quote(&self.combined_resource()), quote(self.group));
            match self.namespace {
                "" => why += "at the cluster scope",
                namespace => why += &format!("in the namespace {}", quote(namespace)),
            }
        } else {
            why += &format!("path {}", quote(self.path));
        }
        if !reason.is_empty() {
            why = format!("{why}: {reason}");
        }
        match self.is_resource_request {
            true => Status::forbidden(GroupResource { group: self.group, resource: self.resource }, self.name, why),
            false => Status::forbidden(GroupResource { group: "", resource: "" }, "", why),
        }
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;

    use super::*;

    /// How upstream's `RequestInfoFactory` parses generated requests and the corpus of a fuzz target;
    /// written by `tests/oracle/requests/main.go`.
    const REQUESTS: &str = include_str!("../../../tests/oracle/requests/requests.tsv");

    fn message(method: &str, uri: &str, reason: &str) -> String {
        let info = RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap()).unwrap();
        let user = User::new("alice", ["dev"]);
        AuthorizationAttributes::of_request(&user, &info).forbidden(reason).message
    }

    #[test]
    fn forbidden_status_describes_request() {
        for (method, uri, expect) in [
            (
                "GET",
                "/api/v1/namespaces/ns/pods",
                r#"pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "ns""#,
            ),
            (
                "GET",
                "/api/v1/namespaces/ns/pods/p/log",
                r#"pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "ns""#,
            ),
            (
                "GET",
                "/apis/storage.k8s.io/v1/storageclasses/x",
                r#"storageclasses.storage.k8s.io "x" is forbidden: User "alice" cannot get resource "storageclasses" in API group "storage.k8s.io" at the cluster scope"#,
            ),
            (
                "OPTIONS",
                "/api/v1/pods",
                r#"pods is forbidden: User "alice" cannot  resource "pods" in API group "" at the cluster scope"#,
            ),
            ("POST", "/version", r#"forbidden: User "alice" cannot post path "/version""#),
        ] {
            assert_eq!(message(method, uri, ""), expect);
        }
        assert!(message("GET", "/x", "Everything is forbidden.").ends_with(r#"path "/x": Everything is forbidden."#));
    }

    #[test]
    fn parses_selectors_as_upstream() {
        let user = User::anonymous();
        let decoded = |column: &str| percent_decode_str(&column.replace('+', " ")).decode_utf8_lossy().into_owned();
        for line in REQUESTS.lines() {
            let columns: Vec<String> = line.split('\t').map(decoded).collect();
            let (method, target) = line.split_once('\t').unwrap();
            let target = target.split('\t').next().unwrap();
            let info = RequestInfo::new(&method.parse().unwrap(), &target.parse().unwrap());
            if let (Ok(info), [_, _, .., fields, labels, _]) = (info, columns.as_slice()) {
                let (seen, wanted) =
                    (AuthorizationAttributes::of_request(&user, &info).selectors, Selectors::parse(fields, labels));
                assert_eq!(format!("{seen:?}"), format!("{wanted:?}"), "{method} {target}");
            }
        }
    }
}
