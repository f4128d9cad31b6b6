//! Flags of the audit log (upstream: `AuditOptions`).

use std::path::PathBuf;
use std::time::Duration;

use webhook::Route;

use crate::error::FlagError;
use crate::values::FlagValues;
use crate::words::VERSION;

const MEGABYTE: u64 = 1 << 20;

/// Options of auditing.
#[derive(Clone, Debug, Default)]
pub struct AuditOptions {
    /// A Policy file of `audit.k8s.io/v1`; without one nothing is recorded.
    pub policy_file: Option<PathBuf>,
    pub log: Option<AuditLogOptions>,
    pub webhook: Option<AuditWebhookOptions>,
}

/// Options of the log file.
#[derive(Clone, Debug)]
pub struct AuditLogOptions {
    /// `-` for standard output.
    pub path: PathBuf,
    pub format: AuditFormat,
    /// `None` disables rotation.
    pub rotation: Option<AuditRotation>,
    pub delivery: AuditDelivery,
}

/// The format of events in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditFormat {
    Legacy,
    Json,
}

/// Options of log rotation.
#[derive(Clone, Debug)]
pub struct AuditRotation {
    pub max_bytes: u64,
    pub max_age_days: Option<u32>,
    pub max_backups: Option<usize>,
    pub compress: bool,
}

/// Options of the audit webhook.
#[derive(Clone, Debug)]
pub struct AuditWebhookOptions {
    /// A kubeconfig file.
    pub config_file: PathBuf,
    pub initial_backoff: Duration,
    pub delivery: AuditDelivery,
    pub route: Route,
}

/// Delivery mode and size limits of events.
#[derive(Clone, Debug)]
pub struct AuditDelivery {
    pub mode: AuditMode,
    pub limits: Option<AuditLimits>,
}

/// Whether requests wait for the delivery of their events.
#[derive(Clone, Debug)]
pub enum AuditMode {
    /// Requests do not wait; events that exceed the buffer are lost.
    Batch(AuditBatch),
    /// Requests wait; events that fail to be delivered are lost.
    Blocking,
    /// Requests wait, and are rejected when their first event fails to be delivered.
    BlockingStrict,
}

/// Options of batching.
#[derive(Clone, Debug)]
pub struct AuditBatch {
    /// The maximum number of buffered events.
    pub buffer: usize,
    pub max_events: usize,
    pub max_wait: Duration,
    /// Batches per second, and the burst.
    pub throttle: Option<(f64, u32)>,
    /// Whether batches may be delivered concurrently.
    pub concurrent: bool,
}

/// The maximum sizes of events and batches, in bytes of JSON.
#[derive(Clone, Debug)]
pub struct AuditLimits {
    pub event: usize,
    pub batch: usize,
}

impl FlagValues {
    pub(super) fn audit(&self) -> Result<AuditOptions, FlagError> {
        Ok(AuditOptions {
            policy_file: self.path("audit-policy-file"),
            log: self.path("audit-log-path").map(|path| self.audit_log(path)).transpose()?,
            webhook: self.path("audit-webhook-config-file").map(|file| self.audit_webhook(file)).transpose()?,
        })
    }

    fn audit_log(&self, path: PathBuf) -> Result<AuditLogOptions, FlagError> {
        let delivery = self.delivery("log", false)?;
        let format = match self.text("audit-log-format") {
            "legacy" => AuditFormat::Legacy,
            "json" => AuditFormat::Json,
            other => return Err(FlagError::AuditFormat { format: other.to_owned() }),
        };
        let (age, backups) = (self.not_negative("audit-log-maxage")?, self.not_negative("audit-log-maxbackup")?);
        let megabytes = self.not_negative("audit-log-maxsize")?;
        let rotation = (megabytes > 0).then_some(AuditRotation {
            max_bytes: u64::from(megabytes) * MEGABYTE,
            max_age_days: Some(age).filter(|days| *days > 0),
            max_backups: Some(backups as usize).filter(|backups| *backups > 0),
            compress: self.bool("audit-log-compress")?,
        });
        Ok(AuditLogOptions { path, format, rotation, delivery })
    }

    fn audit_webhook(&self, config_file: PathBuf) -> Result<AuditWebhookOptions, FlagError> {
        let (new, old) = ("audit-webhook-initial-backoff", "audit-webhook-batch-initial-backoff");
        let initial_backoff = self.duration(if self.is_given(new) || !self.is_given(old) { new } else { old })?;
        let (delivery, route) = (self.delivery("webhook", true)?, Route::DIRECT);
        Ok(AuditWebhookOptions { config_file, initial_backoff, delivery, route })
    }

    /// `sink` is `log` or `webhook`.
    fn delivery(&self, sink: &'static str, concurrent: bool) -> Result<AuditDelivery, FlagError> {
        let flag = |name: &str| format!("audit-{sink}-{name}");
        let version = self.text(&flag("version"));
        if version != VERSION {
            return Err(FlagError::AuditVersion { version: version.to_owned() });
        }
        let mode = match self.text(&flag("mode")) {
            "batch" => AuditMode::Batch(self.batch(sink, concurrent)?),
            "blocking" => AuditMode::Blocking,
            "blocking-strict" => AuditMode::BlockingStrict,
            other => return Err(FlagError::AuditMode { sink, mode: other.to_owned() }),
        };
        let event: i64 = self.number(&flag("truncate-max-event-size"))?;
        let batch: i64 = self.number(&flag("truncate-max-batch-size"))?;
        if event <= 0 {
            return Err(FlagError::AuditEventSize { sink, size: event });
        }
        if batch < event {
            return Err(FlagError::AuditBatchSize { sink, batch, event });
        }
        let limits = self.bool(&flag("truncate-enabled"))?;
        let limits = limits.then_some(AuditLimits { event: event as usize, batch: batch as usize });
        Ok(AuditDelivery { mode, limits })
    }

    fn batch(&self, sink: &'static str, concurrent: bool) -> Result<AuditBatch, FlagError> {
        let flag = |name: &str| format!("audit-{sink}-batch-{name}");
        let positive = |name: &str, what: &'static str| -> Result<usize, FlagError> {
            let number: i64 = self.number(&flag(name))?;
            usize::try_from(number).ok().filter(|number| *number > 0).ok_or(FlagError::AuditBatch {
                sink,
                what,
                number,
            })
        };
        let throttle = self.bool(&flag("throttle-enable"))?;
        let throttle = throttle
            .then(|| {
                let per_second: f64 = self.number(&flag("throttle-qps"))?;
                if per_second.is_nan() || per_second <= 0.0 {
                    return Err(FlagError::AuditThrottle { sink, per_second });
                }
                let burst = positive("throttle-burst", "throttle burst")?;
                Ok((per_second, u32::try_from(burst).unwrap_or(u32::MAX)))
            })
            .transpose()?;
        Ok(AuditBatch {
            buffer: positive("buffer-size", "buffer size")?,
            max_events: positive("max-size", "max batch size")?,
            max_wait: self.duration(&flag("max-wait"))?,
            throttle,
            concurrent,
        })
    }

    fn not_negative(&self, flag: &str) -> Result<u32, FlagError> {
        let number: i64 = self.number(flag)?;
        u32::try_from(number).map_err(|_| FlagError::Negative { flag: flag.to_owned(), number })
    }
}
