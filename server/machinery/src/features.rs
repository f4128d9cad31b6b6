//! Feature gates: `--feature-gates=Name=true` (upstream: `component-base/featuregate`).

mod table;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// How settled a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Alpha,
    Beta,
    Ga,
    Deprecated,
}

/// A feature that can be turned on or off, or could be once.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    pub name: &'static str,
    pub stage: Stage,
    pub default: bool,
    /// Whether the default is the only value left.
    pub locked: bool,
}

impl Gate {
    const fn new(name: &'static str, stage: Stage, default: bool) -> Self {
        Gate { name, stage, default, locked: false }
    }

    const fn locked(name: &'static str, stage: Stage, default: bool) -> Self {
        Gate { name, stage, default, locked: true }
    }
}

/// Which features are on: every gate that is known, by its name.
#[derive(Clone, Debug)]
pub struct FeatureGates(HashMap<&'static str, bool>);

impl Default for FeatureGates {
    /// Those that are on unless somebody says otherwise.
    fn default() -> Self {
        FeatureGates(table::GATES.iter().map(|gate| (gate.name, gate.default)).collect())
    }
}

impl FeatureGates {
    /// All known gates.
    pub fn known() -> &'static [Gate] {
        table::GATES
    }

    /// Those that are on unless somebody says otherwise, made once.
    pub fn defaults() -> Arc<Self> {
        static DEFAULTS: LazyLock<Arc<FeatureGates>> = LazyLock::new(Arc::default);
        DEFAULTS.clone()
    }

    /// Whether a feature is on. A name that is no gate is off.
    pub fn enabled(&self, name: &str) -> bool {
        self.0.get(name).copied().unwrap_or(false)
    }

    /// Reads the values of the flag: `Name=bool`, or `component:Name=bool` as clusters of mixed components write it.
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut said = Said::default();
        for value in values.into_iter().map(str::trim).filter(|v| !v.is_empty()) {
            let value = value.strip_prefix("kube:").unwrap_or(value);
            let (name, value) =
                value.split_once('=').ok_or_else(|| format!("missing bool value for feature gate {value:?}"))?;
            said.set(name.trim(), value.trim())?;
        }
        said.set_whole_stage("AllAlpha", Stage::Alpha);
        said.set_whole_stage("AllBeta", Stage::Beta);
        let mut gates = FeatureGates::default();
        gates.0.extend(said.0);
        Ok(gates)
    }
}

/// What somebody says otherwise.
#[derive(Default)]
struct Said(HashMap<&'static str, bool>);

impl Said {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let on = parse_bool(value).ok_or_else(|| {
            format!("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")
        })?;
        let gate = find(name).ok_or_else(|| format!("unrecognized feature gate: {name}"))?;
        if gate.locked && on != gate.default {
            return Err(format!("cannot set feature gate {name} to {on}, feature is locked to {}", gate.default));
        }
        self.0.insert(gate.name, on);
        Ok(())
    }

    /// `AllAlpha` and `AllBeta` set every gate of their stage that is not set by its own name.
    fn set_whole_stage(&mut self, name: &str, stage: Stage) {
        let Some(&on) = self.0.get(name) else { return };
        for gate in table::GATES.iter().filter(|gate| gate.stage == stage && !gate.locked) {
            self.0.entry(gate.name).or_insert(on);
        }
    }
}

fn find(name: &str) -> Option<&'static Gate> {
    table::GATES.binary_search_by(|gate| gate.name.cmp(name)).ok().map(|i| &table::GATES[i])
}

/// Go's `strconv.ParseBool`.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &str) -> Result<FeatureGates, String> {
        FeatureGates::parse(values.split(','))
    }

    #[test]
    fn the_table_can_be_searched() {
        assert!(table::GATES.is_sorted_by_key(|gate| gate.name));
        assert_eq!(table::GATES.len(), 242);
    }

    #[test]
    fn defaults_hold_until_set() {
        let gates = check("ConstrainedImpersonation=false,kube:CBORServingAndStorage=true").unwrap();
        assert!(!gates.enabled("ConstrainedImpersonation") && gates.enabled("CBORServingAndStorage"));
        assert!(
            gates.enabled("APIServerIdentity") && !gates.enabled("APIServingWithRoutine") && !gates.enabled("NoSuch")
        );
    }

    #[test]
    fn whole_stages() {
        let gates = check("AllAlpha=true,AllBeta=false,CBORServingAndStorage=false,AtomicFIFO=true").unwrap();
        assert!(gates.enabled("APIServingWithRoutine") && !gates.enabled("CBORServingAndStorage"));
        assert!(gates.enabled("AtomicFIFO") && !gates.enabled("APIServerIdentity"));
    }

    #[test]
    fn mistakes() {
        for (values, expect) in [
            ("NoSuch=true", "unrecognized feature gate: NoSuch"),
            ("AtomicFIFO", "missing bool value for feature gate \"AtomicFIFO\""),
            (
                "AtomicFIFO=maybe",
                "invalid value of AtomicFIFO=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            ("BtreeWatchCache=false", "cannot set feature gate BtreeWatchCache to false, feature is locked to true"),
        ] {
            assert_eq!(check(values).unwrap_err(), expect);
        }
        assert!(check("BtreeWatchCache=true").is_ok());
    }
}
