//! Feature gates: `--feature-gates=Name=true` (upstream: `component-base/featuregate`).
//!
//! A server knows the gates of Kubernetes and those that its groups declare. The names of
//! Kubernetes' gates are constants here, such as [`HPAScaleToZero`]. `machinery` re-exports this crate.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod error;
mod name_set;
mod table;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;

pub use error::Error;
pub use name_set::{NameId, NameSet};
pub use table::names::*;

/// Alpha features of Kubernetes that this server does not implement. Their gates are known, but
/// cannot be enabled.
const UNIMPLEMENTED: [&str; 2] = [ShardedListAndWatch, StorageVersionAPI];

/// The maturity of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureStage {
    /// Off by default; may change or be removed in any release.
    Alpha,
    /// Tested; on by default unless its gate specifies otherwise.
    Beta,
    /// Generally available; its gate is usually locked.
    Ga,
    /// To be removed.
    Deprecated,
}

impl FeatureStage {
    /// The name in metrics and flag help; empty for GA.
    pub fn name(self) -> &'static str {
        match self {
            FeatureStage::Alpha => "ALPHA",
            FeatureStage::Beta => "BETA",
            FeatureStage::Ga => "",
            FeatureStage::Deprecated => "DEPRECATED",
        }
    }
}

/// A feature gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The name in the flag, such as `WatchList`.
    pub name: &'static str,
    /// The maturity of the feature.
    pub stage: FeatureStage,
    /// Whether the feature is enabled unless the flag sets it.
    pub default: bool,
    /// Whether the default cannot be changed.
    pub locked: bool,
}

impl Gate {
    /// Creates a gate that can be set.
    pub const fn new(name: &'static str, stage: FeatureStage, default: bool) -> Self {
        Gate { name, stage, default, locked: false }
    }

    /// Whether this server implements the feature.
    fn is_implemented(&self) -> bool {
        !UNIMPLEMENTED.contains(&self.name)
    }

    /// Creates a gate with a fixed default.
    pub const fn locked(name: &'static str, stage: FeatureStage, default: bool) -> Self {
        Gate { name, stage, default, locked: true }
    }
}

/// The known gates, sorted by name. Clones share them.
#[derive(Clone, Debug)]
pub struct KnownGates(Arc<[Gate]>);

impl Default for KnownGates {
    /// The gates of Kubernetes.
    fn default() -> Self {
        KnownGates(table::GATES.into())
    }
}

impl KnownGates {
    /// The gates of Kubernetes and those that groups declare. Two groups may declare the same gate
    /// if the declarations are equal.
    ///
    /// # Errors
    /// [`Error::GateRedeclared`] when two declarations of a gate differ.
    pub fn with<'a>(declared: impl IntoIterator<Item = &'a Gate>) -> Result<Self, Error> {
        let mut gates = table::GATES.to_vec();
        for gate in declared {
            match gates.binary_search_by(|known| known.name.cmp(gate.name)) {
                Ok(index) if gates[index] == *gate => {}
                Ok(_) => return Err(Error::GateRedeclared(gate.name)),
                Err(index) => gates.insert(index, *gate),
            }
        }
        Ok(KnownGates(gates.into()))
    }

    /// Iterates over the gates.
    pub fn iter(&self) -> impl Iterator<Item = &Gate> {
        self.0.iter()
    }

    /// The flag help of each alpha or beta gate that can be set (`KnownFeatures`).
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let settable = self
            .iter()
            .filter(|gate| matches!(gate.stage, FeatureStage::Alpha | FeatureStage::Beta) && gate.is_implemented());
        settable.map(|gate| format!("{}=true|false ({} - default={})", gate.name, gate.stage.name(), gate.default))
    }

    /// Parses values of the flag: `Name=bool`, or `component:Name=bool` as in clusters with mixed
    /// component versions.
    ///
    /// # Errors
    /// When a gate is unknown or locked, or a value is malformed.
    pub fn parse<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> Result<FeatureGates, Error> {
        let mut flag_values = FlagValues { known: self, values: HashMap::new() };
        for value in values.into_iter().map(str::trim).filter(|v| !v.is_empty()) {
            let value = value.strip_prefix("kube:").unwrap_or(value);
            let (name, value) = value.split_once('=').ok_or_else(|| Error::GateWithoutValue(value.to_owned()))?;
            flag_values.set(name.trim(), value.trim())?;
        }
        flag_values.set_whole_stage(AllAlpha, FeatureStage::Alpha);
        flag_values.set_whole_stage(AllBeta, FeatureStage::Beta);
        let mut gates = FeatureGates::of(self.clone());
        flag_values.values.into_iter().for_each(|(name, is_enabled)| gates.set(name, is_enabled));
        Ok(gates)
    }

    fn find(&self, name: &str) -> Option<&Gate> {
        self.0.binary_search_by(|gate| gate.name.cmp(name)).ok().map(|i| &self.0[i])
    }
}

