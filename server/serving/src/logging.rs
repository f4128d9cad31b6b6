//! Where log lines go and which are written.

use std::io::IsTerminal;

use tracing::Level;

/// Writes log lines to standard error; `verbosity` is that of `-v`, in klog's scale.
pub fn init(verbosity: u8) {
    let level = match verbosity {
        0..=3 => Level::INFO,
        4..=5 => Level::DEBUG,
        _ => Level::TRACE,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // A program that embeds the server may log elsewhere already.
    let _ = subscriber.try_init();
}
