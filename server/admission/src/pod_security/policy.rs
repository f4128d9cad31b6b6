//! Levels, their versions, the labels that select them, and their checks.

use std::collections::BTreeMap;
use std::fmt;

use super::check::PodSecurityCheck;
use super::checked_pod::CheckedPod;
use super::finding::Finding;
use super::{baseline, restricted};

/// A level of the pod security standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodSecurityLevel {
    Privileged,
    Baseline,
    Restricted,
}

impl PodSecurityLevel {
    /// The label value of the level.
    pub fn name(self) -> &'static str {
        match self {
            PodSecurityLevel::Privileged => "privileged",
            PodSecurityLevel::Baseline => "baseline",
            PodSecurityLevel::Restricted => "restricted",
        }
    }
}

/// The minor release of this server.
pub const NEWEST: u32 = 36;

/// The minor release that defines the checks; `None` is the latest.
pub type PodSecurityVersion = Option<u32>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelVersion {
    pub level: PodSecurityLevel,
    pub version: PodSecurityVersion,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.name();
        match self.version {
            Some(minor) => write!(f, "{level}:v1.{minor}"),
            None => write!(f, "{level}:latest"),
        }
    }
}

/// The levels of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceLevels {
    pub enforce: LevelVersion,
    pub audit: LevelVersion,
    pub warn: LevelVersion,
}

/// A label with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLabel {
    pub label: &'static str,
    pub value: String,
    pub why: &'static str,
}

pub const MODES: [(&str, &str); 3] = [
    ("pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version"),
    ("pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version"),
    ("pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version"),
];

impl NamespaceLevels {
    /// Returns the policy that labels select, and the invalid labels (`PolicyToEvaluate`).
    ///
    /// An invalid enforced level is evaluated as `restricted`.
    pub fn of_labels(
        labels: &BTreeMap<String, String>,
        defaults: &NamespaceLevels,
    ) -> (NamespaceLevels, Vec<InvalidLabel>) {
        let mut invalid_labels = Vec::new();
        let mut mode = |(level, version), default| mode(labels, level, version, default, &mut invalid_labels);
        let (enforce, audit) = (mode(MODES[0], defaults.enforce), mode(MODES[1], defaults.audit));
        let mut warn = mode(MODES[2], defaults.warn);
        let (level, version) = MODES[2];
        let sets_enforce = labels.get(MODES[0].0).is_some_and(|text| parse_level(text).is_some());
        if !labels.contains_key(level) && sets_enforce && enforce.level > warn.level {
            warn.level = enforce.level;
            if !labels.contains_key(version) {
                warn.version = enforce.version;
            }
        }
        (NamespaceLevels { enforce, audit, warn }, invalid_labels)
    }
}

fn mode(
    labels: &BTreeMap<String, String>,
    level: &'static str,
    version: &'static str,
    default: LevelVersion,
    invalid_labels: &mut Vec<InvalidLabel>,
) -> LevelVersion {
    let mut out = default;
    if let Some(value) = labels.get(level) {
        out.level = parse_level(value).unwrap_or_else(|| {
            invalid_labels.push(InvalidLabel {
                label: level,
                value: value.clone(),
                why: "must be one of privileged, baseline, restricted",
            });
            if level == MODES[0].0 { PodSecurityLevel::Restricted } else { PodSecurityLevel::Privileged }
        });
    }
    if let Some(value) = labels.get(version) {
        out.version = parse_version(value).unwrap_or_else(|| {
            invalid_labels.push(InvalidLabel {
                label: version,
                value: value.clone(),
                why: "must be \"latest\" or \"v1.x\"",
            });
            None
        });
    }
    out
}

pub fn parse_level(text: &str) -> Option<PodSecurityLevel> {
    match text {
        "privileged" => Some(PodSecurityLevel::Privileged),
        "baseline" => Some(PodSecurityLevel::Baseline),
        "restricted" => Some(PodSecurityLevel::Restricted),
        _ => None,
    }
}

pub fn parse_version(text: &str) -> Option<PodSecurityVersion> {
    if text == "latest" {
        return Some(None);
    }
    let digits = text.strip_prefix("v1.")?;
    let canonical = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
    canonical.then(|| digits.parse().ok()).flatten().map(Some)
}

/// Returns all violations, those of the baseline first.
pub fn evaluate(level: LevelVersion, subject: &CheckedPod<'_>) -> Vec<Finding> {
    let minor = level.version.unwrap_or(u32::MAX);
    let run = |check: &PodSecurityCheck| check.form(minor).and_then(|run| run(subject));
    match level.level {
        PodSecurityLevel::Privileged => Vec::new(),
        PodSecurityLevel::Baseline => baseline::CHECKS.iter().filter_map(run).collect(),
        PodSecurityLevel::Restricted => {
            let stricter = |id: &str| restricted::CHECKS.iter().any(|c| c.replaces == id && c.form(minor).is_some());
            let kept = baseline::CHECKS.iter().filter(|check| !stricter(check.id));
            kept.chain(restricted::CHECKS).filter_map(run).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVILEGED: LevelVersion = LevelVersion { level: PodSecurityLevel::Privileged, version: None };

    #[test]
    fn parses_levels_of_labels() {
        let of = |labels: &[(&str, &str)]| {
            let labels =
                labels.iter().map(|(k, v)| (format!("pod-security.kubernetes.io/{k}"), (*v).to_owned())).collect();
            let (policy, invalid_labels) = NamespaceLevels::of_labels(
                &labels,
                &NamespaceLevels { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED },
            );
            format!("{} {} {} {}", policy.enforce, policy.audit, policy.warn, invalid_labels.len())
        };
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[], "privileged:latest privileged:latest privileged:latest 0"),
            (
                &[("enforce", "baseline"), ("enforce-version", "v1.22")],
                "baseline:v1.22 privileged:latest baseline:v1.22 0",
            ),
            (
                &[("enforce", "restricted"), ("warn", "baseline")],
                "restricted:latest privileged:latest baseline:latest 0",
            ),
            (
                &[("enforce", "x"), ("audit-version", "v1.01")],
                "restricted:latest privileged:latest privileged:latest 2",
            ),
        ];
        for (labels, expect) in table {
            assert_eq!(of(labels), *expect, "{labels:?}");
        }
    }
}
