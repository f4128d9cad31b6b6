//! Transactions of several keys (etcd's `txn.Txn`), within one database transaction of the writer.

use bytes::Bytes;

use super::{
    apply::{Changes, Write, execute},
    leases,
    read::{ReadTransaction, Revisions, newest},
    row::HistoryRow,
    write_id::{MOST_WRITES, WriteId},
};
use crate::{
    Error, KeyRange, KeyValue, LeaseId, Result,
    model::{DeleteRange, DeleteResult, Put, PutResult, RangeQuery, Request, Response, Transaction, TransactionResult},
};

/// A request whose comparisons have been decided.
enum Step<'a> {
    Range(&'a RangeQuery),
    Put(&'a Put),
    Delete(&'a DeleteRange),
    Transaction { succeeded: bool, steps: Vec<Step<'a>> },
}

impl Step<'_> {
    /// The number of writes; a removal counts as several.
    fn writes(&self) -> usize {
        match self {
            Step::Range(_) => 0,
            Step::Put(_) => 1,
            Step::Delete(delete) => {
                if delete.range.single().is_some() {
                    1
                } else {
                    2
                }
            }
            Step::Transaction { steps, .. } => steps.iter().map(Step::writes).sum(),
        }
    }
}

impl Changes<'_> {
    /// Carries out a request, all of it at one revision. After an error nothing of it is written, unless
    /// [`Changes::is_broken`].
    pub(super) fn transact(&mut self, request: &Request) -> Result<Response> {
        let step = self.checked(request)?;
        // One write is complete or has not begun. Several have to be undone together.
        match step.writes() {
            0 | 1 => Batch::new(self).run(&step),
            _ => self.all_or_nothing(|changes| Batch::new(changes).run(&step)),
        }
    }

    /// Removes the keys of a lease at one revision, and the lease. The errors are those of
    /// [`Changes::transact`].
    pub(super) fn revoke(&mut self, id: LeaseId) -> Result<()> {
        if leases::ttl(self.connection, id)?.is_none() {
            return Err(Error::LeaseNotFound);
        }
        self.all_or_nothing(|changes| {
            let keys = leases::keys(changes.connection, id)?;
            let mut batch = Batch::new(changes);
            for key in keys {
                if let Some(row) = newest(batch.changes.connection, &key)? {
                    batch.delete(row)?;
                }
            }
            let removed = leases::remove(changes.connection, id);
            changes.noted(removed)
        })
    }

    /// Undoes what a function has written when it fails.
    fn all_or_nothing<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let (state, events) = (self.state, self.events.len());
        self.savepoint("SAVEPOINT request")?;
        let outcome = write(self);
        if self.is_broken {
            return outcome; // the whole database transaction is rolled back
        }
        if outcome.is_err() {
            self.savepoint("ROLLBACK TO request")?;
            self.state = state;
            self.events.truncate(events);
        }
        self.savepoint("RELEASE request")?;
        outcome
    }

    fn savepoint(&mut self, sql: &str) -> Result<()> {
        let executed = execute(self.connection, sql, ());
        self.noted(executed)
    }

    fn snapshot(&self, state: Revisions) -> ReadTransaction<'_> {
        ReadTransaction::of_writer(self.connection, state)
    }

    fn checked<'r>(&self, request: &'r Request) -> Result<Step<'r>> {
        let step = self.snapshot(self.state).plan(request)?;
        if let Step::Put(put) = step {
            self.check_lease(put)?; // etcd checks it first, outside of transactions
        }
        self.check(&step)?;
        Ok(step)
    }

    /// Makes the checks that must not fail half-way (`checkTxn`).
    fn check(&self, step: &Step<'_>) -> Result<()> {
        match step {
            Step::Range(query) => self.state.at(query.revision).map(drop),
            Step::Put(put) => self.check_put(put),
            Step::Delete(_) => Ok(()),
            Step::Transaction { steps, .. } => steps.iter().try_for_each(|step| self.check(step)),
        }
    }

    fn check_put(&self, put: &Put) -> Result<()> {
        if (put.ignore_value || put.ignore_lease) && live(newest(self.connection, &put.key)?).is_none() {
            return Err(Error::KeyNotFound);
        }
        self.check_lease(put)
    }

    fn check_lease(&self, put: &Put) -> Result<()> {
        if put.lease != 0 && leases::ttl(self.connection, put.lease)?.is_none() {
            return Err(Error::LeaseNotFound);
        }
        Ok(())
    }
}

