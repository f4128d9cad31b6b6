//! Steps that are known to differ, with the reason for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::run::Outcome;

/// The list of known differences: `AREA/SCENARIO/STEP: REASON`, a line each; `#` begins a comment.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<String, String>);

impl Known {
    /// Reads a list.
    ///
    /// # Errors
    /// A file that cannot be read, or a line without a step or a reason.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(Error::file(path))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let entry = |line: &str| {
            let parts =
                line.split_once(": ").filter(|(step, why)| step.split('/').count() == 3 && !why.trim().is_empty());
            let (step, why) =
                parts.ok_or_else(|| Error::format(path, format!("no AREA/SCENARIO/STEP: REASON: {line}")))?;
            Ok((step.to_string(), why.trim().to_string()))
        };
        Ok(Known(lines.map(entry).collect::<Result<_>>()?))
    }

    /// Whether a scenario differs in a step that is not listed.
    pub fn is_surprise(&self, outcome: &Outcome) -> bool {
        let unlisted = |id: &str| !self.0.contains_key(&place(outcome, id));
        outcome.steps.iter().any(|step| !step.differences.is_empty() && unlisted(&step.id))
    }

    /// What is wrong with outcomes: steps that differ and are not listed, and listed ones that match or do not exist.
    pub fn complaints(&self, outcomes: &[Outcome]) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut left = self.0.clone();
        for outcome in outcomes {
            for step in &outcome.steps {
                let place = place(outcome, &step.id);
                match (left.remove(&place), step.differences.first()) {
                    (None, Some(difference)) => complaints.push(format!("{place}: {difference}")),
                    (Some(_), None) => {
                        complaints.push(format!("{place}: matches, but is listed as a known difference"))
                    }
                    _ => {}
                }
            }
        }
        complaints.extend(
            left.keys().map(|place| format!("{place}: is listed as a known difference, but there is no such step")),
        );
        complaints
    }
}

fn place(outcome: &Outcome, id: &str) -> String {
    format!("{}/{}/{id}", outcome.area, outcome.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::Played;

    fn outcome(steps: &[(&str, bool)]) -> Outcome {
        let step = |(id, matches): &(&str, bool)| Played {
            id: id.to_string(),
            differences: if *matches { Vec::new() } else { vec!["status".into()] },
            answer: None,
            events: None,
        };
        Outcome { area: "a".into(), name: "s".into(), seconds: 0.0, steps: steps.iter().map(step).collect() }
    }

    fn known(text: &str) -> Result<Known> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        Known::read(file.path())
    }

    #[test]
    fn differences_have_to_be_listed_and_listed_ones_have_to_differ() {
        let known = known("# a comment\n\na/s/one: because\na/s/two: because\na/s/gone: because\n").unwrap();
        let outcome = outcome(&[("one", false), ("two", true), ("three", false), ("four", true)]);
        let complaints = known.complaints(std::slice::from_ref(&outcome));
        let want = [
            "a/s/two: matches, but is listed as a known difference",
            "a/s/three: status",
            "a/s/gone: is listed as a known difference, but there is no such step",
        ];
        assert_eq!(complaints, want);
        assert!(known.is_surprise(&outcome));
    }

    #[test]
    fn a_listed_difference_is_no_surprise() {
        let known = known("a/s/one: because\n").unwrap();
        let outcome = outcome(&[("one", false), ("two", true)]);
        assert!(!known.is_surprise(&outcome));
        assert_eq!(known.complaints(&[outcome]), [""; 0]);
    }

    #[test]
    fn every_line_has_a_reason() {
        for wrong in ["a/s/one", "a/s/one: ", "a/s: because"] {
            assert!(known(wrong).is_err(), "{wrong}");
        }
    }
}
