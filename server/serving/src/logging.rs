//! Where log lines go, which are written, and in which form: klog's text, or JSON (upstream: `component-base/logs`).
//!
//! Levels of `tracing` stand for klog's verbosities: what is worth knowing is of verbosity 0, `DEBUG` of 4, `TRACE` of 6. Lines about
//! requests, of the target [`HTTP`], are of verbosity 3.

mod format;
mod limit;
mod sink;
mod threshold;

use std::sync::{Arc, OnceLock};

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::options::LogOptions;
use format::LineFormat;
pub(crate) use limit::LogLimit;
use sink::Sinks;
use threshold::{Levels, Threshold};

pub use threshold::Module;

/// The target of lines about requests.
pub const HTTP: &str = "http";

/// What is logged by this process, once it logs; a process has one log.
static LEVELS: OnceLock<Arc<Levels>> = OnceLock::new();

/// Begins to write lines as the options say. A program that embeds the server may log elsewhere already; then nothing changes.
pub fn init(options: &LogOptions) {
    let levels = Arc::new(Levels::new(options.verbosity, options.modules.clone()));
    let lines = tracing_subscriber::fmt::layer()
        .event_format(LineFormat::new(options.format))
        .with_writer(Sinks::new(options))
        .with_ansi(false);
    if tracing_subscriber::registry().with(Threshold(levels.clone())).with(lines).try_init().is_ok() {
        let _ = LEVELS.set(levels);
    }
}

/// Changes how much is logged from now on; says so (upstream: `logs.GlogSetter`).
///
/// # Errors
/// When the text is no verbosity, or this process logs in another way.
pub fn set_verbosity(text: &str) -> Result<String, String> {
    let verbosity: u32 = text.parse().map_err(|_| format!("strconv.ParseUint: parsing {text:?}: invalid syntax"))?;
    let levels = LEVELS.get().ok_or("the log of this process is not written by the server")?;
    levels.set_verbosity(verbosity);
    Ok(format!("successfully set klog.logging.verbosity to {text}"))
}
