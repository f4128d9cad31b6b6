//! The resource of a key, and the providers of a resource.

use std::collections::HashMap;
use std::sync::Arc;

use crate::transformer::Transformer;

/// A resource, as named in configurations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupResource {
    /// Empty for the core group; `*` for all.
    pub group: String,
    /// The plural; `*` for all of the group.
    pub resource: String,
}

impl GroupResource {
    /// Parses `secrets`, `pandas.example.com` or `*.apps` (`schema.ParseGroupResource`).
    pub fn parse(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        GroupResource { group: group.into(), resource: resource.into() }
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.group == "*" && self.resource == "*"
    }

    /// Returns whether a rule for this resource masks a later rule for `other`.
    pub(crate) fn masks(&self, other: &Self) -> bool {
        self.is_everything() || self.resource == "*" && self.group == other.group
    }

    /// Returns the form in configurations.
    pub(crate) fn text(&self) -> String {
        match (self.group.as_str(), self.resource.as_str()) {
            ("", "*") => "*.".into(),
            ("", resource) => resource.into(),
            (group, resource) => format!("{resource}.{group}"),
        }
    }
}

/// The transformers of resources, by the rules of a configuration.
pub(crate) struct ResourceTransformers {
    exact: HashMap<String, Arc<dyn Transformer>>,
    of_group: HashMap<String, Arc<dyn Transformer>>,
    of_all: Option<Arc<dyn Transformer>>,
}

impl ResourceTransformers {
    /// Creates rules from transformers by resource.
    pub fn new(rules: impl IntoIterator<Item = (GroupResource, Arc<dyn Transformer>)>) -> Self {
        let mut out = ResourceTransformers { exact: HashMap::new(), of_group: HashMap::new(), of_all: None };
        for (of, transformer) in rules {
            match of.resource.as_str() {
                "*" if of.group == "*" => out.of_all = Some(transformer),
                "*" => drop(out.of_group.insert(of.group, transformer)),
                _ => drop(out.exact.insert(of.text(), transformer)),
            }
        }
        out
    }

    /// Returns the transformer of a resource, named as in configurations; `None` when no rule matches.
    pub fn find(&self, resource: &str) -> Option<&Arc<dyn Transformer>> {
        let group = || resource.split_once('.').map_or("", |(_, group)| group);
        self.exact.get(resource).or_else(|| self.of_group.get(group())).or(self.of_all.as_ref())
    }
}

/// Maps the key prefixes of a server to resources.
pub struct KeySpace {
    prefix: String,
    /// Declared resources by key prefixes of one or two segments; also keys of two segments that are
    /// encrypted like a resource.
    known: HashMap<String, String>,
}

impl KeySpace {
    /// Creates the mapping. `prefix` is that of all keys, such as `/registry`. `resources` has the
    /// declared ones by the segments after it, such as `pods` or `services/specs`.
    pub fn new(prefix: &str, resources: impl IntoIterator<Item = (String, GroupResource)>) -> Self {
        let known = resources.into_iter().map(|(key, of)| (key, of.text()));
        KeySpace { prefix: format!("{prefix}/"), known: known.collect() }
    }

    /// Returns the resource of a key; a custom resource when its prefix is unknown. Keys of no object
    /// have none.
    pub(crate) fn resource(&self, key: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
        let rest = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
        let (first, after) = rest.split_once('/')?;
        if let Some(known) = self.known.get(first) {
            return Some(known.into());
        }
        let second = after.split_once('/').map_or(after, |(second, _)| second);
        let known = self.known.get(&rest[..first.len() + 1 + second.len()]);
        // Only the group of a custom resource contains a dot; no other prefix does.
        let custom = || first.contains('.').then(|| format!("{second}.{first}").into());
        known.map(Into::into).or_else(custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_belong_to_resources() {
        let declared = [
            ("secrets", "secrets"),
            ("services/specs", "services"),
            ("ranges/servicenodeports", "services"),
            ("deployments", "deployments.apps"),
            ("apiregistration.k8s.io/apiservices", "apiservices.apiregistration.k8s.io"),
        ];
        let declared = declared.map(|(key, of)| (key.to_owned(), GroupResource::parse(of)));
        let keys = KeySpace::new("/registry", declared);
        for (key, expect) in [
            ("/registry/secrets/default/a", Some("secrets")),
            ("/registry/services/specs/default/a", Some("services")),
            ("/registry/deployments/default/a", Some("deployments.apps")),
            ("/registry/apiregistration.k8s.io/apiservices/v1.", Some("apiservices.apiregistration.k8s.io")),
            ("/registry/example.com/pandas/default/a", Some("pandas.example.com")),
            ("/registry/ranges/servicenodeports", Some("services")),
            ("/registry/ranges/serviceips", None),
            ("/registry/masterleases/10.0.0.1", None),
            ("/elsewhere/secrets/default/a", None),
            ("compact_rev_key", None),
        ] {
            assert_eq!(keys.resource(key.as_bytes()).as_deref(), expect, "{key}");
        }
    }

    #[test]
    fn the_most_specific_rule_applies() {
        struct Named(&'static str);
        #[async_trait::async_trait]
        impl Transformer for Named {
            async fn read(
                &self,
                _: &[u8],
                _: crate::transformer::ValueContext<'_>,
            ) -> Result<crate::transformer::DecryptedValue, crate::failure::TransformFailure> {
                Err(crate::failure::TransformFailure::new(self.0))
            }

            fn write(
                &self,
                _: &[u8],
                _: crate::transformer::ValueContext<'_>,
            ) -> Result<Vec<u8>, crate::failure::TransformFailure> {
                Ok(self.0.into())
            }
        }
        let named = ["secrets", "*.", "*.apps", "pandas.example.com", "*.*"];
        let rules = named.map(|name| (GroupResource::parse(name), Arc::new(Named(name)) as Arc<dyn Transformer>));
        let rules = ResourceTransformers::new(rules);
        for (resource, expect) in [
            ("secrets", "secrets"),
            ("pods", "*."),
            ("deployments.apps", "*.apps"),
            ("pandas.example.com", "pandas.example.com"),
            ("bears.example.com", "*.*"),
        ] {
            let context = crate::transformer::ValueContext { key: b"", resource };
            let found = rules.find(resource).unwrap();
            assert_eq!(found.write(b"", context), Ok(expect.into()), "{resource}");
        }
    }
}
