use super::*;

#[track_caller]
fn check(owner: &[PolicyRule], wanted: PolicyRule, expect: &str) {
    assert_eq!(describe_missing(&missing(owner, &[wanted]).unwrap()), expect);
}

#[test]
fn lists_missing_rules() {
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
    check(
        &own,
        rule(&["get", "list"], &["*"], &["pods", "pods"]),
        r#"{APIGroups:["*"], Resources:["pods"], Verbs:["get" "list" "get" "list"]}"#,
    );
    let urls = [PolicyRule::paths(&["get"], &["/apis/*"])];
    check(&urls, PolicyRule::paths(&["get"], &["/apis/apps", "/apis/*"]), "");
    check(&urls, PolicyRule::paths(&["put"], &["/apis"]), r#"{NonResourceURLs:["/apis"], Verbs:["put"]}"#);
}

/// The parts of a rule, as by upstream's `BreakdownRule`.
fn parts(rule: &PolicyRule) -> Vec<PolicyRule> {
    let one = |text: &String| vec![text.clone()];
    let names: Vec<Vec<String>> = match rule.resource_names.as_slice() {
        [] => vec![Vec::new()],
        names => names.iter().map(one).collect(),
    };
    let mut parts = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                parts.extend(names.iter().map(|names| PolicyRule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    resource_names: names.clone(),
                    non_resource_urls: Vec::new(),
                }));
            }
        }
    }
    for url in &rule.non_resource_urls {
        let of_verb = |verb| PolicyRule { verbs: one(verb), non_resource_urls: one(url), ..PolicyRule::default() };
        parts.extend(rule.verbs.iter().map(of_verb));
    }
    parts
}

/// Whether a rule covers a part, as by upstream's `ruleCovers`.
fn covers(rule: &PolicyRule, part: &PolicyRule) -> bool {
    let has_all = |own: &[String], wanted: &[String]| wanted.iter().all(|value| own.contains(value));
    let has_or_all = |own: &[String], wanted: &[String]| own.contains(&"*".to_owned()) || has_all(own, wanted);
    let resource = |wanted: &String| {
        let of_any = wanted.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        rule.resources.iter().any(|own| own == "*" || own == wanted || Some(own) == of_any.as_ref())
    };
    let url = |wanted: &String| {
        let covers = |own: &String| own.strip_suffix('*').is_some_and(|prefix| wanted.starts_with(prefix));
        rule.non_resource_urls.iter().any(|own| own == wanted || covers(own))
    };
    has_or_all(&rule.verbs, &part.verbs)
        && has_or_all(&rule.api_groups, &part.api_groups)
        && part.resources.iter().all(resource)
        && part.non_resource_urls.iter().all(url)
        && (rule.resource_names.is_empty()
            || (!part.resource_names.is_empty() && has_all(&rule.resource_names, &part.resource_names)))
}

/// A deterministic pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn some(&mut self, of: &[&str], least: usize) -> Vec<String> {
        (0..least + self.below(3)).map(|_| of[self.below(of.len())].to_owned()).collect()
    }

    fn rule(&mut self) -> PolicyRule {
        let verbs = self.some(&["get", "list", "watch", "*"], 1);
        if self.below(4) == 0 {
            let non_resource_urls = self.some(&["/a", "/a/b", "/a/*", "/ab", "*", "/a*"], 1);
            return PolicyRule { verbs, non_resource_urls, ..PolicyRule::default() };
        }
        PolicyRule {
            verbs,
            api_groups: self.some(&["", "apps", "batch", "*"], 1),
            resources: self.some(&["pods", "pods/log", "*/log", "jobs/log", "jobs", "*"], 1),
            resource_names: if self.below(2) == 0 { Vec::new() } else { self.some(&["a", "b", "c"], 0) },
            non_resource_urls: Vec::new(),
        }
    }
}

#[test]
fn finds_same_parts_as_upstream_breakdown() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let owner: Vec<PolicyRule> = (0..numbers.below(6)).map(|_| numbers.rule()).collect();
        let wanted = numbers.rule();
        let lacking = |part: &PolicyRule| !owner.iter().any(|rule| covers(rule, part));
        let mut expected: Vec<PolicyRule> = Vec::new();
        for part in parts(&wanted).into_iter().filter(lacking) {
            // Missing non-resource URLs are listed once.
            if part.non_resource_urls.is_empty() || !expected.contains(&part) {
                expected.push(part);
            }
        }
        let found = missing(&owner, std::slice::from_ref(&wanted)).unwrap();
        assert_eq!(found, expected, "owner {owner:?} wanted {wanted:?}");
    }
}

#[test]
fn bounds_cost_of_many_values() {
    let many = |prefix: &str| -> Vec<String> { (0..5_000).map(|n| format!("{prefix}{n}")).collect() };
    let wanted = PolicyRule {
        verbs: many("v"),
        api_groups: many("g"),
        resources: many("r"),
        resource_names: many("n"),
        non_resource_urls: Vec::new(),
    };
    let own = PolicyRule { verbs: vec!["*".into()], ..wanted.clone() };
    assert_eq!(missing(std::slice::from_ref(&own), std::slice::from_ref(&wanted)), Ok(Vec::new()));
    let less = PolicyRule { verbs: many("v")[1..].to_vec(), ..own };
    let listed = missing(&[less], std::slice::from_ref(&wanted)).unwrap();
    assert!((1..10_000).contains(&listed.len()), "{}", listed.len());
    assert!((1..10_000).contains(&missing(&[], &[wanted]).unwrap().len()));
}
