//! What became of scenarios, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::run::Outcome;

/// Differences of a step that are shown.
const SHOWN: usize = 6;

/// A line for each area: steps, matches and the first difference.
pub fn areas(outcomes: &[Outcome]) -> String {
    let mut areas: BTreeMap<&str, (usize, usize, Option<String>)> = BTreeMap::new();
    for outcome in outcomes {
        let (steps, matching, first) = areas.entry(&outcome.area).or_default();
        for step in &outcome.steps {
            *steps += 1;
            match step.differences.first() {
                None => *matching += 1,
                Some(difference) => {
                    first.get_or_insert_with(|| format!("  {}/{}: {difference}", outcome.name, step.id));
                }
            }
        }
    }
    let mut out = String::new();
    for (area, (steps, matching, first)) in &areas {
        let _ = writeln!(out, "{area:<14} {}{}", share(*matching, *steps), first.as_deref().unwrap_or_default());
    }
    let sum = |part: fn(&(usize, usize, Option<String>)) -> usize| areas.values().map(part).sum();
    let _ = writeln!(out, "{:<14} {}", "all areas", share(sum(|area| area.1), sum(|area| area.0)));
    out
}

fn share(matching: usize, steps: usize) -> String {
    // A share of 100 % means all.
    let percent = 1000.0 * matching as f64 / steps.max(1) as f64;
    format!("{matching:5} of {steps:5}  {:5.1} %", percent.floor() / 10.0)
}

/// The steps that differ, each with its first differences.
pub fn differences(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        for step in outcome.steps.iter().filter(|step| !step.differences.is_empty()) {
            let _ = writeln!(out, "differs: {}/{}/{}", outcome.area, outcome.name, step.id);
            for difference in step.differences.iter().take(SHOWN) {
                let _ = writeln!(out, "      {difference}");
            }
            if let more @ 1.. = step.differences.len().saturating_sub(SHOWN) {
                let _ = writeln!(out, "      … {more} more");
            }
        }
    }
    out
}

/// All outcomes as JSON, with the answers that differ.
pub fn json(outcomes: &[Outcome]) -> Value {
    let outcome = |outcome: &Outcome| {
        let steps: Vec<Value> = outcome.steps.iter().map(step).collect();
        json!({"area": outcome.area, "name": outcome.name, "seconds": outcome.seconds, "steps": steps})
    };
    outcomes.iter().map(outcome).collect()
}

fn step(step: &crate::play::Played) -> Value {
    let ok = step.differences.is_empty();
    let mut out = json!({"id": step.id, "ok": ok, "diff": step.differences});
    if let Some(answer) = step.answer.as_ref().filter(|_| !ok) {
        out["got"] = answer.clone();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Played;

    fn outcome(area: &str, name: &str, differences: &[&[&str]]) -> Outcome {
        let step = |(at, differences): (usize, &&[&str])| Played {
            id: format!("s{at}"),
            differences: differences.iter().map(|difference| difference.to_string()).collect(),
            answer: Some(json!({"status": 200})),
            events: None,
        };
        let steps = differences.iter().enumerate().map(step).collect();
        Outcome { area: area.into(), name: name.into(), seconds: 1.0, steps }
    }

    #[test]
    fn areas_have_their_share_and_first_difference() {
        let outcomes = [outcome("a", "x", &[&[], &["one", "two"], &["three"]]), outcome("b", "y", &[&[]])];
        let want = "a                  1 of     3   33.3 %  x/s1: one\n\
                    b                  1 of     1  100.0 %\n\
                    all areas          2 of     4   50.0 %\n";
        assert_eq!(areas(&outcomes), want);
        assert!(share(9999, 10000).ends_with("99.9 %"), "not rounded up");
    }

    #[test]
    fn differences_are_listed_and_counted() {
        let many: Vec<&str> = vec!["d"; 8];
        let text = differences(&[outcome("a", "x", &[&[], &many])]);
        assert!(text.starts_with("differs: a/x/s1\n      d\n"), "{text}");
        assert!(text.ends_with("      d\n      … 2 more\n"), "{text}");
    }

    #[test]
    fn the_report_has_answers_that_differ() {
        let report = json(&[outcome("a", "x", &[&[], &["one"]])]);
        assert_eq!(report[0]["steps"][0], json!({"id": "s0", "ok": true, "diff": []}));
        assert_eq!(report[0]["steps"][1]["got"], json!({"status": 200}));
    }
}
