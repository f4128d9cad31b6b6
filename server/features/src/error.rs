//! The error of this crate.

/// Why feature gates are rejected. The texts are those that clients of upstream see.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Two groups declare a feature gate differently.
    #[error("feature gate {0:?} with different spec already exists")]
    GateRedeclared(&'static str),
    /// A feature gate without a value.
    #[error("missing bool value for feature gate {0:?}")]
    GateWithoutValue(String),
    /// A feature gate with a value that is no bool, worded as Go's `strconv.ParseBool`.
    #[error("invalid value of {gate}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")]
    GateValue {
        /// The name of the gate.
        gate: String,
        /// The value.
        value: String,
    },
    /// A feature gate that is unknown.
    #[error("unrecognized feature gate: {0}")]
    UnknownGate(String),
    /// A value of a feature gate that is fixed to the other one.
    #[error("cannot set feature gate {gate} to {value}, feature is locked to {}", !value)]
    LockedGate {
        /// The name of the gate.
        gate: &'static str,
        /// The rejected value.
        value: bool,
    },
    /// A feature that this server does not implement.
    #[error("cannot set feature gate {0} to true, this server does not have the feature")]
    UnimplementedGate(&'static str),
}
