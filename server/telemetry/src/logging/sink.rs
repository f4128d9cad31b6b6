//! The sinks of log lines: standard error, or standard error for errors and standard output,
//! optionally buffered, for the others.

use std::io::{self, BufWriter, Stderr, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use options::LogOptions;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// The sinks of the log.
pub(super) struct Sinks {
    /// The sink of all lines but errors; `None` means standard error.
    output: Option<Arc<Mutex<BufWriter<Stdout>>>>,
    /// Whether output is buffered.
    is_buffered: bool,
}

/// The sink of a line.
pub(super) enum LogSink<'s> {
    Error(Stderr),
    Output { stream: MutexGuard<'s, BufWriter<Stdout>>, is_buffered: bool },
}

impl Sinks {
    /// Creates the sinks of the options. Buffered output is flushed at the configured interval.
    pub(super) fn new(options: &LogOptions) -> Self {
        let output = || Arc::new(Mutex::new(BufWriter::with_capacity(options.buffer, io::stdout())));
        let sinks = Sinks { output: options.split.then(output), is_buffered: options.buffer > 0 };
        if let Some(output) = sinks.output.clone().filter(|_| sinks.is_buffered) {
            let interval = options.flush;
            // A separate thread: the log must be flushed even if the runtime hangs.
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(interval);
                    let _ = output.lock().unwrap_or_else(PoisonError::into_inner).flush();
                }
            });
        }
        sinks
    }
}

impl<'s> MakeWriter<'s> for Sinks {
    type Writer = LogSink<'s>;

    fn make_writer(&'s self) -> LogSink<'s> {
        LogSink::Error(io::stderr())
    }

    fn make_writer_for(&'s self, metadata: &Metadata<'_>) -> LogSink<'s> {
        match &self.output {
            Some(output) if *metadata.level() != Level::ERROR => LogSink::Output {
                stream: output.lock().unwrap_or_else(PoisonError::into_inner),
                is_buffered: self.is_buffered,
            },
            _ => self.make_writer(),
        }
    }
}

impl Write for LogSink<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self {
            LogSink::Error(stream) => stream.write(line),
            LogSink::Output { stream, is_buffered } => {
                stream.write_all(line)?;
                if !*is_buffered {
                    stream.flush()?;
                }
                Ok(line.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            LogSink::Error(stream) => stream.flush(),
            LogSink::Output { stream, .. } => stream.flush(),
        }
    }
}
