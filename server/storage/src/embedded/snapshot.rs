//! Saving an embedded store while it runs, and restoring one.

use std::path::Path;

use rusqlite::Connection;

use super::{directory::Directory, read::ReadTransaction, row::HistoryRow, schema};
use crate::{
    Result, Revision,
    snapshot::{SnapshotEntry, SnapshotReader, SnapshotWriter, Summary},
};

/// Writes the contents of the store in `dir` to `file`. The store may be open, in any process.
pub(super) fn save(dir: &Path, file: &Path) -> Result<Summary> {
    let mut connection = schema::open_existing(dir)?;
    let transaction = connection.transaction()?;
    let snapshot = ReadTransaction::new(&transaction)?;
    let mut writer = SnapshotWriter::create(file, snapshot.revision())?;
    snapshot.visit_live(|row, expires_at| writer.push(&SnapshotEntry { kv: row.kv, expires_at }))?;
    writer.finish()
}

/// Creates a store from `file` in `dir`, which must not have one.
pub(super) fn restore(dir: &Path, file: &Path) -> Result<Summary> {
    let (mut reader, summary) = SnapshotReader::open(file)?;
    let directory = Directory::lock_empty(dir)?;
    let unfinished = directory.unfinished();
    let mut connection = schema::create_unsafe(&unfinished)?;
    fill(&mut connection, &mut reader, summary.revision)?;
    connection.close().map_err(|(_, error)| error)?;
    directory.place_unfinished()?;
    Ok(summary)
}

fn fill(connection: &mut Connection, reader: &mut SnapshotReader, revision: Revision) -> Result<()> {
    let transaction = connection.transaction()?;
    let mut last = revision;
    while let Some(SnapshotEntry { kv, expires_at }) = reader.next()? {
        let mut row = HistoryRow { prev_revision: 0, kv };
        // etcd can change several keys in one revision. Here each change has its own, so the others get
        // higher ones.
        if HistoryRow::load(&transaction, row.kv.mod_revision)?.is_some() {
            last += 1;
            row.kv.mod_revision = last;
        }
        row.insert(&transaction)?;
        row.make_current(&transaction, expires_at)?;
    }
    transaction.execute("UPDATE compaction SET compacted = ?1, purged = ?1", [last])?;
    transaction.commit()?;
    Ok(())
}
