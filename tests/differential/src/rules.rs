//! Differences that are meant. Each has an id, under which `docs/differences.md` says why.

use serde_json::Value;

use crate::compare::Difference;
use crate::conversation::Step;

/// A difference that is meant.
pub struct Rule {
    /// A heading of `docs/differences.md`.
    pub id: &'static str,
    matches: fn(&Step, &Difference) -> bool,
}

/// All of them.
pub const RULES: &[Rule] = &[
    Rule { id: "column-descriptions", matches: column_descriptions },
    Rule { id: "profiles", matches: |step, found| is_body_of(step, found, "/debug/") },
    Rule { id: "metrics", matches: |step, found| is_body_of(step, found, "/metrics") },
    Rule { id: "openapi-documents", matches: |step, found| is_body_of(step, found, "/openapi/") },
    Rule {
        id: "order-of-component-statuses",
        matches: |step, found| is_body_of(step, found, "/api/v1/componentstatuses"),
    },
    Rule { id: "order-of-rules", matches: order_of_rules },
    Rule { id: "status-creates-service", matches: status_creates_service },
];

/// Whether only the body of an answer differs, at paths that begin so.
fn is_body_of(step: &Step, found: &Difference, path: &str) -> bool {
    found.place.starts_with("body") && step.path.starts_with(path)
}

/// Upstream collects rules in the order in which its cache gives bindings, which is random.
fn order_of_rules(step: &Step, found: &Difference) -> bool {
    step.path.contains("/selfsubjectrulesreviews") && found.place.contains("ourceRules[")
}

/// A write of the status of a service that is not there makes one at upstream, without an address.
fn status_creates_service(step: &Step, found: &Difference) -> bool {
    let is_other_status = found.place == "status" && found.here.as_ref().is_none_or(|status| status != 404);
    step.method == "PUT" && step.path.contains("/services/") && step.path.contains("/status") && !is_other_status
}

/// In JSON the comparison leaves them out itself; in YAML they are part of a text.
fn column_descriptions(_: &Step, found: &Difference) -> bool {
    let table =
        |side: &Option<Value>| side.as_ref().is_some_and(|text| text.to_string().contains("columnDefinitions:"));
    found.place == "body.$text" && table(&found.upstream) && table(&found.here)
}

/// How often each rule has matched.
#[derive(Default)]
pub struct Matches {
    counts: Vec<usize>,
}

impl Matches {
    /// Leaves out of what was found at a step what is meant.
    pub fn unexplained(&mut self, step: &Step, found: Vec<Difference>) -> Vec<Difference> {
        self.counts.resize(RULES.len(), 0);
        let mut meant = |difference: &Difference| {
            let rule = RULES.iter().position(|rule| (rule.matches)(step, difference));
            if let Some(at) = rule {
                self.counts[at] += 1;
            }
            rule.is_some()
        };
        found.into_iter().filter(|difference| !meant(difference)).collect()
    }

    /// Rules that have matched nothing.
    pub fn unused(&self) -> Vec<&'static str> {
        let count = |at: usize| self.counts.get(at).copied().unwrap_or(0);
        RULES.iter().enumerate().filter(|(at, _)| count(*at) == 0).map(|(_, rule)| rule.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_rule_is_documented_and_every_documented_rule_exists() {
        let document = include_str!("../../../docs/differences.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let rows: Vec<&str> = rows.filter(|id| RULES.iter().any(|rule| rule.id == *id)).collect();
        let missing: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| !rows.contains(id)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn what_is_meant_is_left_out_and_counted() {
        let mut matches = Matches::default();
        assert_eq!(matches.unused().len(), RULES.len());
        let table = Some(json!("kind: Table\ncolumnDefinitions:\n"));
        let found = |place: &str| Difference { place: place.into(), upstream: table.clone(), here: table.clone() };
        let all = vec![found("body.$text"), found("status")];
        assert_eq!(matches.unexplained(&Step::default(), all), [found("status")]);
        assert!(!matches.unused().contains(&"column-descriptions"));
    }
}
