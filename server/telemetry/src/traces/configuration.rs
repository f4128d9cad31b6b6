//! The configuration of tracing (`TracingConfiguration`).

use options::configuration;
use serde::Deserialize;

use crate::Error;

/// The default address of collectors.
const DEFAULT: &str = "localhost:4317";
const MILLION: i32 = 1_000_000;
/// The number of bits of a trace id that upstream uses for sampling.
const BITS: u32 = 63;

/// The document, which is the same in all versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TracingConfiguration {
    /// The collector as a gRPC target name.
    endpoint: Option<String>,
    /// How many of a million requests without a parent trace are sampled; absent means none.
    sampling_rate_per_million: Option<i32>,
}

/// The sampling of requests without a parent trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    /// Ids below this bound are sampled.
    bound: u64,
}

impl Sampling {
    fn per_million(rate: i32) -> Self {
        Sampling { bound: ((1u128 << BITS) * rate.max(0) as u128 / MILLION as u128) as u64 }
    }

    /// Whether a new trace with this id is sampled (OpenTelemetry: `TraceIDRatioBased`).
    pub(super) fn wants(self, id: [u8; 16]) -> bool {
        let [.., a, b, c, d, e, f, g, h] = id;
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1 < self.bound
    }
}

/// Parses a configuration; returns the sampling and the URL of the collector for tonic.
///
/// # Errors
/// The configuration is malformed or invalid.
pub(super) fn parse(text: &[u8]) -> Result<(Sampling, String), Error> {
    let versions = ["v1", "v1beta1", "v1alpha1"];
    let read: TracingConfiguration =
        configuration::parse_small(text, "apiserver.config.k8s.io", &versions, "TracingConfiguration")?;
    let rate = read.sampling_rate_per_million.unwrap_or_default();
    check_rate(rate)?;
    let collector = collector(read.endpoint.as_deref().unwrap_or(DEFAULT))?;
    Ok((Sampling::per_million(rate), collector))
}

fn check_rate(rate: i32) -> Result<(), Error> {
    match rate {
        0..=MILLION => Ok(()),
        ..0 => Err(Error::NegativeRate { rate }),
        _ => Err(Error::HighRate { rate }),
    }
}

/// Converts a gRPC target name to a URL.
fn collector(endpoint: &str) -> Result<String, Error> {
    let whole = if endpoint.contains("//") { endpoint.to_owned() } else { format!("dns://{endpoint}") };
    let (scheme, rest) = whole.split_once("://").unwrap_or(("", &whole));
    match scheme {
        "dns" => Ok(format!("http://{}", rest.rsplit('/').next().unwrap_or_default())),
        "unix" => Ok(format!("unix:{rest}")),
        "unix-abstract" => Ok(format!("unix:\0{rest}")),
        other => Err(Error::Endpoint { scheme: other.to_owned(), endpoint: whole }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<(Sampling, String), Error> {
        parse(format!("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n{fields}").as_bytes())
    }

    #[test]
    fn accepts_grpc_target_names() {
        for (endpoint, expect) in [
            ("", "http://localhost:4317"),
            ("endpoint: collector:4317", "http://collector:4317"),
            ("endpoint: dns://1.1.1.1/collector:4317", "http://collector:4317"),
            ("endpoint: unix:///run/otel.sock", "unix:/run/otel.sock"),
        ] {
            assert_eq!(read(endpoint).unwrap().1, expect);
        }
    }

    #[test]
    fn rejects_invalid_fields() {
        for (fields, expect) in [
            (
                "samplingRatePerMillion: -1",
                "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
            ),
            (
                "samplingRatePerMillion: 1000001",
                "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million",
            ),
            (
                "endpoint: https://collector",
                "failed to validate tracing configuration: endpoint: Invalid value: \"https://collector\": unsupported scheme: https.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md",
            ),
            (
                "rate: 1",
                "failed to read tracing config: unable to decode tracing configuration data: strict decoding error: unknown field `rate`, expected `endpoint` or `samplingRatePerMillion`",
            ),
        ] {
            assert_eq!(read(fields).unwrap_err().to_string(), expect);
        }
    }

    #[test]
    fn samples_a_share_of_ids() {
        let id = |first: u8| [0, 0, 0, 0, 0, 0, 0, 0, first, 0, 0, 0, 0, 0, 0, 0];
        let wants = |rate: i32, first: u8| Sampling::per_million(rate).wants(id(first));
        assert!(!wants(0, 0) && wants(MILLION, 0xff) && wants(500_000, 0x7f) && !wants(500_000, 0x80));
    }
}
