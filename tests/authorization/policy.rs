//! Rights of users, decided independently of the server: RBAC rules, and the reads of a node.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

use crate::world::{NAMESPACES, Object, RESOURCES};

const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const SUBRESOURCES: [&str; 5] = ["status", "ephemeralcontainers", "log", "proxy", "token"];
/// The name in rules with `resourceNames`.
pub const ALLOWED: &str = "allowed";

/// Rights of one user in one namespace, or in all namespaces when `namespace` is empty.
#[derive(Debug)]
pub struct Grant {
    pub namespace: &'static str,
    pub rules: Vec<Rule>,
}

#[derive(Debug)]
pub struct Rule {
    pub groups: Vec<&'static str>,
    pub resources: Vec<String>,
    pub verbs: Vec<&'static str>,
    /// Empty: all names.
    pub names: Vec<&'static str>,
}

impl Grant {
    pub fn generate(random: &mut StdRng) -> Grant {
        let namespace = *["", NAMESPACES[0], NAMESPACES[0], NAMESPACES[1]].choose(random).unwrap();
        Grant { namespace, rules: (0..random.random_range(1..=3)).map(|_| Rule::generate(random)).collect() }
    }
}

/// Returns the rights that every run has: those of the attacks A2 and A5 of the review of
/// 2026-11-24.
pub fn fixed_grants() -> Vec<Vec<Grant>> {
    let rule = |resources: &[&str], verbs: &[&'static str], names: &[&'static str]| Rule {
        groups: vec![""],
        resources: resources.iter().map(|resource| (*resource).to_owned()).collect(),
        verbs: verbs.to_vec(),
        names: names.to_vec(),
    };
    let debug = rule(&["pods", "pods/ephemeralcontainers"], &["patch", "get"], &[]);
    let one = rule(&["secrets"], &["get", "list", "watch"], &[ALLOWED]);
    [debug, one].map(|rule| vec![Grant { namespace: NAMESPACES[0], rules: vec![rule] }]).into()
}

impl Rule {
    fn generate(random: &mut StdRng) -> Rule {
        let chosen: Vec<_> = RESOURCES.choose_multiple(random, 2).collect();
        let mut resources: Vec<String> = chosen.iter().map(|resource| resource.plural.to_owned()).collect();
        if random.random_bool(0.4) {
            let subresource = SUBRESOURCES.choose(random).unwrap();
            resources.push(format!("{}/{subresource}", chosen[0].plural));
        }
        if random.random_bool(0.05) {
            resources.push("*".into());
        }
        let mut groups: Vec<_> = chosen.iter().map(|resource| resource.group).collect();
        if random.random_bool(0.1) {
            groups.push("*");
        }
        let count = random.random_range(1..=4);
        let verbs = match random.random_bool(0.1) {
            true => vec!["*"],
            false => VERBS.choose_multiple(random, count).copied().collect(),
        };
        let names = if random.random_bool(0.6) { vec![ALLOWED] } else { Vec::new() };
        Rule { groups, resources, verbs, names }
    }

    pub fn to_json(&self) -> Value {
        let (groups, resources, verbs) = (&self.groups, &self.resources, &self.verbs);
        json!({"apiGroups": groups, "resources": resources, "verbs": verbs, "resourceNames": self.names})
    }

    fn covers(&self, verb: &str, object: &Object, subresource: Option<&str>) -> bool {
        let has = |list: &[&str], wanted: &str| list.iter().any(|item| *item == wanted || *item == "*");
        let resource = match subresource {
            None => object.resource.plural.to_owned(),
            Some(subresource) => format!("{}/{subresource}", object.resource.plural),
        };
        has(&self.verbs, verb)
            && has(&self.groups, object.resource.group)
            && self.resources.iter().any(|item| *item == resource || item == "*")
            && (self.names.is_empty() || self.names.contains(&object.name))
    }
}

/// Reports whether grants permit one of `verbs` on an object, or on one of its subresources.
pub fn permits(grants: &[Grant], verbs: &[&str], object: &Object, subresources: &[&str]) -> bool {
    let scoped = grants.iter().filter(|grant| grant.namespace.is_empty() || grant.namespace == object.scope());
    scoped.flat_map(|grant| &grant.rules).any(|rule| {
        let parts = std::iter::once(None).chain(subresources.iter().copied().map(Some));
        parts.into_iter().any(|part| verbs.iter().any(|verb| rule.covers(verb, object, part)))
    })
}

/// Reports whether a node may read an object: its own objects, those that its pods reference, and
/// those that every node may read.
pub fn node_may_read(node: &str, object: &Object) -> bool {
    match object.resource.plural {
        "services" => true,
        "nodes" => object.name == node,
        _ => object.node == node,
    }
}
