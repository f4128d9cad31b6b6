//! Flags of the log (upstream: `component-base/logs/api/v1`).

use std::time::Duration;

use machinery::features;
use machinery::scalar::Quantity;

use crate::error::FlagError;
use crate::values::FlagValues;
use crate::vmodule::Module;

/// Options of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    pub format: LogFormat,
    /// The verbosity in klog's scale.
    pub verbosity: u32,
    /// Verbosities of source files.
    pub modules: Vec<Module>,
    /// Only errors go to standard error; all others go to standard output.
    pub split: bool,
    /// The size of the buffer of standard output, in bytes.
    pub buffer: usize,
    /// The flush interval of that buffer.
    pub flush: Duration,
}

/// The format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// klog's: `I1122 07:04:05.678901    4242 server.rs:17] "Serving" address="127.0.0.1:6443"`
    Text,
    /// One JSON object per line.
    Json,
}

const ALPHA: &str = features::LoggingAlphaOptions;

impl FlagValues {
    pub(super) fn logs(&self) -> Result<LogOptions, FlagError> {
        let format = match self.text("logging-format") {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            other => return Err(FlagError::LogFormat { format: other.to_owned() }),
        };
        let flush = self.duration("log-flush-frequency")?;
        if flush.is_zero() {
            return Err(FlagError::LogFlushFrequency);
        }
        let modules = self.modules()?;
        if !modules.is_empty() && format != LogFormat::Text {
            return Err(FlagError::LogModules);
        }
        let (text, json) = (self.streams("text")?, self.streams("json")?);
        let (split, buffer) = if format == LogFormat::Json { json } else { text };
        Ok(LogOptions { format, verbosity: self.number("v")?, modules, split, buffer, flush })
    }

    /// Whether lines of a format are split over two streams, and the size of the buffer.
    fn streams(&self, form: &'static str) -> Result<(bool, usize), FlagError> {
        let flags = [format!("log-{form}-split-stream"), format!("log-{form}-info-buffer-size")];
        let buffer = Quantity::parse(self.text(&flags[1])).map_err(|why| self.invalid(&flags[1], why))?;
        let (split, buffer) = (self.bool(&flags[0])?, usize::try_from(buffer.value()).unwrap_or_default());
        let alpha = [(split, "splitStream"), (buffer > 0, "infoBufferSize")];
        match alpha.into_iter().find(|(is_set, _)| *is_set && !self.has_gate(ALPHA)) {
            Some((_, field)) => Err(FlagError::LogStream { format: form, field, gate: ALPHA }),
            None => Ok((split, buffer)),
        }
    }

    fn modules(&self) -> Result<Vec<Module>, FlagError> {
        let read = |text: &str| Module::parse(text).map_err(|why| self.invalid("vmodule", why));
        self.list("vmodule").into_iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn parses_log_flags() {
        let parse = |flags: &[&str]| {
            let args = std::iter::once(&"kube-apiserver").chain(flags);
            Options::parse_from(args).map(|options| options.logs).map_err(|why| why.to_string())
        };
        let o = parse(&["--vmodule=listener=4,watch*=9", "-v", "2"]).unwrap();
        assert_eq!((o.format, o.verbosity, o.modules.len(), o.split), (LogFormat::Text, 2, 2, false));
        let alpha = "--feature-gates=LoggingAlphaOptions=true";
        let o = parse(&[alpha, "--log-text-split-stream", "--log-text-info-buffer-size=64Ki"]).unwrap();
        assert_eq!((o.split, o.buffer), (true, 65536));
        let o = parse(&[alpha, "--log-text-split-stream", "--logging-format=json"]).unwrap();
        assert_eq!((o.format, o.split), (LogFormat::Json, false));
        assert!(parse(&[alpha, "--log-json-split-stream", "--logging-format=json"]).unwrap().split);
        for (flags, expect) in [
            (&["--logging-format=xml"][..], "format: Invalid value: \"xml\": Unsupported log format"),
            (&["--logging-format=json", "--vmodule=a=1"], "vmodule: Forbidden: Only supported for text log format"),
            (
                &["--vmodule=a"],
                "invalid argument \"a\" for \"--vmodule\" flag: \"a\" does not have the pattern=N format",
            ),
            (
                &["--log-text-split-stream"],
                "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled",
            ),
            (
                &["--log-text-info-buffer-size=1Ki"],
                "options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled",
            ),
            (
                &["--log-json-split-stream"],
                "options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled",
            ),
            (&["--log-flush-frequency=0"], "flushFrequency: Invalid value: \"0s\": Must be greater than zero"),
        ] {
            assert_eq!(parse(flags).unwrap_err(), expect);
        }
    }
}