/// The enabled features: the value of every known gate by its name.
///
/// ```
/// use features::FeatureGates;
///
/// let gates = FeatureGates::parse(["WatchList=false"])?;
/// assert!(!gates.enabled(features::WatchList));
/// assert!(FeatureGates::parse(["NoSuchFeature=true"]).is_err());
/// # Ok::<(), features::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureGates {
    known: KnownGates,
    /// Keys are only names of known gates, never client input.
    values: HashMap<&'static str, bool, RandomState>,
    /// The gates that are enabled.
    enabled: NameSet,
}

impl Default for FeatureGates {
    /// The gates of Kubernetes with their defaults.
    fn default() -> Self {
        FeatureGates::of(KnownGates::default())
    }
}

impl FeatureGates {
    /// The given gates with their defaults.
    fn of(known: KnownGates) -> Self {
        let mut gates = FeatureGates { known: known.clone(), values: HashMap::default(), enabled: NameSet::default() };
        known.iter().for_each(|gate| gates.set(gate.name, gate.default));
        gates
    }

    fn set(&mut self, name: &'static str, is_enabled: bool) {
        self.values.insert(name, is_enabled);
        if is_enabled {
            self.enabled.insert(NameId::of(name));
        } else {
            self.enabled.remove(NameId::of(name));
        }
    }

    /// The known gates.
    pub fn known(&self) -> &KnownGates {
        &self.known
    }

    /// The shared defaults of Kubernetes' gates.
    pub fn defaults() -> Arc<Self> {
        static DEFAULTS: LazyLock<Arc<FeatureGates>> = LazyLock::new(Arc::default);
        DEFAULTS.clone()
    }

    /// Whether a feature is enabled. An unknown name is disabled.
    pub fn enabled(&self, name: &str) -> bool {
        self.values.get(name).copied().unwrap_or(false)
    }

    /// As [`Self::enabled`], by number.
    #[inline]
    pub fn has(&self, gate: NameId) -> bool {
        self.enabled.contains(gate)
    }

    /// The gates that are enabled.
    pub fn all_enabled(&self) -> &NameSet {
        &self.enabled
    }

    /// Parses values of the flag with the gates of Kubernetes only.
    ///
    /// # Errors
    /// As [`KnownGates::parse`].
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        KnownGates::default().parse(values)
    }
}

/// The values that the flag sets.
struct FlagValues<'k> {
    known: &'k KnownGates,
    values: HashMap<&'static str, bool>,
}

