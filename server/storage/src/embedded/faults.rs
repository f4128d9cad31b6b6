//! Disk faults that tests inject, and tests of the store's reaction to them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::ffi;

use crate::{Error, Result};

/// What happens to a commit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// The disk reports an error.
    Io,
    /// The disk is full.
    Full,
    /// The writer thread panics.
    Panic,
    /// The commit is delayed by this duration.
    Slow(Duration),
}

/// The faults of the next commits, one each.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<VecDeque<Fault>>);

impl Faults {
    pub(super) fn inject(&self, fault: Fault) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(fault);
    }

    /// Applies the next fault, if any. The writer thread calls it before each commit.
    pub(super) fn apply_next(&self) -> Result<()> {
        let fault = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let failure = |code| Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        match fault {
            None => Ok(()),
            Some(Fault::Io) => Err(failure(ffi::SQLITE_IOERR)),
            Some(Fault::Full) => Err(failure(ffi::SQLITE_FULL)),
            Some(Fault::Panic) => panic!("an injected fault"),
            Some(Fault::Slow(time)) => {
                std::thread::sleep(time);
                Ok(())
            }
        }
    }
}

mod tests {
    use super::*;
    use crate::embedded::space::RESERVE;
    use crate::{EmbeddedStore, Store, Txn, TxnOutcome};
    use tempfile::TempDir;

    async fn open() -> (EmbeddedStore, TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(dir.path()).unwrap();
        store.commit(Txn::create("/a", "1")).await.unwrap();
        (store, dir)
    }

    async fn reads(store: &EmbeddedStore) {
        let read = store.get(b"/a", None).await.unwrap();
        assert_eq!(&read.kv.unwrap().value[..], b"1");
        assert!(store.current_revision().await.is_ok());
    }

    #[tokio::test]
    async fn a_disk_error_is_final() {
        let (store, _dir) = open().await;
        store.condition.faults.inject(Fault::Io);
        let failed = store.commit(Txn::create("/b", "1")).await.unwrap_err();
        assert!(matches!(failed, Error::Failed(_)), "{failed}");
        assert!(matches!(store.commit(Txn::delete("/a")).await, Err(Error::Failed(_))));
        assert!(matches!(store.check_writable(), Err(Error::Failed(_))));
        assert!(matches!(store.failed().await, Error::Failed(_)));
        reads(&store).await;
    }

    #[tokio::test]
    async fn a_panic_of_the_writer_is_final() {
        let (store, _dir) = open().await;
        store.condition.faults.inject(Fault::Panic);
        let failed = store.commit(Txn::create("/b", "1")).await.unwrap_err();
        assert!(matches!(failed, Error::Failed(_) | Error::Closed), "{failed}");
        assert_eq!(
            store.failed().await.to_string(),
            "the store stopped taking writes after a failed commit: the writer thread of the store panicked"
        );
        assert!(matches!(store.check_writable(), Err(Error::Failed(_))));
        assert!(matches!(store.commit(Txn::create("/c", "1")).await, Err(Error::Failed(_))));
    }

    #[tokio::test]
    async fn deletes_are_accepted_when_the_disk_is_full() {
        let (store, dir) = open().await;
        let reserve = dir.path().join(RESERVE);
        assert!(reserve.exists());
        store.condition.faults.inject(Fault::Full);
        let refused = store.commit(Txn::create("/b", "1")).await.unwrap_err();
        assert!(matches!(refused, Error::NoSpace { .. }) && refused.wrote_nothing(), "{refused}");
        assert!(!reserve.exists(), "the reserve is released");
        assert!(matches!(store.check_writable(), Err(Error::NoSpace { .. })));
        reads(&store).await;
        let deleted = store.commit(Txn::delete("/a")).await.unwrap();
        assert!(matches!(deleted, TxnOutcome::Committed { deleted: Some(_), .. }));
        // The disk of this test has free space, which the store detects by itself.
        while store.check_writable().is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        store.commit(Txn::create("/b", "1")).await.unwrap();
        assert!(reserve.exists(), "the reserve is allocated again");
    }

    #[tokio::test]
    async fn a_delete_on_a_full_disk_is_retried_after_the_reserve_is_released() {
        let (store, _dir) = open().await;
        store.condition.faults.inject(Fault::Full);
        let deleted = store.commit(Txn::delete("/a")).await.unwrap();
        assert!(matches!(deleted, TxnOutcome::Committed { deleted: Some(_), .. }));
    }

    #[tokio::test]
    async fn a_hanging_commit_is_reported_and_reads_continue() {
        let (store, _dir) = open().await;
        store.condition.faults.inject(Fault::Slow(Duration::from_secs(4)));
        let write = store.commit(Txn::create("/b", "1"));
        let check = async {
            while !matches!(store.check_writable(), Err(Error::Slow { .. })) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            reads(&store).await;
        };
        let (written, ()) = tokio::join!(write, check);
        written.unwrap();
        assert!(store.check_writable().is_ok());
    }
}
