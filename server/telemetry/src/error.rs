//! Errors of telemetry. The texts are upstream's, where upstream has the error.

use options::DocumentError;

/// An invalid configuration of traces or of the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document of `--tracing-config-file` is malformed.
    #[error("failed to read tracing config: unable to decode tracing configuration data: {0}")]
    Document(#[from] DocumentError),
    #[error(
        "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: {rate}: sampling rate must be positive"
    )]
    NegativeRate { rate: i32 },
    #[error(
        "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: {rate}: sampling rate per million must be less than or equal to one million"
    )]
    HighRate { rate: i32 },
    #[error(
        "failed to validate tracing configuration: endpoint: Invalid value: {endpoint:?}: unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md"
    )]
    Endpoint { endpoint: String, scheme: String },
    /// The address of the collector is malformed.
    #[error("{collector}: {source}")]
    Collector { collector: String, source: options::BoxError },
    #[error("strconv.ParseUint: parsing {text:?}: invalid syntax")]
    Verbosity { text: String },
    /// The embedding program has its own log.
    #[error("the log of this process is not written by the server")]
    OtherLog,
}
