//! Conditional writes.

use std::collections::BTreeSet;

use storage::{Error, KeyRange, ListOptions, Store, Txn, TxnOutcome};

use super::{commit, get, put, text, value_at};

pub async fn creating_twice_conflicts(store: &dyn Store) {
    let created = commit(store, Txn::create("/create/a", "1")).await;
    match store.commit(Txn::create("/create/a", "2")).await.unwrap() {
        TxnOutcome::Conflict { revision, current } => {
            assert!(revision >= created);
            assert_eq!(current, get(store, "/create/a").await);
            assert_eq!(current.map(|kv| text(&kv.value)).as_deref(), Some("1"));
        }
        other => panic!("{other:?}"),
    }
}

pub async fn updates_compare_the_revision(store: &dyn Store) {
    let created = commit(store, Txn::create("/update/a", "1")).await;
    let updated = commit(store, Txn::update("/update/a", created, "2")).await;
    assert!(updated > created);
    match store.commit(Txn::update("/update/a", created, "3")).await.unwrap() {
        TxnOutcome::Conflict { current: Some(kv), .. } => {
            assert_eq!((kv.mod_revision, text(&kv.value)), (updated, "2".into()));
        }
        other => panic!("{other:?}"),
    }
    let missing = store.commit(Txn::update("/update/b", created, "1")).await.unwrap();
    assert!(matches!(missing, TxnOutcome::Conflict { current: None, .. }), "{missing:?}");
    assert_eq!(get(store, "/update/b").await, None);
}

pub async fn deletes_compare_the_revision_and_return_what_was_there(store: &dyn Store) {
    let created = put(store, "/delete/a", "1").await;
    let before = get(store, "/delete/a").await;
    let refused = store.commit(Txn::delete("/delete/a").when(created - 1)).await.unwrap();
    assert!(matches!(refused, TxnOutcome::Conflict { ref current, .. } if *current == before), "{refused:?}");
    match store.commit(Txn::delete("/delete/a").when(created)).await.unwrap() {
        TxnOutcome::Committed { revision, deleted } => {
            assert!(revision > created);
            assert_eq!(deleted, before);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(get(store, "/delete/a").await, None);
}

pub async fn deleting_nothing_takes_no_revision(store: &dyn Store) {
    let before = put(store, "/nothing/a", "1").await;
    let outcome = store.commit(Txn::delete("/nothing/b")).await.unwrap();
    assert_eq!(outcome, TxnOutcome::Committed { revision: before, deleted: None });
    assert_eq!(store.commit(Txn::delete("/nothing/b").when(0)).await.unwrap(), outcome);
    let compared = store.commit(Txn::delete("/nothing/b").when(before)).await.unwrap();
    assert_eq!(compared, TxnOutcome::Conflict { revision: before, current: None });
}

pub async fn a_key_restarts_its_history_after_a_delete(store: &dyn Store) {
    put(store, "/again/a", "1").await;
    put(store, "/again/a", "2").await;
    commit(store, Txn::delete("/again/a")).await;
    let created = commit(store, Txn::create("/again/a", "3")).await;
    let kv = get(store, "/again/a").await.unwrap();
    assert_eq!((kv.create_revision, kv.mod_revision, kv.version), (created, created, 1));
}

pub async fn a_conflict_leaves_no_trace(store: &dyn Store) {
    let created = put(store, "/trace/a", "1").await;
    let mut watch = store.watch(KeyRange::prefix("/trace/"), Some(created + 1)).await.unwrap();
    for txn in [Txn::create("/trace/a", "2"), Txn::update("/trace/b", created, "2"), Txn::delete("/trace/a").when(0)] {
        assert!(matches!(store.commit(txn).await.unwrap(), TxnOutcome::Conflict { .. }));
    }
    let next = put(store, "/trace/c", "1").await;
    let events = super::events_until(&mut watch, next).await;
    assert_eq!(super::summary(&events), ["+c=1"]);
    assert_eq!(value_at(store, "/trace/a", next).await.as_deref(), Some("1"));
}

pub async fn an_empty_key_is_refused(store: &dyn Store) {
    assert!(matches!(store.commit(Txn::put("", "1")).await, Err(Error::EmptyKey)));
}

pub async fn one_of_many_concurrent_updates_wins(store: &dyn Store) {
    for round in 0..20 {
        let key = format!("/race/{round}");
        let created = put(store, &key, "0").await;
        let attempts = (0..16).map(|i| store.commit(Txn::update(key.clone(), created, i.to_string())));
        let outcomes = join(attempts).await;
        let winners: Vec<_> = (0..16).filter(|&i| matches!(outcomes[i], Ok(TxnOutcome::Committed { .. }))).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        assert_eq!(get(store, &key).await.map(|kv| text(&kv.value)), Some(winners[0].to_string()));
        for outcome in outcomes {
            if let TxnOutcome::Conflict { current, .. } = outcome.unwrap() {
                assert_eq!(current.map(|kv| text(&kv.value)), Some(winners[0].to_string()), "losers see the winner");
            }
        }
    }
}

pub async fn revisions_order_concurrent_writes(store: &dyn Store) {
    let writes = (0..64).map(|i| async move {
        let mut revisions = Vec::new();
        for _ in 0..20 {
            revisions.push(put(store, &format!("/order/{i}"), "x").await);
        }
        assert!(revisions.is_sorted_by(|a, b| a < b), "one writer's revisions ascend");
        revisions
    });
    let all: Vec<_> = join(writes).await.concat();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 64 * 20, "each write has a revision of its own");
    let last = all.iter().max().unwrap();
    assert!(store.current_revision().await.unwrap() >= *last);
    let listed = store.list(KeyRange::prefix("/order/"), ListOptions::default()).await.unwrap();
    assert!(listed.kvs.iter().all(|kv| kv.version == 20 && all.contains(&kv.mod_revision)));
}

/// Runs futures concurrently on this task.
pub async fn join<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, output) in running.iter_mut().filter(|(_, output)| output.is_none()) {
            if let std::task::Poll::Ready(ready) = future.as_mut().poll(context) {
                *output = Some(ready);
            }
        }
        let done = running.iter().all(|(_, output)| output.is_some());
        if done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}
