//! Incomplete and damaged snapshot files are refused.

use std::path::PathBuf;

use super::{SnapshotEntry, SnapshotReader, SnapshotWriter, status};
use crate::KeyValue;

fn entry(i: u64) -> SnapshotEntry {
    let kv = KeyValue {
        key: format!("/registry/pods/{i}").into(),
        value: vec![i as u8; i as usize * 100].into(),
        create_revision: i + 1,
        mod_revision: i + 2,
        version: 2,
        ..KeyValue::default()
    };
    SnapshotEntry { kv, expires_at: (i % 2 == 1).then_some(i) }
}

fn write(entries: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshot");
    let mut writer = SnapshotWriter::create(&file, 100).unwrap();
    for i in 0..entries {
        writer.push(&entry(i)).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!((summary.revision, summary.keys), (100, entries));
    assert_eq!(status(&file).unwrap(), summary);
    (folder, file)
}

#[test]
fn written_entries_are_read_back() {
    for entries in [0, 10] {
        let (_folder, file) = write(entries);
        let (mut reader, _) = SnapshotReader::open(&file).unwrap();
        let read: Vec<_> = std::iter::from_fn(|| reader.next().unwrap()).collect();
        assert_eq!(read, (0..entries).map(entry).collect::<Vec<_>>());
    }
}

#[test]
fn every_flipped_bit_and_missing_byte_is_detected() {
    let (_folder, file) = write(3);
    let whole = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        status(&file).unwrap_err().to_string()
    };
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        refused(&flipped);
        refused(&whole[..at]);
    }
    assert!(refused(&[&whole[..], b"x"].concat()).ends_with("it is damaged: something follows its end"));
    assert!(refused(&whole[..whole.len() - 1]).ends_with("it is damaged: it is cut short"));
    assert!(refused(b"").ends_with("it is not a snapshot of this program"));
    let mut newer = whole.clone();
    newer[24] = 9;
    assert!(refused(&newer).ends_with("it has snapshot format 9; this program reads format 1"));
}

#[test]
fn an_unfinished_snapshot_does_not_have_its_final_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshot");
    let mut writer = SnapshotWriter::create(&file, 100).unwrap();
    writer.push(&entry(1)).unwrap();
    drop(writer);
    assert!(!file.exists());
}
