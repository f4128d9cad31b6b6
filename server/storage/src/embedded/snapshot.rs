//! Saving an embedded store while it runs, and restoring one.

use std::path::Path;

use rusqlite::Connection;

use super::{directory::Directory, read::ReadTransaction, row::HistoryRow, schema, write_id::WriteId};
use crate::{
    Result, Revision,
    clock::unix_millis,
    snapshot::{SnapshotEntry, SnapshotReader, SnapshotWriter, Summary},
};

/// Writes the contents of the store in `dir` to `file`. The store may be open, in any process.
pub(super) fn save(dir: &Path, file: &Path) -> Result<Summary> {
    let mut connection = schema::open_existing(dir)?;
    let transaction = connection.transaction()?;
    let snapshot = ReadTransaction::new(&transaction)?;
    let mut writer = SnapshotWriter::create(file, snapshot.revision())?;
    snapshot.visit_live(unix_millis(), |row, expires_at| writer.push(&SnapshotEntry { kv: row.kv, expires_at }))?;
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
    while let Some(SnapshotEntry { kv, expires_at }) = reader.next()? {
        let id = free_id(&transaction, kv.mod_revision)?;
        let row = HistoryRow { id, prev: WriteId::NONE, kv };
        row.insert(&transaction)?;
        row.make_current(&transaction, expires_at)?;
    }
    let purged = WriteId::first(revision + 1);
    transaction.execute("UPDATE compaction SET compacted = ?1, purged = ?2", (revision, purged))?;
    transaction.commit()?;
    Ok(())
}

/// Returns the first number that no write of a revision has. A transaction can have written several keys.
fn free_id(connection: &Connection, revision: Revision) -> Result<WriteId> {
    let mut last = connection.prepare_cached("SELECT max(id) FROM history WHERE id BETWEEN ?1 AND ?2")?;
    let of_revision = (WriteId::first(revision), WriteId::last(revision));
    let last: Option<WriteId> = last.query_row(of_revision, |row| row.get(0))?;
    Ok(last.map_or(WriteId::first(revision), WriteId::next))
}
