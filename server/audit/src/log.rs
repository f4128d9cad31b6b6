//! A sink that writes events as lines to a file or to standard output (upstream: `plugin/audit/log`).

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use apimachinery::audit::v1::Event;
use machinery::json;
use machinery::reflect::Ref;
use options::{AuditFormat, AuditLogOptions, Error};
use request::BoxFuture;

use crate::append::append_to;
use crate::legacy;
use crate::level::API_VERSION;
use crate::rotation::RotatingFile;
use crate::sink::{Metrics, Sink};

const PLUGIN: &str = "log";
/// The path that stands for standard output.
const STDOUT: &str = "-";

/// Writes events; each line with one write.
pub(super) struct Log {
    format: AuditFormat,
    out: Mutex<Box<dyn Write + Send>>,
    metrics: Metrics,
}

impl Log {
    /// Opens the configured file. Creates missing directories and the file, accessible only to the owner.
    pub fn open(options: &AuditLogOptions, metrics: Metrics) -> Result<Self, Error> {
        let path = &options.path;
        let out: Box<dyn Write + Send> = match &options.rotation {
            _ if path.as_os_str() == STDOUT => Box::new(io::stdout()),
            None => Box::new(append_to(path).map_err(Error::file(path))?),
            Some(rotation) => Box::new(RotatingFile::open(path, rotation.clone()).map_err(Error::file(path))?),
        };
        Ok(Log { format: options.format, out: Mutex::new(out), metrics })
    }

    fn line(&self, event: &Event) -> Vec<u8> {
        let mut line = Vec::new();
        match self.format {
            AuditFormat::Legacy => line.extend_from_slice(legacy::line(event).as_bytes()),
            AuditFormat::Json => json::encode_object(API_VERSION, "Event", Ref::of(event), &mut line),
        }
        line.push(b'\n');
        line
    }

    fn write(&self, event: &Arc<Event>) -> bool {
        let line = self.line(event);
        let written = self.out.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
        if let Err(why) = &written {
            self.metrics.lost(PLUGIN, why, std::slice::from_ref(event));
        }
        written.is_ok()
    }
}

impl Sink for Log {
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool> {
        // Appending a line to the page cache takes less time than passing it to another thread.
        let lost = events.iter().filter(|event| !self.write(event)).count();
        Box::pin(std::future::ready(lost == 0))
    }
}
