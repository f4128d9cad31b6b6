//! Encodes samples with function names in the format of `go tool pprof`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use rpprof::{Frames, Symbol, UnresolvedReport};

use super::messages::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};

/// The only mapping: libraries are not distinguished from the program.
const PROGRAM: u64 = 1;

/// Resolves the function names of a report, and encodes and compresses it. Lines within a function
/// are not distinguished: a sample has the line of the function's first sample.
///
/// # Errors
/// Compression fails; not expected for a buffer in memory.
pub(super) fn encode(report: UnresolvedReport) -> io::Result<Vec<u8>> {
    let period = 1_000_000_000 / i64::from(report.timing.frequency.max(1));
    let mut writer = Writer::default();
    writer.begin(period);
    writer.profile.time_nanos =
        nanoseconds(report.timing.start_time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
    writer.profile.duration_nanos = nanoseconds(report.timing.duration);
    if report.missed_samples > 0 {
        let comment = writer.text(&format!("{} samples were missed", report.missed_samples));
        writer.profile.comment.push(comment);
    }
    for (frames, count) in report.data {
        writer.sample(&Frames::from(frames), i64::try_from(count).unwrap_or(i64::MAX), period);
    }
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&writer.profile.encode_to_vec())?;
    out.finish()
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The name of a function with its module path. Line tables have bare names for inlined functions
/// and their callers; for these the file determines the module.
fn qualified_name(symbol: &Symbol) -> String {
    let name = symbol.name();
    let is_bare = ![&b"_ZN"[..], b"_R"].iter().any(|start| symbol.raw_name().starts_with(start));
    match module(&symbol.filename()).filter(|_| is_bare) {
        Some(module) => format!("{module}::{name}"),
        None => name,
    }
}

/// The module of a source file, from its path within the package. The package folder may have a
/// version suffix.
fn module(file: &str) -> Option<String> {
    let (folder, place) = file.strip_suffix(".rs")?.rsplit_once("/src/")?;
    let package = folder.rsplit('/').next()?;
    let is_version = |(_, version): &(&str, &str)| version.starts_with(|c: char| c.is_ascii_digit());
    let package = package.rsplit_once('-').filter(is_version).map_or(package, |(name, _)| name).replace('-', "_");
    let modules = place.split('/').filter(|part| !matches!(*part, "lib" | "main" | "mod"));
    Some(modules.fold(package, |path, part| path + "::" + part))
}

/// A profile under construction, with the indexes of its strings, functions, and locations.
#[derive(Default)]
struct Writer {
    profile: Profile,
    texts: HashMap<String, i64>,
    functions: HashMap<(i64, i64), u64>,
    locations: HashMap<Vec<Line>, u64>,
}

impl Writer {
    /// Declares the value types of the samples.
    fn begin(&mut self, period: i64) {
        self.text("");
        let samples = ValueType { kind: self.text("samples"), unit: self.text("count") };
        let time = ValueType { kind: self.text("cpu"), unit: self.text("nanoseconds") };
        let program = std::env::current_exe().unwrap_or_default();
        let filename = self.text(&program.to_string_lossy());
        self.profile.sample_type = vec![samples, time];
        self.profile.period_type = Some(time);
        self.profile.period = period;
        self.profile.mapping = vec![Mapping {
            id: PROGRAM,
            filename,
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        }];
    }

    fn sample(&mut self, frames: &Frames, count: i64, period: i64) {
        let location_id = frames.frames.iter().map(|symbols| self.location(symbols)).collect();
        let thread = Label { key: self.text("thread"), str: self.text(&frames.thread_name_or_id()) };
        let value = vec![count, count.saturating_mul(period)];
        self.profile.sample.push(Sample { location_id, value, label: vec![thread] });
    }

    fn location(&mut self, symbols: &[Symbol]) -> u64 {
        let line = |symbol| Line { function_id: self.function(symbol), line: symbol.lineno().into() };
        let line: Vec<Line> = symbols.iter().map(line).collect();
        let next = self.locations.len() as u64 + 1;
        let id = *self.locations.entry(line.clone()).or_insert(next);
        if id == next {
            self.profile.location.push(Location { id, mapping_id: PROGRAM, line });
        }
        id
    }

    fn function(&mut self, symbol: &Symbol) -> u64 {
        let (system_name, filename) = (self.text(&symbol.sys_name()), self.text(&symbol.filename()));
        let next = self.functions.len() as u64 + 1;
        let id = *self.functions.entry((system_name, filename)).or_insert(next);
        if id == next {
            let name = self.text(&qualified_name(symbol));
            self.profile.function.push(Function { id, name, system_name, filename });
        }
        id
    }

    fn text(&mut self, text: &str) -> i64 {
        if let Some(position) = self.texts.get(text) {
            return *position;
        }
        let position = self.profile.string_table.len() as i64;
        self.profile.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), position);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, lineno: u32) -> Symbol {
        Symbol { name: Some(name.into()), addr: None, lineno: Some(lineno), filename: Some("a.rs".into()) }
    }

    #[test]
    fn names_have_modules() {
        for (name, file, expect) in [
            ("_ZN1a4hereE", "/x/y/src/z.rs", "a::here"),
            ("poll", "/x/h2-0.4.20/src/proto/streams/mod.rs", "h2::proto::streams::poll"),
            ("{async_fn#0}", "/x/tokio-rustls-0.26.4/src/lib.rs", "tokio_rustls::{async_fn#0}"),
            ("write", "server/serving/src/body.rs", "serving::body::write"),
            ("sqlite3_step", "sqlite3/sqlite3.c", "sqlite3_step"),
            ("memcpy", "Unknown", "memcpy"),
        ] {
            let filename = Some(file.into());
            assert_eq!(qualified_name(&Symbol { filename, ..symbol(name, 1) }), expect);
        }
    }

    #[test]
    fn repeated_entries_are_shared() {
        let stack = |thread: &str, line| Frames {
            frames: vec![vec![symbol("inlined", 1), symbol("_ZN1a4hereE", line)], vec![symbol("main", 9)]],
            thread_name: thread.into(),
            thread_id: 1,
            sample_timestamp: SystemTime::UNIX_EPOCH,
        };
        let mut writer = Writer::default();
        writer.begin(10);
        for (thread, line) in [("main", 2), ("worker", 3), ("worker", 2)] {
            writer.sample(&stack(thread, line), 4, 10);
        }
        let profile = writer.profile;
        let stacks: Vec<&[u64]> = profile.sample.iter().map(|sample| &*sample.location_id).collect();
        assert_eq!(stacks, [[1, 2], [3, 2], [1, 2]]);
        assert_eq!(profile.sample[0].value, [4, 40]);
        let text = |position: i64| &*profile.string_table[usize::try_from(position).unwrap()];
        let functions: Vec<(&str, &str)> =
            profile.function.iter().map(|f| (text(f.name), text(f.system_name))).collect();
        assert_eq!(functions, [("inlined", "inlined"), ("a::here", "_ZN1a4hereE"), ("main", "main")]);
        let lines: Vec<(u64, i64)> = profile.location[0].line.iter().map(|l| (l.function_id, l.line)).collect();
        assert_eq!(lines, [(1, 1), (2, 2)]);
        assert_eq!((text(0), text(profile.sample[1].label[0].str)), ("", "worker"));
    }
}
