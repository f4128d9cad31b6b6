//! Flags of `/metrics` (upstream: `component-base/metrics/api/v1`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use machinery::{json, yaml};
use regex::Regex;

use crate::error::{FlagError, ValueError};
use crate::values::FlagValues;
use crate::words::{LABEL, METRIC, VERSION_BEFORE};

/// Options of the metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricsOptions {
    /// Metrics that are not exposed.
    pub disabled: Vec<String>,
    /// The exposed values by metric and label; others are merged into one.
    pub allowed: BTreeMap<(String, String), BTreeSet<String>>,
}

impl FlagValues {
    pub(super) fn metrics(&self) -> Result<MetricsOptions, FlagError> {
        let shown = self.text("show-hidden-metrics-for-version");
        if !matches!(shown, "" | VERSION_BEFORE) {
            return Err(FlagError::HiddenMetrics { version: shown.to_owned() });
        }
        Ok(MetricsOptions {
            disabled: self.list("disabled-metrics").into_iter().map(String::from).collect(),
            allowed: self.allowed()?,
        })
    }

    fn allowed(&self) -> Result<BTreeMap<(String, String), BTreeSet<String>>, FlagError> {
        let (flag, manifest) = ("allow-metric-labels", "allow-metric-labels-manifest");
        let given = self.repeated(flag);
        let pairs = match self.path(manifest) {
            Some(_) if !given.is_empty() => return Err(FlagError::MetricLabels),
            Some(path) => read(&path).map_err(|why| self.invalid(manifest, why))?,
            None => {
                let pairs = given.iter().map(|text| pairs(text)).collect::<Result<Vec<_>, _>>();
                pairs.map_err(|why| self.invalid(flag, why))?.concat()
            }
        };
        let flag = if given.is_empty() { manifest } else { flag };
        let key = Regex::new(&format!("^({METRIC}),({LABEL})$")).map_err(|why| self.invalid(flag, why))?;
        let entry = |(name, values): (String, String)| {
            let values = values.split(',').map(str::to_owned).collect();
            match key.captures(&name) {
                Some(found) => Ok(((found[1].to_owned(), found[2].to_owned()), values)),
                None => Err(self.invalid(flag, ValueError::MetricLabelKey)),
            }
        };
        pairs.into_iter().map(entry).collect()
    }
}

/// Parses `key=value`, or a CSV line of quoted pairs (pflag: `StringToString`).
fn pairs(text: &str) -> Result<Vec<(String, String)>, ValueError> {
    let pair = |text: &str| match text.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.trim_matches('\'').to_owned())),
        None => Err(ValueError::MetricLabel { text: text.to_owned() }),
    };
    match text.matches('=').count() {
        0 | 1 => pair(text.trim_matches('"')).map(|pair| vec![pair]),
        _ => {
            let inside = text.trim().trim_start_matches('"').trim_end_matches('"');
            inside.split("\",\"").map(pair).collect()
        }
    }
}

/// Reads a map of strings.
fn read(path: &Path) -> Result<Vec<(String, String)>, ValueError> {
    let text = std::fs::read(path).map_err(ValueError::Manifest)?;
    let map = yaml::to_value(&text, &mut json::Issues::ignore()).map_err(ValueError::ManifestText)?;
    let map = map.as_object().ok_or(ValueError::ManifestForm)?;
    let entry = |(key, value): (&String, &serde_json::Value)| {
        let value = value.as_str().ok_or_else(|| ValueError::ManifestValue { key: key.clone() })?;
        Ok((key.clone(), value.to_owned()))
    };
    map.iter().map(entry).collect()
}
