//! The tables of an embedded store and the set-up of its connections.
//!
//! `history` has a row for each write that is kept, in order of time, so that a commit appends.
//! `current` has a row for each key that exists or has its delete in the history, with its newest
//! write. `prev_id` links to the older ones. This suffices for a read at any revision and costs one
//! random page per write. A write has the number of `write_id`: its revision and its position within
//! the revision, because a transaction can change several keys at one revision.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::directory::{Directory, database, foreign};
use crate::{Error, Result};

/// Identifies the file as a store of this program ("k8st") in SQLite's header.
const APPLICATION_ID: u32 = 0x6b38_7374;
/// The version of the table layout. A change that older programs cannot read increments it.
const FORMAT: u32 = 2;
/// The layout before leases and transactions of several keys. The writer converts it.
const OLD_FORMAT: u32 = 1;

const CREATE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE).union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

const TABLES: &str = "
CREATE TABLE history (
    id              INTEGER PRIMARY KEY,
    prev_id         INTEGER NOT NULL, -- of the same key; 0 for none
    create_revision INTEGER NOT NULL, -- 0 for a delete
    version         INTEGER NOT NULL, -- 0 for a delete
    checksum        INTEGER NOT NULL,
    lease           INTEGER NOT NULL, -- 0 for none
    key             BLOB NOT NULL,
    value           BLOB NOT NULL
) STRICT;
CREATE TABLE current (
    key        BLOB PRIMARY KEY,
    id         INTEGER NOT NULL,
    live       INTEGER NOT NULL, -- 0 for a delete
    expires_at INTEGER,          -- Unix milliseconds
    lease      INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX current_by_expiry ON current (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX current_by_lease ON current (lease) WHERE lease IS NOT NULL;
CREATE TABLE lease (
    id  INTEGER PRIMARY KEY,
    ttl INTEGER NOT NULL -- seconds
) STRICT;
CREATE TABLE alarm (
    member INTEGER NOT NULL,
    kind   INTEGER NOT NULL,
    PRIMARY KEY (member, kind)
) STRICT, WITHOUT ROWID;
";

const COMPACTION: &str = "
CREATE TABLE compaction (
    id        INTEGER PRIMARY KEY CHECK (id = 0),
    compacted INTEGER NOT NULL, -- reads and watches below this revision are refused
    purged    INTEGER NOT NULL  -- invisible rows have been removed before this write
) STRICT;
INSERT INTO compaction VALUES (0, 0, 0);
";

/// Converts the tables of the old format. `<< 24` makes the number of a write of a revision.
const BEFORE_CONVERSION: &str = "
ALTER TABLE history RENAME TO old_history;
ALTER TABLE current RENAME TO old_current;
DROP INDEX current_by_expiry;
";
const CONVERSION: &str = "
INSERT INTO history
    SELECT revision << 24, prev_revision << 24, create_revision, version, checksum, 0, key, value
    FROM old_history ORDER BY revision;
INSERT INTO current SELECT key, revision << 24, live, expires_at, NULL FROM old_current ORDER BY key;
DROP TABLE old_history;
DROP TABLE old_current;
UPDATE compaction SET purged = (purged + 1) << 24;
";

/// Opens the database for the writer. Creates the tables when it is new.
pub(super) fn open(directory: &Directory, durable: bool) -> Result<Connection> {
    Directory::create_private(&directory.database())?;
    let mut connection = Connection::open_with_flags(directory.database(), CREATE)?;
    let layout = layout(&connection, directory.path())?;
    // One fsync of the log per commit, none per table page; a checkpoint every 16 MiB of log.
    let synchronous = if durable { "FULL" } else { "OFF" };
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 4000;
         PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192;",
    ))?;
    configure(&connection)?;
    match layout {
        Layout::New => create(&mut connection)?,
        Layout::Old => convert(&mut connection)?,
        Layout::Current => {}
    }
    Ok(connection)
}

/// Creates a database that is durable only after it is closed and synced, for a restore.
pub(super) fn create_unsafe(path: &Path) -> Result<Connection> {
    Directory::create_private(path)?;
    let mut connection = Connection::open_with_flags(path, CREATE)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;")?;
    configure(&connection)?;
    create(&mut connection)?;
    Ok(connection)
}

/// Opens the database of the store in a directory for reading; another process may have the store open.
pub(super) fn open_existing(dir: &Path) -> Result<Connection> {
    let path = database(dir);
    if !path.exists() {
        return Err(foreign(dir, "it has no store.db"));
    }
    let connection = open_reader(&path)?;
    match layout(&connection, dir)? {
        Layout::New => Err(foreign(dir, "its store.db is empty")),
        Layout::Old => Err(Error::UnsupportedFormat { dir: dir.to_owned(), found: OLD_FORMAT, supported: FORMAT }),
        Layout::Current => Ok(connection),
    }
}

/// Opens the database for reading, while the writer has it open.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA cache_size = -1024;")?;
    configure(&connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> Result<()> {
    connection.busy_timeout(Duration::from_secs(10))?; // readers wait only during the recovery of the log after a crash
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Otherwise SQLite plans a statement again for each bound key, because the partial index might apply.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// The tables of a database of this program.
enum Layout {
    /// There are none yet.
    New,
    /// Those of the old format.
    Old,
    Current,
}

/// Returns which tables the database has; an error when they belong to another program.
fn layout(connection: &Connection, dir: &Path) -> Result<Layout> {
    match identify(connection).map_err(|error| not_a_database(dir, error))? {
        Identity::Ours => Ok(Layout::Current),
        Identity::New => Ok(Layout::New),
        Identity::OtherFormat(OLD_FORMAT) => Ok(Layout::Old),
        Identity::Foreign(reason) => Err(foreign(dir, reason)),
        Identity::OtherFormat(found) => Err(Error::UnsupportedFormat { dir: dir.to_owned(), found, supported: FORMAT }),
    }
}

enum Identity {
    Ours,
    New,
    Foreign(String),
    OtherFormat(u32),
}

fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (pragma("application_id")?, pragma("user_version")?, tables) {
        (APPLICATION_ID, FORMAT, _) => Identity::Ours,
        (APPLICATION_ID, found, _) => Identity::OtherFormat(found),
        (0, 0, 0) => Identity::New,
        (id, ..) => Identity::Foreign(format!("its database belongs to another program (application id {id:#x})")),
    })
}

fn not_a_database(dir: &Path, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            foreign(dir, "its store.db is not a database, or its header is damaged")
        }
        _ => error.into(),
    }
}

/// Creates the tables in one transaction. A crash leaves either a complete store or a new file.
fn create(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(COMPACTION)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}

/// Converts a database of the old format, in one transaction.
fn convert(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction()?;
    for script in [BEFORE_CONVERSION, TABLES, CONVERSION] {
        transaction.execute_batch(script)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}
