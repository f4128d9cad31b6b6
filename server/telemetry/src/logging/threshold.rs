//! Filters lines by verbosity, with overrides by source file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use options::Module;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::target;

/// The verbosities of the levels, in klog's scale.
const HTTP: u32 = 3;
const DEBUG: u32 = 4;
const TRACE: u32 = 6;

/// The current log levels.
pub(super) struct LogLevels {
    verbosity: AtomicU32,
    modules: Vec<Module>,
}

impl LogLevels {
    pub(super) fn new(verbosity: u32, modules: Vec<Module>) -> Self {
        LogLevels { verbosity: AtomicU32::new(verbosity), modules }
    }

    pub(super) fn set_verbosity(&self, verbosity: u32) {
        self.verbosity.store(verbosity, Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// The verbosity of a file. As with klog, an override can only increase it.
    fn of(&self, file: Option<&str>) -> u32 {
        let general = self.verbosity.load(Ordering::Relaxed);
        let module = file.and_then(|file| self.modules.iter().find(|module| module.is_of(file)));
        module.map_or(general, |module| module.verbosity.max(general))
    }

    fn is_enabled(&self, metadata: &Metadata<'_>) -> bool {
        verbosity_of(metadata) <= self.of(metadata.file())
    }

    /// The maximum verbosity of all files.
    fn max_verbosity(&self) -> u32 {
        let modules = self.modules.iter().map(|module| module.verbosity).max().unwrap_or_default();
        modules.max(self.verbosity.load(Ordering::Relaxed))
    }
}

/// The verbosity of a line, by its level and target.
pub(super) fn verbosity_of(metadata: &Metadata<'_>) -> u32 {
    match *metadata.level() {
        Level::DEBUG if metadata.target() == target::HTTP => HTTP,
        Level::TRACE => TRACE,
        Level::DEBUG => DEBUG,
        _ => 0,
    }
}

/// Filters lines. The decision for each call site is cached until the verbosity changes.
pub(super) struct Threshold(pub(super) Arc<LogLevels>);

impl<S: Subscriber> Layer<S> for Threshold {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.0.is_enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.0.is_enabled(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.0.max_verbosity() {
            TRACE.. => LevelFilter::TRACE,
            HTTP.. => LevelFilter::DEBUG,
            _ => LevelFilter::INFO,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_increase_verbosity() {
        let modules = ["listener=4", "watch*=9", "*/filters/*=5"].map(|text| Module::parse(text).unwrap());
        let levels = LogLevels::new(2, modules.into());
        let check = |file: &str, expect: u32| assert_eq!(levels.of(Some(file)), expect, "{file}");
        check("server/serving/src/listener.rs", 4);
        check("server/registry/src/watch.rs", 9);
        check("server/serving/src/filters/watch_termination.rs", 9);
        check("serving/filters/timeout.rs", 5);
        check("server/serving/src/server.rs", 2);
        assert_eq!((levels.of(None), levels.max_verbosity()), (2, 9));
        levels.set_verbosity(6);
        check("server/serving/src/listener.rs", 6);
        let refused = |text: &str| Module::parse(text).unwrap_err().to_string();
        assert_eq!(refused("=4"), "\"=4\" does not have the pattern=N format");
        assert_eq!(refused("a=b"), "parsing verbosity in \"a=b\": strconv.ParseUint: parsing \"b\": invalid syntax");
    }
}
