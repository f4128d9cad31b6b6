//! The contract of every store, as tests of `&dyn Store`.
//!
//! Each test uses keys below the prefix named after it, and compares revisions with each other, never
//! with numbers. So the suite also runs on a shared etcd.

pub mod compaction;
pub mod leases;
pub mod reads;
pub mod watches;
pub mod writes;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use storage::{Error, Event, KeyValue, Revision, Store, Txn, TxnOutcome, Watch, WatchBatch};

/// Runs the whole suite on the stores that `$open` creates: an `async fn() -> (impl Store, guard)`.
/// Every test gets the given attributes, such as `#[needs(etcd)]`.
macro_rules! contract_suite {
    ($(#[$attribute:meta])* $open:ident) => {
        contract_suite! { [$(#[$attribute])*] $open:
            reads::a_missing_key_is_absent
            reads::a_key_has_its_history
            reads::old_revisions_can_be_read
            reads::future_revisions_are_refused
            reads::a_list_is_ordered_and_confined_to_its_range
            reads::a_list_is_paged_at_one_revision
            reads::a_list_at_a_revision_undoes_later_changes
            reads::count_counts_the_range
            reads::any_bytes_can_be_stored
            writes::creating_twice_conflicts
            writes::updates_compare_the_revision
            writes::deletes_compare_the_revision_and_return_what_was_there
            writes::deleting_nothing_takes_no_revision
            writes::a_key_restarts_its_history_after_a_delete
            writes::a_conflict_leaves_no_trace
            writes::an_empty_key_is_refused
            writes::one_of_many_concurrent_updates_wins
            writes::revisions_order_concurrent_writes
            watches::a_watch_from_now_gets_later_events
            watches::a_watch_from_a_revision_replays_history
            watches::a_watch_resumes_under_load_without_gaps_or_repetitions
            watches::a_watch_from_the_future_waits
            watches::a_watch_is_confined_to_its_range
            watches::events_carry_the_previous_value
            watches::all_watchers_see_the_same_order
            watches::progress_is_sent_on_request
            watches::progress_never_overtakes_events
            compaction::compacted_revisions_are_refused
            compaction::compaction_keeps_the_current_state
            compaction::a_watch_from_a_compacted_revision_is_refused
            compaction::a_watch_that_is_up_to_date_survives_compaction
            compaction::a_revision_is_compacted_once
            compaction::revisions_go_on_after_compacting_a_delete
            leases::a_key_with_a_lease_is_deleted
            leases::writing_again_without_a_lease_keeps_the_key
            leases::writing_again_with_a_lease_prolongs_it
        }
    };
    ($attributes:tt $open:ident: $($area:ident::$fact:ident)*) => {
        $(contract_suite! { $attributes $open, $area::$fact })*
    };
    ([$(#[$attribute:meta])*] $open:ident, $area:ident::$fact:ident) => {
        $(#[$attribute])*
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $fact() {
            let (store, _guard) = $open().await;
            contract::$area::$fact(&store).await;
        }
    };
}

/// Commits a transaction that must succeed.
pub async fn commit(store: &dyn Store, txn: Txn) -> Revision {
    match store.commit(txn.clone()).await {
        Ok(TxnOutcome::Committed { revision, .. }) => revision,
        other => panic!("{txn:?} was not committed: {other:?}"),
    }
}

pub async fn put(store: &dyn Store, key: &str, value: &str) -> Revision {
    commit(store, Txn::put(key.to_owned(), value.to_owned())).await
}

pub async fn get(store: &dyn Store, key: &str) -> Option<KeyValue> {
    store.get(key.as_bytes(), None).await.unwrap().kv
}

/// Returns the value of a key at a revision.
pub async fn value_at(store: &dyn Store, key: &str, revision: Revision) -> Option<String> {
    let kv = store.get(key.as_bytes(), Some(revision)).await.unwrap().kv;
    kv.map(|kv| text(&kv.value))
}

pub fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns keys and values, for comparison with a literal.
pub fn pairs(kvs: &[KeyValue]) -> Vec<(String, String)> {
    kvs.iter().map(|kv| (text(&kv.key), text(&kv.value))).collect()
}

/// Returns the next batch of a watch, which must exist.
pub async fn next(watch: &mut Watch) -> WatchBatch {
    outcome(watch).await.expect("the watch failed")
}

/// Returns the next item of a watch, a batch or an error.
pub async fn outcome(watch: &mut Watch) -> Result<WatchBatch, Error> {
    let item = tokio::time::timeout(Duration::from_secs(30), watch.next()).await;
    item.expect("no item for 30 seconds").expect("the watch ended without an error")
}

/// Reads events up to and including a revision. Checks the order of events and the shape of batches.
pub async fn events_until(watch: &mut Watch, last: Revision) -> Vec<Arc<Event>> {
    let mut seen: Vec<Arc<Event>> = Vec::new();
    while seen.last().is_none_or(|event| event.revision() < last) {
        let WatchBatch::Events { events, revision } = next(watch).await else { continue };
        assert_eq!(events.last().map(|event| event.revision()), Some(revision), "a batch has its last revision");
        let before = seen.last().map_or(0, |event| event.revision());
        assert!(events[0].revision() > before, "a revision is delivered once, in one batch");
        assert!(events.is_sorted_by_key(|event| event.revision()), "events come in order");
        seen.extend(events);
    }
    seen
}

/// Formats events for comparison with literals: `+key=value`, `~key=value`, `-key`.
pub fn summary(events: &[Arc<Event>]) -> Vec<String> {
    let line = |event: &Event| {
        let (key, value) = (text(&event.kv.key), text(&event.kv.value));
        let name = key.rsplit('/').next().unwrap_or_default();
        match (event.kind, event.is_create()) {
            (storage::EventKind::Delete, _) => format!("-{name}"),
            (storage::EventKind::Put, true) => format!("+{name}={value}"),
            (storage::EventKind::Put, false) => format!("~{name}={value}"),
        }
    };
    events.iter().map(|event| line(event)).collect()
}
