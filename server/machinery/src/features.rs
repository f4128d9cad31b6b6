//! Feature gates: `--feature-gates=Name=true` (upstream: `component-base/featuregate`). A server
//! knows those of Kubernetes and those that its groups declare. The names of Kubernetes' gates are constants here, such as
//! [`HPAScaleToZero`].

mod table;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;

pub use table::names::*;

/// Alpha features of Kubernetes that this server does not have. Their gates are known, and cannot be turned on.
const NOT_BUILT: [&str; 2] = [ShardedListAndWatch, StorageVersionAPI];

/// How settled a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Alpha,
    Beta,
    Ga,
    Deprecated,
}

impl Stage {
    /// As metrics and the text of the flag show it; empty for GA.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Alpha => "ALPHA",
            Stage::Beta => "BETA",
            Stage::Ga => "",
            Stage::Deprecated => "DEPRECATED",
        }
    }
}

/// A feature that can be turned on or off, or could be once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub name: &'static str,
    pub stage: Stage,
    pub default: bool,
    /// Whether the default is the only value left.
    pub locked: bool,
}

impl Gate {
    /// A gate that can be set.
    pub const fn new(name: &'static str, stage: Stage, default: bool) -> Self {
        Gate { name, stage, default, locked: false }
    }

    /// Whether this server has the feature.
    fn is_built(&self) -> bool {
        !NOT_BUILT.contains(&self.name)
    }

    /// A gate whose default is the only value left.
    pub const fn locked(name: &'static str, stage: Stage, default: bool) -> Self {
        Gate { name, stage, default, locked: true }
    }
}

/// The gates that a server knows, in order of their names. Clones share them.
#[derive(Clone, Debug)]
pub struct KnownGates(Arc<[Gate]>);

impl Default for KnownGates {
    /// Those of Kubernetes.
    fn default() -> Self {
        KnownGates(table::GATES.into())
    }
}

impl KnownGates {
    /// Those of Kubernetes and those that groups declare. Two groups may declare a gate if they say
    /// the same of it.
    ///
    /// # Errors
    /// When a gate is declared in two ways; the text names it.
    pub fn with<'a>(declared: impl IntoIterator<Item = &'a Gate>) -> Result<Self, String> {
        let mut gates = table::GATES.to_vec();
        for gate in declared {
            match gates.binary_search_by(|known| known.name.cmp(gate.name)) {
                Ok(index) if gates[index] == *gate => {}
                Ok(_) => return Err(format!("feature gate \"{}\" with different spec already exists", gate.name)),
                Err(index) => gates.insert(index, *gate),
            }
        }
        Ok(KnownGates(gates.into()))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Gate> {
        self.0.iter()
    }

    /// What the help shows of each gate that is not settled and can be set (`KnownFeatures`).
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let settable = self.iter().filter(|gate| matches!(gate.stage, Stage::Alpha | Stage::Beta) && gate.is_built());
        settable.map(|gate| format!("{}=true|false ({} - default={})", gate.name, gate.stage.name(), gate.default))
    }

    /// Reads the values of the flag: `Name=bool`, or `component:Name=bool` as clusters of mixed components write it.
    ///
    /// # Errors
    /// When a gate is unknown or locked, or a value is none.
    pub fn parse<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> Result<FeatureGates, String> {
        let mut said = Said { known: self, values: HashMap::new() };
        for value in values.into_iter().map(str::trim).filter(|v| !v.is_empty()) {
            let value = value.strip_prefix("kube:").unwrap_or(value);
            let (name, value) =
                value.split_once('=').ok_or_else(|| format!("missing bool value for feature gate {value:?}"))?;
            said.set(name.trim(), value.trim())?;
        }
        said.set_whole_stage(AllAlpha, Stage::Alpha);
        said.set_whole_stage(AllBeta, Stage::Beta);
        let values = said.values;
        let mut gates = FeatureGates::of(self.clone());
        gates.values.extend(values);
        Ok(gates)
    }

    fn find(&self, name: &str) -> Option<&Gate> {
        self.0.binary_search_by(|gate| gate.name.cmp(name)).ok().map(|i| &self.0[i])
    }
}