impl ReadTransaction<'_> {
    /// Decides on all comparisons, nested ones included, before anything is written (`compareToPath`).
    fn plan<'a>(&self, request: &'a Request) -> Result<Step<'a>> {
        Ok(match request {
            Request::Range(query) => Step::Range(query),
            Request::Put(put) => Step::Put(put),
            Request::Delete(delete) => Step::Delete(delete),
            Request::Transaction(Transaction { compare, success, failure }) => {
                let succeeded = self.passes(compare)?;
                let requests = if succeeded { success } else { failure };
                let steps = requests.iter().map(|request| self.plan(request)).collect::<Result<_>>()?;
                Step::Transaction { succeeded, steps }
            }
        })
    }

    /// Carries out a transaction that writes nothing.
    pub(super) fn read_only(&self, request: &Request) -> Result<Response> {
        self.read_step(&self.plan(request)?)
    }

    fn read_step(&self, step: &Step<'_>) -> Result<Response> {
        match step {
            Step::Range(query) => self.query(query).map(Response::Range),
            Step::Put(_) | Step::Delete(_) => Err(Error::Closed), // the caller sends these to the writer
            Step::Transaction { succeeded, steps } => {
                let responses = steps.iter().map(|step| self.read_step(step)).collect::<Result<_>>()?;
                let revision = self.revision();
                Ok(Response::Transaction(TransactionResult { succeeded: *succeeded, responses, revision }))
            }
        }
    }
}

/// The writes of one revision.
struct Batch<'b, 'c> {
    changes: &'b mut Changes<'c>,
    /// The first write of the revision.
    first: WriteId,
    written: u64,
}

impl<'b, 'c> Batch<'b, 'c> {
    fn new(changes: &'b mut Changes<'c>) -> Self {
        let first = WriteId::first(changes.state.revision + 1);
        Self { changes, first, written: 0 }
    }

    fn run(&mut self, step: &Step<'_>) -> Result<Response> {
        Ok(match step {
            Step::Range(query) => Response::Range(self.changes.snapshot(self.changes.state).query(query)?),
            Step::Put(put) => Response::Put(self.put(put)?),
            Step::Delete(delete) => Response::Delete(self.delete_range(delete)?),
            Step::Transaction { succeeded, steps } => {
                let responses = steps.iter().map(|step| self.run(step)).collect::<Result<_>>()?;
                let revision = self.changes.state.revision;
                Response::Transaction(TransactionResult { succeeded: *succeeded, responses, revision })
            }
        })
    }

    fn put(&mut self, put: &Put) -> Result<PutResult> {
        let replaced = newest(self.changes.connection, &put.key)?;
        let before = replaced.as_ref().filter(|row| row.is_live()).map(|row| &row.kv);
        let value =
            if put.ignore_value { before.map_or(Bytes::new(), |kv| kv.value.clone()) } else { put.value.clone() };
        let lease = if put.ignore_lease { before.map_or(0, |kv| kv.lease) } else { put.lease };
        self.changes.room.admit(value.len(), before.map(|kv| kv.value.len()))?;
        let prev = if put.prev_kv { before.cloned() } else { None };
        let row = HistoryRow::put(self.next_id()?, put.key.clone(), value, lease, replaced.as_ref());
        self.write(Write { row, replaced, expires_at: None })?;
        Ok(PutResult { prev, revision: self.first.revision() })
    }

    fn delete_range(&mut self, delete: &DeleteRange) -> Result<DeleteResult> {
        let rows = self.rows(&delete.range)?;
        let deleted = rows.len() as u64;
        let mut prev: Vec<KeyValue> = Vec::new();
        for row in rows {
            if delete.prev_kv {
                prev.push(row.kv.clone());
            }
            self.delete(row)?;
        }
        Ok(DeleteResult { deleted, prev, revision: self.changes.state.revision })
    }

    /// The existing keys of a range.
    fn rows(&self, range: &KeyRange) -> Result<Vec<HistoryRow>> {
        if let Some(key) = range.single() {
            return Ok(live(newest(self.changes.connection, key)?).into_iter().collect());
        }
        let mut rows = Vec::new();
        self.changes.snapshot(self.changes.state).scan(range, |row| {
            rows.extend(live(Some(row)));
            Ok(true)
        })?;
        Ok(rows)
    }

    fn delete(&mut self, row: HistoryRow) -> Result<()> {
        let deleted = HistoryRow::delete(self.next_id()?, &row);
        self.write(Write { row: deleted, replaced: Some(row), expires_at: None })
    }

    fn write(&mut self, write: Write) -> Result<()> {
        self.changes.write(write)?;
        self.written += 1;
        Ok(())
    }

    fn next_id(&self) -> Result<WriteId> {
        match self.written {
            MOST_WRITES.. => Err(Error::TooManyWrites { limit: MOST_WRITES }),
            written => Ok(self.first.at(written)),
        }
    }
}

fn live(row: Option<HistoryRow>) -> Option<HistoryRow> {
    row.filter(HistoryRow::is_live)
}
