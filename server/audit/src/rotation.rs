//! A log file with rotation by size; rotated files are compressed and removed.
//!
//! The names of rotated files are those of upstream's library (lumberjack): `audit.log` is renamed to
//! `audit-2026-01-31T23-59-59.000.log`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use machinery::scalar::MicroTime;
use options::AuditRotation;

use crate::append::append_to;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The length of a timestamp in a file name.
const STAMP: usize = "2026-01-31T23-59-59.000".len();
const COMPRESSED: &str = ".gz";

/// A file that is rotated when it reaches its maximum size.
pub(super) struct RotatingFile {
    path: PathBuf,
    rotation: AuditRotation,
    file: File,
    size: u64,
    /// Locked during cleanup, so that two threads do not compress the same file.
    cleanup: Arc<Mutex<()>>,
}

impl RotatingFile {
    pub fn open(path: &Path, rotation: AuditRotation) -> io::Result<Self> {
        let file = append_to(path)?;
        let size = file.metadata()?.len();
        let rotated = RotatingFile { path: path.to_owned(), rotation, file, size, cleanup: Arc::default() };
        rotated.start_cleanup();
        Ok(rotated)
    }

    /// Renames the current file and opens a new one.
    fn rotate(&mut self) -> io::Result<()> {
        let (stem, extension) = parts(&self.path);
        fs::rename(&self.path, self.path.with_file_name(format!("{stem}-{}{extension}", stamp(SystemTime::now()))))?;
        self.file = append_to(&self.path)?;
        self.size = 0;
        self.start_cleanup();
        Ok(())
    }

    /// Compresses and removes rotated files in a separate thread.
    fn start_cleanup(&self) {
        let (path, rotation, cleanup) = (self.path.clone(), self.rotation.clone(), self.cleanup.clone());
        std::thread::spawn(move || {
            let _guard = cleanup.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(why) = clean_up(&path, &rotation, SystemTime::now()) {
                tracing::warn!(path = %path.display(), %why, "cannot compress or remove rotated audit log files");
            }
        });
    }
}

impl Write for RotatingFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = line.len() as u64;
        if length > self.rotation.max_bytes {
            let most = self.rotation.max_bytes;
            return Err(io::Error::other(format!("write length {length} exceeds maximum file size {most}")));
        }
        if self.size + length > self.rotation.max_bytes {
            self.rotate()?;
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Splits the name of a file into the parts before and after the timestamp.
fn parts(path: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    (text(path.file_stem()), extension)
}

/// Formats the timestamp of a file name, in UTC. Timestamps sort chronologically.
fn stamp(time: SystemTime) -> String {
    MicroTime::from(time).to_string().chars().take(STAMP).map(|c| if c == ':' { '-' } else { c }).collect()
}

/// Returns the timestamp in the name of a rotated file.
fn stamp_of<'n>(name: &'n str, stem: &str, extension: &str) -> Option<&'n str> {
    let name = name.strip_suffix(COMPRESSED).unwrap_or(name);
    let stamp = name.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(extension)?;
    let is_stamp = stamp.len() == STAMP && stamp.bytes().all(|b| b.is_ascii_digit() || b"-T.".contains(&b));
    is_stamp.then_some(stamp)
}

/// Removes rotated files beyond the limits of number and age, and compresses the others.
fn clean_up(path: &Path, rotation: &AuditRotation, now: SystemTime) -> io::Result<()> {
    let (stem, extension) = parts(path);
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut old: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(stamp) = stamp_of(&entry.file_name().to_string_lossy(), &stem, &extension) {
            old.push((stamp.to_owned(), entry.path()));
        }
    }
    old.sort_by(|a, b| b.cmp(a));
    let oldest = rotation.max_age_days.and_then(|days| now.checked_sub(DAY * days)).map(stamp);
    let many = rotation.max_backups.unwrap_or(usize::MAX);
    for (i, (stamp, file)) in old.iter().enumerate() {
        if i >= many || oldest.as_ref().is_some_and(|oldest| stamp < oldest) {
            fs::remove_file(file)?;
        } else if rotation.compress && !file.to_string_lossy().ends_with(COMPRESSED) {
            compress(file)?;
        }
    }
    Ok(())
}

fn compress(file: &Path) -> io::Result<()> {
    let mut name = OsString::from(file);
    name.push(COMPRESSED);
    let mut encoder = GzEncoder::new(append_to(Path::new(&name))?, Compression::default());
    io::copy(&mut File::open(file)?, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::remove_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn rotates_full_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/audit.log");
        let rotation = AuditRotation { max_bytes: 10, max_age_days: None, max_backups: None, compress: false };
        let mut log = RotatingFile::open(&path, rotation.clone()).unwrap();
        for line in ["one\n", "two\n", "three\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        assert!(log.write_all(b"far too long").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        let names = names(path.parent().unwrap());
        assert!(stamp_of(&names[0], "audit", ".log").is_some(), "{names:?}");
        assert_eq!(fs::read_to_string(path.with_file_name(&names[0])).unwrap(), "one\ntwo\n");
        // A restarted server appends to the file.
        RotatingFile::open(&path, rotation).unwrap().write_all(b"four\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "four\n");
    }

    #[test]
    fn compresses_and_removes_rotated_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let now = SystemTime::UNIX_EPOCH + DAY * 20_000;
        let aged = |days: u32, end: &str| {
            fs::write(folder.path().join(format!("audit-{}.log{end}", stamp(now - DAY * days))), "x").unwrap();
        };
        for (days, end) in [(1, ""), (2, ".gz"), (3, ""), (9, "")] {
            aged(days, end);
        }
        fs::write(folder.path().join("audit-notes.log"), "kept").unwrap();
        let rotation = AuditRotation { max_bytes: 1, max_age_days: Some(5), max_backups: Some(2), compress: true };
        clean_up(&path, &rotation, now).unwrap();
        let kept = names(folder.path());
        let expect = [1, 2].map(|days| format!("audit-{}.log.gz", stamp(now - DAY * days)));
        assert_eq!(kept, [expect[1].as_str(), &expect[0], "audit-notes.log"]);
        let mut text = String::new();
        let file = File::open(folder.path().join(&expect[0])).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }
}