impl FlagValues<'_> {
    fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let malformed = || Error::GateValue { gate: name.to_owned(), value: value.to_owned() };
        let on = parse_bool(value).ok_or_else(malformed)?;
        let gate = self.known.find(name).ok_or_else(|| Error::UnknownGate(name.to_owned()))?;
        if gate.locked && on != gate.default {
            return Err(Error::LockedGate { gate: gate.name, value: on });
        }
        if on && !gate.is_implemented() {
            return Err(Error::UnimplementedGate(gate.name));
        }
        self.values.insert(gate.name, on);
        Ok(())
    }

    /// `AllAlpha` and `AllBeta` set every gate of their stage that can be set and is not set by
    /// name.
    fn set_whole_stage(&mut self, name: &str, stage: FeatureStage) {
        let Some(&on) = self.values.get(name) else { return };
        for gate in self.known.iter().filter(|gate| gate.stage == stage && !gate.locked && gate.is_implemented()) {
            self.values.entry(gate.name).or_insert(on);
        }
    }
}

/// Parses a boolean like Go's `strconv.ParseBool`.
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

    fn check(values: &str) -> Result<FeatureGates, Error> {
        FeatureGates::parse(values.split(','))
    }

    #[test]
    fn gate_table_is_sorted() {
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
    fn all_alpha_and_all_beta_set_whole_stages() {
        let gates = check("AllAlpha=true,AllBeta=false,CBORServingAndStorage=false,AtomicFIFO=true").unwrap();
        assert!(gates.enabled("APIServingWithRoutine") && !gates.enabled("CBORServingAndStorage"));
        assert!(gates.enabled("AtomicFIFO") && !gates.enabled("APIServerIdentity"));
        assert!(!gates.enabled("ShardedListAndWatch"), "this server does not have the feature");
    }

    #[test]
    fn rejects_invalid_flag_values() {
        for (values, expect) in [
            ("NoSuch=true", "unrecognized feature gate: NoSuch"),
            ("AtomicFIFO", "missing bool value for feature gate \"AtomicFIFO\""),
            (
                "AtomicFIFO=maybe",
                "invalid value of AtomicFIFO=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            ("BtreeWatchCache=false", "cannot set feature gate BtreeWatchCache to false, feature is locked to true"),
            (
                "StorageVersionAPI=true",
                "cannot set feature gate StorageVersionAPI to true, this server does not have the feature",
            ),
        ] {
            assert_eq!(check(values).unwrap_err().to_string(), expect);
        }
        assert!(check("BtreeWatchCache=true,StorageVersionAPI=false").is_ok());
        assert!(KnownGates::default().texts().all(|text| !text.starts_with("StorageVersionAPI")));
        assert!(UNIMPLEMENTED.iter().all(|name| table::GATES.iter().any(|gate| gate.name == *name && !gate.default)));
    }

    #[test]
    fn combines_gates_of_groups() {
        static SALE: Gate = Gate::new("ShopSale", FeatureStage::Alpha, false);
        static LOCKED: Gate = Gate::locked("ShopTills", FeatureStage::Ga, true);
        let known = KnownGates::with([&SALE, &LOCKED, &SALE]).unwrap();
        assert!(known.iter().is_sorted_by_key(|gate| gate.name));
        assert!(known.texts().any(|text| text == "ShopSale=true|false (ALPHA - default=false)"));
        assert!(!known.texts().any(|text| text.starts_with("ShopTills")));
        let parse = |values: &str| known.parse(values.split(','));
        let gates = parse("").unwrap();
        assert!(!gates.enabled("ShopSale") && gates.enabled("ShopTills") && gates.enabled("AtomicFIFO"));
        assert!(parse("ShopSale=true").unwrap().enabled("ShopSale"));
        assert!(parse("AllAlpha=true").unwrap().enabled("ShopSale"));
        assert_eq!(
            parse("ShopTills=false").unwrap_err().to_string(),
            "cannot set feature gate ShopTills to false, feature is locked to true"
        );
        assert_eq!(check("ShopSale=true").unwrap_err().to_string(), "unrecognized feature gate: ShopSale");
        for other in
            [Gate::new("ShopSale", FeatureStage::Beta, false), Gate::new("AtomicFIFO", FeatureStage::Beta, false)]
        {
            let why = KnownGates::with([&SALE, &other]).unwrap_err().to_string();
            assert_eq!(why, format!("feature gate {:?} with different spec already exists", other.name));
        }
    }
}
