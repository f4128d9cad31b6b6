//! Finds the schema of a request (upstream: `matchesFlowSchema` and its callees).
//!
//! Rules are indexed by subject, so that only rules for the user are tried. A request costs a few
//! look-ups, independent of the number of schemas, and no allocation.

use std::collections::HashMap;

use crate::config::{FlowSchema, NameMatcher, PathRule, ResourceRule, Subject};
use crate::digest::Digest;

/// The prefix of the user names of service accounts; namespace and name follow, separated by a
/// colon.
const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
const ALL: &str = "*";

/// The rules of all schemas, in order of precedence.
#[derive(Default)]
pub struct Matcher {
    rules: Vec<Rule>,
    /// Rules by the names of their subjects, in order.
    users: HashMap<Box<str>, Vec<usize>>,
    groups: HashMap<Box<str>, Vec<usize>>,
    /// Rules by the namespace of service accounts.
    namespaces: HashMap<Box<str>, Vec<usize>>,
    all_subjects: Vec<usize>,
}

/// The request attributes of a rule, and the index of its schema.
struct Rule {
    schema: usize,
    resources: Vec<Resources>,
    paths: Vec<Paths>,
}

struct Resources {
    verbs: NameMatcher,
    groups: NameMatcher,
    resources: NameMatcher,
    cluster_scope: bool,
    namespaces: NameMatcher,
}

struct Paths {
    verbs: NameMatcher,
    /// Each path and the prefix of everything below it; `None` matches every path.
    paths: Option<Vec<(String, String)>>,
}

impl Matcher {
    /// Creates the matcher from schemas in order of precedence.
    pub fn new(schemas: &[FlowSchema]) -> Self {
        let mut matcher = Matcher::default();
        for (schema, rule) in schemas.iter().enumerate().flat_map(|(i, s)| s.rules.iter().map(move |rule| (i, rule))) {
            let index = matcher.rules.len();
            rule.subjects.iter().for_each(|subject| matcher.add(subject, index));
            matcher.rules.push(Rule {
                schema,
                resources: rule.resources.iter().cloned().map(Resources::from).collect(),
                paths: rule.paths.iter().cloned().map(Paths::from).collect(),
            });
        }
        matcher
    }

    fn add(&mut self, subject: &Subject, rule: usize) {
        let rules = match subject {
            Subject::User(name) | Subject::Group(name) if name == ALL => &mut self.all_subjects,
            Subject::User(name) => self.users.entry(name.as_str().into()).or_default(),
            Subject::Group(name) => self.groups.entry(name.as_str().into()).or_default(),
            Subject::ServiceAccount { namespace, name } if name == ALL => {
                self.namespaces.entry(namespace.as_str().into()).or_default()
            }
            Subject::ServiceAccount { namespace, name } => {
                self.users.entry(format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}").into()).or_default()
            }
        };
        if rules.last() != Some(&rule) {
            rules.push(rule);
        }
    }

    /// The index of the first schema that matches.
    pub fn find(&self, digest: &Digest<'_>) -> Option<usize> {
        let mut best = self.rules.len();
        let mut consider = |rules: Option<&Vec<usize>>| {
            let mut better = rules.into_iter().flatten().take_while(|rule| **rule < best);
            if let Some(found) = better.find(|rule| self.rules[**rule].matches(digest)) {
                best = *found;
            }
        };
        consider(self.users.get(digest.user));
        if let Some((namespace, _)) =
            digest.user.strip_prefix(SERVICE_ACCOUNT_PREFIX).and_then(|account| account.split_once(':'))
        {
            consider(self.namespaces.get(namespace));
        }
        digest.groups.iter().for_each(|group| consider(self.groups.get(group.as_str())));
        consider(Some(&self.all_subjects));
        self.rules.get(best).map(|rule| rule.schema)
    }
}

impl Rule {
    fn matches(&self, digest: &Digest<'_>) -> bool {
        match digest.is_resource_request {
            true => self.resources.iter().any(|rule| rule.matches(digest)),
            false => self.paths.iter().any(|rule| rule.matches(digest)),
        }
    }
}

impl From<ResourceRule> for Resources {
    fn from(rule: ResourceRule) -> Self {
        Resources {
            verbs: NameMatcher::of(rule.verbs),
            groups: NameMatcher::of(rule.groups),
            resources: NameMatcher::of(rule.resources),
            cluster_scope: rule.cluster_scope,
            namespaces: NameMatcher::of(rule.namespaces),
        }
    }
}

impl Resources {
    fn matches(&self, digest: &Digest<'_>) -> bool {
        let of_resource = |name: &str| match digest.subresource {
            "" => name == digest.resource,
            subresource => name.split_once('/') == Some((digest.resource, subresource)),
        };
        self.verbs.has(digest.verb)
            && self.resources.any(of_resource)
            && self.groups.has(digest.group)
            && match digest.namespace {
                "" => self.cluster_scope,
                namespace => self.namespaces.has(namespace),
            }
    }
}

