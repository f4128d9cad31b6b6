//! The log: its sinks, levels, and formats, which are klog's text and JSON (upstream:
//! `component-base/logs`).
//!
//! `tracing` levels map to klog's verbosities: `INFO` and above to 0, `DEBUG` to 4, `TRACE` to 6.
//! Lines about requests, with the target [`HTTP`], have verbosity 3.

mod format;
mod limit;
mod sink;
mod target;
mod threshold;

use std::sync::{Arc, OnceLock};

use options::LogOptions;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::Error;
use format::LineFormat;
pub use limit::LogLimit;
use sink::Sinks;
pub use target::HTTP;
use threshold::{LogLevels, Threshold};

/// The log levels of this process, once `init` has installed them. A process has one log.
static LEVELS: OnceLock<Arc<LogLevels>> = OnceLock::new();

/// Installs the log of the process according to the options. Has no effect if the embedding program
/// has installed another one.
pub fn init(options: &LogOptions) {
    let levels = Arc::new(LogLevels::new(options.verbosity, options.modules.clone()));
    let lines = tracing_subscriber::fmt::layer()
        .event_format(LineFormat::new(options.format))
        .with_writer(Sinks::new(options))
        .with_ansi(false);
    if tracing_subscriber::registry().with(Threshold(levels.clone())).with(lines).try_init().is_ok() {
        let _ = LEVELS.set(levels);
    }
}

/// Changes the log verbosity; returns the message of upstream's `logs.GlogSetter`.
///
/// # Errors
/// The text is not a verbosity, or the log of this process was not installed by [`init`].
pub fn set_verbosity(text: &str) -> Result<String, Error> {
    let verbosity: u32 = text.parse().map_err(|_| Error::Verbosity { text: text.to_owned() })?;
    let levels = LEVELS.get().ok_or(Error::OtherLog)?;
    levels.set_verbosity(verbosity);
    Ok(format!("successfully set klog.logging.verbosity to {text}"))
}
