//! Where lines go: all to standard error, or only errors, and the rest to standard output, where it may wait for a while.

use std::io::{self, BufWriter, Stderr, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use crate::options::LogOptions;

/// The streams of the log.
pub(super) struct Sinks {
    /// Where everything but errors goes; none: to standard error.
    output: Option<Arc<Mutex<BufWriter<Stdout>>>>,
    /// Whether lines may wait.
    waits: bool,
}

/// The stream of a line.
pub(super) enum Sink<'s> {
    Error(Stderr),
    Output { stream: MutexGuard<'s, BufWriter<Stdout>>, waits: bool },
}

impl Sinks {
    /// The streams of the options; what waits there is written in their interval.
    pub(super) fn new(options: &LogOptions) -> Self {
        let output = || Arc::new(Mutex::new(BufWriter::with_capacity(options.buffer, io::stdout())));
        let sinks = Sinks { output: options.split.then(output), waits: options.buffer > 0 };
        if let Some(output) = sinks.output.clone().filter(|_| sinks.waits) {
            let interval = options.flush;
            // A thread of its own: a log that needs the runtime says nothing when that hangs.
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
    type Writer = Sink<'s>;

    fn make_writer(&'s self) -> Sink<'s> {
        Sink::Error(io::stderr())
    }

    fn make_writer_for(&'s self, metadata: &Metadata<'_>) -> Sink<'s> {
        match &self.output {
            Some(output) if *metadata.level() != Level::ERROR => {
                Sink::Output { stream: output.lock().unwrap_or_else(PoisonError::into_inner), waits: self.waits }
            }
            _ => self.make_writer(),
        }
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Error(stream) => stream.write(line),
            Sink::Output { stream, waits } => {
                stream.write_all(line)?;
                if !*waits {
                    stream.flush()?;
                }
                Ok(line.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Error(stream) => stream.flush(),
            Sink::Output { stream, .. } => stream.flush(),
        }
    }
}
