//! Whether the rules of one cover those of another: nobody may give away rights that are not theirs (upstream: `ConfirmNoEscalation`,
//! `component-helpers/auth/rbac/validation`).

use std::collections::{BTreeSet, HashMap};

use machinery::scalar::go_text::quote;

use super::PolicyRule;

/// Whether everything that `wanted` allows is allowed by the owner's rules.
pub fn covers(owner: &[PolicyRule], wanted: &[PolicyRule]) -> bool {
    missing(owner, wanted).is_empty()
}

/// What of `wanted` the owner's rules do not allow, in rules of one verb, group, resource and name each.
pub fn missing(owner: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = wanted.iter().flat_map(PolicyRule::parts);
    parts.filter(|part| !owner.iter().any(|rule| rule.covers_part(part))).collect()
}

/// The missing rules as a refusal lists them: those that differ in their verbs alone taken together, a line each, sorted.
pub fn describe_missing(missing: &[PolicyRule]) -> String {
    let mut lines = BTreeSet::new();
    let mut by_object: HashMap<PolicyRule, Vec<String>> = HashMap::new();
    for rule in missing {
        if rule.non_resource_urls.is_empty() {
            let object = PolicyRule { verbs: Vec::new(), ..rule.clone() };
            by_object.entry(object).or_default().extend_from_slice(&rule.verbs);
        } else {
            lines.insert(rule.compact());
        }
    }
    lines.extend(by_object.into_iter().map(|(object, verbs)| PolicyRule { verbs, ..object }.compact()));
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

impl PolicyRule {
    /// The rule as rules of one verb, group, resource and name each (`BreakdownRule`).
    fn parts(&self) -> Vec<PolicyRule> {
        let one = |text: &String| vec![text.clone()];
        let names: Vec<Vec<String>> = match self.resource_names.as_slice() {
            [] => vec![Vec::new()],
            names => names.iter().map(one).collect(),
        };
        let mut parts = Vec::new();
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    parts.extend(names.iter().map(|resource_names| PolicyRule {
                        verbs: one(verb),
                        api_groups: one(group),
                        resources: one(resource),
                        resource_names: resource_names.clone(),
                        non_resource_urls: Vec::new(),
                    }));
                }
            }
        }
        for url in &self.non_resource_urls {
            let of_verb = |verb| PolicyRule { verbs: one(verb), non_resource_urls: one(url), ..PolicyRule::default() };
            parts.extend(self.verbs.iter().map(of_verb));
        }
        parts
    }

    /// Whether this rule allows all that a part allows (`ruleCovers`).
    fn covers_part(&self, part: &PolicyRule) -> bool {
        let names = self.resource_names.is_empty()
            || (!part.resource_names.is_empty() && has_all(&self.resource_names, &part.resource_names));
        has_or_all(&self.verbs, &part.verbs)
            && has_or_all(&self.api_groups, &part.api_groups)
            && (self.resources.iter().any(|r| r == "*") || part.resources.iter().all(|r| self.covers_resource_name(r)))
            && part.non_resource_urls.iter().all(|url| self.non_resource_urls.iter().any(|own| covers_url(own, url)))
            && names
    }

    fn covers_resource_name(&self, resource: &str) -> bool {
        let of_any = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        self.resources.iter().any(|own| own == resource || Some(own) == of_any.as_ref())
    }

    /// The rule in one line (`CompactString`).
    fn compact(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let texts: Vec<String> = parts
            .into_iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(name, values)| format!("{name}:[{}]", values.iter().map(|v| quote(v)).collect::<Vec<_>>().join(" ")))
            .collect();
        format!("{{{}}}", texts.join(", "))
    }
}

fn has_all(own: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|w| own.contains(w))
}

fn has_or_all(own: &[String], wanted: &[String]) -> bool {
    own.iter().any(|o| o == "*") || has_all(own, wanted)
}

fn covers_url(own: &str, url: &str) -> bool {
    own == url || own.strip_suffix('*').is_some_and(|prefix| url.starts_with(prefix.trim_end_matches('*')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(owner: &[PolicyRule], wanted: PolicyRule, expect: &str) {
        assert_eq!(describe_missing(&missing(owner, &[wanted])), expect);
    }

    #[test]
    fn what_is_missing() {
        let rule = PolicyRule::resources;
        let own = [rule(&["get", "list"], &[""], &["configmaps"]), rule(&["*"], &["apps"], &["*/scale"])];
        check(&own, rule(&["get"], &[""], &["configmaps"]), "");
        check(&own, rule(&["get"], &[""], &["configmaps"]).named(&["a"]), "");
        check(&own, rule(&["patch"], &["apps"], &["deployments/scale"]), "");
        check(
            &own,
            rule(&["get"], &["apps"], &["deployments"]),
            r#"{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}"#,
        );
        check(
            &own,
            rule(&["get", "list", "watch"], &[""], &["secrets", "pods"]),
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\" \"watch\"]}\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\" \"watch\"]}",
        );
        check(
            &[rule(&["get"], &[""], &["pods"]).named(&["a"])],
            rule(&["get"], &[""], &["pods"]),
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#,
        );
        let urls = [PolicyRule::paths(&["get"], &["/apis/*"])];
        check(&urls, PolicyRule::paths(&["get"], &["/apis/apps", "/apis/*"]), "");
        check(&urls, PolicyRule::paths(&["put"], &["/apis"]), r#"{NonResourceURLs:["/apis"], Verbs:["put"]}"#);
    }
}
