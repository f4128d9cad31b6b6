//! The formats of log lines: klog's text, and JSON (upstream: `klog.InfoS`,
//! `component-base/logs/json`).

use std::fmt::{self, Write};

use machinery::scalar::go_text::quote;
use options::LogFormat;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::threshold::verbosity_of;

/// Writes lines in one of the formats.
pub(super) struct LineFormat {
    format: LogFormat,
    process: u32,
}

impl LineFormat {
    pub(super) fn new(format: LogFormat) -> Self {
        LineFormat { format, process: std::process::id() }
    }

    fn line(&self, metadata: &Metadata<'_>, fields: &Fields, now: OffsetDateTime) -> String {
        match self.format {
            LogFormat::Text => text(metadata, fields, now, self.process),
            LogFormat::Json => json(metadata, fields, now),
        }
    }
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        writer.write_str(&self.line(event.metadata(), &fields, OffsetDateTime::now_utc()))
    }
}

/// The message of a line and its fields, in order.
#[derive(Default)]
struct Fields {
    message: String,
    values: Vec<(&'static str, Value)>,
}

impl Fields {
    /// The field `error` is named `err` in Kubernetes' logs.
    fn push(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            ("error", value) => self.values.push(("err", value)),
            (name, value) => self.values.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, Value::String(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.push(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, value.into());
    }
}

/// The last `parts` of the path of the source file, and the line number.
fn caller(metadata: &Metadata<'_>, parts: usize) -> String {
    let file = metadata.file().unwrap_or("???");
    let begin = file.rmatch_indices('/').nth(parts - 1).map_or(0, |(slash, _)| slash + 1);
    format!("{}:{}", &file[begin..], metadata.line().unwrap_or(1))
}

/// `I1122 07:04:05.678901    4242 server.rs:17] "Serving" address="127.0.0.1:6443"`, in UTC.
fn text(metadata: &Metadata<'_>, fields: &Fields, now: OffsetDateTime, process: u32) -> String {
    let severity = match *metadata.level() {
        Level::ERROR => 'E',
        Level::WARN => 'W',
        _ => 'I',
    };
    let (month, day, hour, minute, second) = (u8::from(now.month()), now.day(), now.hour(), now.minute(), now.second());
    let mut line = format!(
        "{severity}{month:02}{day:02} {hour:02}:{minute:02}:{second:02}.{:06} {process:>7} {}] {}",
        now.microsecond(),
        caller(metadata, 1),
        quote(&fields.message)
    );
    for (name, value) in &fields.values {
        // Writing to a string cannot fail.
        let _ = match value {
            Value::String(text) => write!(line, " {name}={}", quote(text)),
            other => write!(line, " {name}={other}"),
        };
    }
    line.push('\n');
    line
}

/// `{"ts":1763795045678.901,"caller":"src/server.rs:17","msg":"Serving","v":0,"address":"127.0.0.1:6443"}`
fn json(metadata: &Metadata<'_>, fields: &Fields, now: OffsetDateTime) -> String {
    let mut line = Map::new();
    let millis = now.unix_timestamp_nanos() as f64 / 1e6;
    line.insert("ts".into(), millis.into());
    line.insert("caller".into(), caller(metadata, 2).into());
    line.insert("msg".into(), fields.message.clone().into());
    // Errors have no verbosity: they are always written.
    if *metadata.level() != Level::ERROR {
        line.insert("v".into(), verbosity_of(metadata).into());
    }
    line.extend(fields.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    format!("{}\n", Value::Object(line))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use tracing_subscriber::layer::SubscriberExt;

    /// Captures log lines.
    #[derive(Clone, Default)]
    struct CapturedLog(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for CapturedLog {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, log: impl FnOnce()) -> String {
        let captured = CapturedLog::default();
        let writer = captured.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(LineFormat { format, process: 42 })
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let bytes = captured.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_format_is_klogs() {
        let line = logged(LogFormat::Text, || tracing::warn!(count = 3, name = "a \"b\"", "two\nlines"));
        let (head, rest) = line.split_once("] ").unwrap();
        let head = regex::Regex::new(r"^W\d{4} \d\d:\d\d:\d\d\.\d{6}      42 format\.rs:\d+$").unwrap().is_match(head);
        assert!(head && rest == "\"two\\nlines\" count=3 name=\"a \\\"b\\\"\"\n", "{line}");
    }

    #[test]
    fn json_format_is_one_object_per_line() {
        let line = logged(LogFormat::Json, || tracing::debug!(error = %"gone", on = true, "ended"));
        let begin = regex::Regex::new(r#"^\{"ts":\d{13}\.\d+,"caller":"logging/format\.rs:\d+","msg":"ended","v":4,"#);
        assert!(begin.unwrap().is_match(&line) && line.ends_with("\"err\":\"gone\",\"on\":true}\n"), "{line}");
        assert!(!logged(LogFormat::Json, || tracing::error!("ended")).contains("\"v\""));
    }
}