/// Which features are on: every gate that is known, by its name.
#[derive(Clone, Debug)]
pub struct FeatureGates {
    known: KnownGates,
    /// No name of a client's gets into it.
    values: HashMap<&'static str, bool, RandomState>,
}

impl Default for FeatureGates {
    /// Those of Kubernetes, with their defaults.
    fn default() -> Self {
        FeatureGates::of(KnownGates::default())
    }
}

impl FeatureGates {
    /// These gates, with their defaults.
    fn of(known: KnownGates) -> Self {
        let values = known.iter().map(|gate| (gate.name, gate.default)).collect();
        FeatureGates { known, values }
    }

    /// The gates that can be on.
    pub fn known(&self) -> &KnownGates {
        &self.known
    }

    /// Those of Kubernetes that are on unless the flag says otherwise, made once.
    pub fn defaults() -> Arc<Self> {
        static DEFAULTS: LazyLock<Arc<FeatureGates>> = LazyLock::new(Arc::default);
        DEFAULTS.clone()
    }

    /// Whether a feature is on. A name that is no gate is off.
    pub fn enabled(&self, name: &str) -> bool {
        self.values.get(name).copied().unwrap_or(false)
    }

    /// Reads values of the flag where only Kubernetes' gates are known.
    ///
    /// # Errors
    /// As [`KnownGates::parse`].
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        KnownGates::default().parse(values)
    }
}

/// What the flag says.
struct Said<'k> {
    known: &'k KnownGates,
    values: HashMap<&'static str, bool>,
}

impl Said<'_> {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let on = parse_bool(value).ok_or_else(|| {
            format!("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")
        })?;
        let gate = self.known.find(name).ok_or_else(|| format!("unrecognized feature gate: {name}"))?;
        if gate.locked && on != gate.default {
            return Err(format!("cannot set feature gate {name} to {on}, feature is locked to {}", gate.default));
        }
        if on && !gate.is_built() {
            return Err(format!("cannot set feature gate {name} to true, this server does not have the feature"));
        }
        self.values.insert(gate.name, on);
        Ok(())
    }

    /// `AllAlpha` and `AllBeta` set every gate of their stage that is not set by its own name and can be set.
    fn set_whole_stage(&mut self, name: &str, stage: Stage) {
        let Some(&on) = self.values.get(name) else { return };
        for gate in self.known.iter().filter(|gate| gate.stage == stage && !gate.locked && gate.is_built()) {
            self.values.entry(gate.name).or_insert(on);
        }
    }
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
        assert!(!gates.enabled("ShardedListAndWatch"), "this server does not have the feature");
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
            (
                "StorageVersionAPI=true",
                "cannot set feature gate StorageVersionAPI to true, this server does not have the feature",
            ),
        ] {
            assert_eq!(check(values).unwrap_err(), expect);
        }
        assert!(check("BtreeWatchCache=true,StorageVersionAPI=false").is_ok());
        assert!(KnownGates::default().texts().all(|text| !text.starts_with("StorageVersionAPI")));
        assert!(NOT_BUILT.iter().all(|name| table::GATES.iter().any(|gate| gate.name == *name && !gate.default)));
    }

    #[test]
    fn gates_that_groups_declare() {
        static SALE: Gate = Gate::new("ShopSale", Stage::Alpha, false);
        static LOCKED: Gate = Gate::locked("ShopTills", Stage::Ga, true);
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
            parse("ShopTills=false").unwrap_err(),
            "cannot set feature gate ShopTills to false, feature is locked to true"
        );
        assert_eq!(check("ShopSale=true").unwrap_err(), "unrecognized feature gate: ShopSale");
        for other in [Gate::new("ShopSale", Stage::Beta, false), Gate::new("AtomicFIFO", Stage::Beta, false)] {
            let why = KnownGates::with([&SALE, &other]).unwrap_err();
            assert_eq!(why, format!("feature gate {:?} with different spec already exists", other.name));
        }
    }
}