impl From<PathRule> for Paths {
    fn from(rule: PathRule) -> Self {
        let with_prefix = |path: String| {
            let prefix = path.strip_suffix('*').unwrap_or(&path);
            let prefix = format!("{prefix}{}", if prefix.ends_with('/') { "" } else { "/" });
            (path, prefix)
        };
        let everything = rule.paths.iter().any(|path| path == ALL);
        Paths {
            verbs: NameMatcher::of(rule.verbs),
            paths: (!everything).then(|| rule.paths.into_iter().map(with_prefix).collect()),
        }
    }
}

impl Paths {
    fn matches(&self, digest: &Digest<'_>) -> bool {
        let below = |(path, prefix): &(String, String)| digest.path == path || digest.path.starts_with(prefix.as_str());
        self.verbs.has(digest.verb) && self.paths.as_ref().is_none_or(|paths| paths.iter().any(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PolicyRulesWithSubjects, mandatory_schemas};

    fn owned(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    fn schema(name: &str, subject: Subject, resources: Option<ResourceRule>, paths: Option<PathRule>) -> FlowSchema {
        let rules = vec![PolicyRulesWithSubjects {
            subjects: vec![subject],
            resources: resources.into_iter().collect(),
            paths: paths.into_iter().collect(),
        }];
        FlowSchema {
            name: name.into(),
            uid: String::new(),
            precedence: 500,
            level: name.into(),
            distinguisher: None,
            rules,
        }
    }

    fn resources(verbs: &str, resources: &str, cluster_scope: bool, namespaces: &str) -> Option<ResourceRule> {
        Some(ResourceRule {
            verbs: owned(verbs),
            groups: owned("* "),
            resources: owned(resources),
            cluster_scope,
            namespaces: owned(namespaces),
        })
    }

    fn schemas() -> Vec<FlowSchema> {
        let [exempt, catch_all] = mandatory_schemas();
        let account =
            |namespace: &str, name: &str| Subject::ServiceAccount { namespace: namespace.into(), name: name.into() };
        let health = PathRule { verbs: owned("get"), paths: owned("/healthz /metrics/*") };
        vec![
            exempt,
            schema("probes", Subject::Group("*".into()), None, Some(health)),
            schema(
                "leases",
                Subject::User("scheduler".into()),
                resources("get update", "leases", false, "kube-system"),
                None,
            ),
            schema("status", Subject::User("scheduler".into()), resources("*", "pods/status", false, "*"), None),
            schema("one", account("ns", "robot"), resources("*", "*", true, ""), None),
            schema("all", account("ns", "*"), resources("*", "*", true, "*"), None),
            catch_all,
        ]
    }

    #[track_caller]
    fn check(user: &str, groups: &str, request: &str, expect: &str) {
        let schemas = schemas();
        let groups = owned(groups);
        let words: Vec<&str> = request.split_whitespace().collect();
        let digest = match words.as_slice() {
            [verb, path] => Digest { verb, path, ..Digest::default() },
            [verb, namespace, resource] => {
                let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                let namespace = if *namespace == "-" { "" } else { namespace };
                Digest { verb, namespace, resource, subresource, is_resource_request: true, ..Digest::default() }
            }
            _ => panic!("{request}"),
        };
        let found = Matcher::new(&schemas).find(&Digest { user, groups: &groups, ..digest });
        assert_eq!(found.map_or("none", |i| schemas[i].name.as_str()), expect, "{user} {request}");
    }

    #[test]
    fn finds_first_matching_schema() {
        check("admin", "system:masters system:authenticated", "list - pods", "exempt");
        check("alice", "system:authenticated", "get /healthz", "probes");
        check("alice", "system:authenticated", "get /healthz/etcd", "probes");
        check("alice", "system:authenticated", "get /healthzz", "catch-all");
        check("alice", "system:authenticated", "get /metrics/slis", "probes");
        check("alice", "system:authenticated", "post /healthz", "catch-all");
        check("scheduler", "system:authenticated", "update kube-system leases", "leases");
        check("scheduler", "system:authenticated", "list kube-system leases", "catch-all");
        check("scheduler", "system:authenticated", "update default leases", "catch-all");
        check("scheduler", "system:authenticated", "patch default pods/status", "status");
        check("scheduler", "system:authenticated", "patch default pods", "catch-all");
        check("scheduler", "system:authenticated", "patch - pods/status", "catch-all");
        check("system:serviceaccount:ns:robot", "system:authenticated", "get - nodes", "one");
        check("system:serviceaccount:ns:robot", "system:authenticated", "get ns pods", "all");
        check("system:serviceaccount:ns:other", "system:authenticated", "get - nodes", "all");
        check("system:serviceaccount:nsx:other", "system:authenticated", "get - nodes", "catch-all");
        check("unknown", "", "get - nodes", "none");
    }
}
