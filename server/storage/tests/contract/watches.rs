//! Watches: ordered, unique, complete, resumable.

use storage::{EventKind, KeyRange, ListOptions, Store, Txn, WatchBatch};

use super::{commit, events_until, get, next, put, summary, writes::join};

pub async fn a_watch_from_now_gets_later_events(store: &dyn Store) {
    put(store, "/now/a", "1").await;
    for from in [None, Some(0)] {
        let mut watch = store.watch(KeyRange::prefix("/now/"), from).await.unwrap();
        put(store, "/now/a", "2").await;
        commit(store, Txn::delete("/now/a")).await;
        let last = put(store, "/now/a", "3").await;
        assert_eq!(summary(&events_until(&mut watch, last).await), ["~a=2", "-a", "+a=3"]);
    }
}

pub async fn a_watch_from_a_revision_replays_history(store: &dyn Store) {
    put(store, "/replay/a", "1").await;
    let from = put(store, "/replay/b", "1").await;
    put(store, "/replay/a", "2").await;
    commit(store, Txn::delete("/replay/b")).await;
    let mut watch = store.watch(KeyRange::prefix("/replay/"), Some(from)).await.unwrap();
    let last = put(store, "/replay/b", "2").await;
    assert_eq!(summary(&events_until(&mut watch, last).await), ["+b=1", "~a=2", "-b", "+b=2"]);
}

pub async fn a_watch_resumes_under_load_without_gaps_or_repetitions(store: &dyn Store) {
    const WRITES: usize = 2000;
    let start = put(store, "/resume/start", "x").await;
    let write = async {
        let writers = (0..8).map(|w| async move {
            for i in 0..WRITES / 8 {
                put(store, &format!("/resume/{w}"), &i.to_string()).await;
            }
        });
        join(writers).await;
        put(store, "/resume/end", "x").await
    };
    let watch = async {
        let mut seen: Vec<_> = Vec::new();
        let mut from = start + 1;
        while seen.last().is_none_or(|event: &std::sync::Arc<storage::Event>| &event.kv.key[..] != b"/resume/end") {
            // Drop the watch after some batches and resume after the last one.
            let mut watch = store.watch(KeyRange::prefix("/resume/"), Some(from)).await.unwrap();
            for _ in 0..3 {
                if seen.last().is_some_and(|event| &event.kv.key[..] == b"/resume/end") {
                    break;
                }
                let batch = next(&mut watch).await;
                from = batch.revision() + 1;
                if let WatchBatch::Events { events, .. } = batch {
                    seen.extend(events);
                }
            }
        }
        seen
    };
    let (_, seen) = tokio::join!(write, watch);
    assert_eq!(seen.len(), WRITES + 1);
    assert!(seen.is_sorted_by(|a, b| a.revision() < b.revision()));
    for event in &seen {
        let before = event.prev.as_ref().map_or(0, |prev| prev.version);
        assert_eq!(event.kv.version, before + 1, "no write of a key is skipped");
    }
}

pub async fn a_watch_from_the_future_waits(store: &dyn Store) {
    let now = put(store, "/ahead/a", "0").await;
    let mut watch = store.watch(KeyRange::prefix("/ahead/"), Some(now + 3)).await.unwrap();
    let mut last = now;
    while last < now + 4 {
        last = put(store, "/ahead/a", "x").await;
    }
    let events = events_until(&mut watch, last).await;
    assert_eq!(events[0].revision(), now + 3);
}

pub async fn a_watch_is_confined_to_its_range(store: &dyn Store) {
    let from = put(store, "/confined/a", "0").await + 1;
    let mut past = Vec::new();
    for _ in 0..2 {
        past.push(store.watch(KeyRange::prefix("/confined/"), Some(from)).await.unwrap());
        put(store, "/confined", "1").await;
        put(store, "/confined0", "1").await;
        put(store, "/confined/a", "1").await;
        put(store, "/confined/aa", "1").await;
    }
    let mut one = store.watch(KeyRange::key("/confined/a"), Some(from)).await.unwrap();
    let last = put(store, "/confined/a", "2").await;
    for watch in &mut past {
        let events = events_until(watch, last).await;
        assert_eq!(summary(&events), ["~a=1", "+aa=1", "~a=1", "~aa=1", "~a=2"]);
    }
    assert_eq!(summary(&events_until(&mut one, last).await), ["~a=1", "~a=1", "~a=2"]);
}

pub async fn events_carry_the_previous_value(store: &dyn Store) {
    let first = put(store, "/prev/a", "1").await;
    let one = get(store, "/prev/a").await;
    let mut live = store.watch(KeyRange::prefix("/prev/"), Some(first + 1)).await.unwrap();
    put(store, "/prev/a", "2").await;
    let two = get(store, "/prev/a").await;
    commit(store, Txn::delete("/prev/a")).await;
    let last = put(store, "/prev/a", "3").await;
    let mut replayed = store.watch(KeyRange::prefix("/prev/"), Some(first)).await.unwrap();

    let events = events_until(&mut replayed, last).await;
    assert_eq!(events.iter().map(|event| event.prev.clone()).collect::<Vec<_>>(), [None, one, two.clone(), None]);
    let delete = &events[2];
    assert_eq!((delete.kind, delete.kv.create_revision, delete.kv.version), (EventKind::Delete, 0, 0));
    assert!(delete.kv.value.is_empty() && delete.revision() > two.unwrap().mod_revision);
    assert_eq!(events_until(&mut live, last).await, events[1..], "live and replayed events are the same");
}

pub async fn all_watchers_see_the_same_order(store: &dyn Store) {
    let from = put(store, "/same/a", "0").await + 1;
    let mut watches = Vec::new();
    for _ in 0..4 {
        watches.push(store.watch(KeyRange::prefix("/same/"), None).await.unwrap());
    }
    let writers = (0..16).map(|w| async move {
        for i in 0..10 {
            put(store, &format!("/same/{}", (w + i) % 5), "x").await;
        }
    });
    join(writers).await;
    let last = put(store, "/same/end", "x").await;
    watches.push(store.watch(KeyRange::prefix("/same/"), Some(from)).await.unwrap());
    let mut histories = Vec::new();
    for mut watch in watches {
        histories.push(events_until(&mut watch, last).await);
    }
    assert_eq!(histories[0].len(), 161);
    assert!(histories.windows(2).all(|pair| pair[0] == pair[1]));
}

pub async fn progress_is_sent_on_request(store: &dyn Store) {
    let mut watch = store.watch(KeyRange::prefix("/progress/"), None).await.unwrap();
    let elsewhere = put(store, "/elsewhere/a", "1").await;
    store.request_progress().await.unwrap();
    loop {
        match next(&mut watch).await {
            WatchBatch::Progress { revision } if revision >= elsewhere => break,
            WatchBatch::Progress { .. } => {}
            WatchBatch::Events { events, .. } => panic!("{events:?}"),
        }
    }
}

pub async fn progress_never_overtakes_events(store: &dyn Store) {
    let range = KeyRange::prefix("/overtake/");
    let from = store.current_revision().await.unwrap() + 1;
    let mut watch = store.watch(range.clone(), Some(from)).await.unwrap();
    let writers = (0..8).map(|w| async move {
        for _ in 0..20 {
            put(store, &format!("/overtake/{w}"), "x").await;
            store.request_progress().await.unwrap();
        }
    });
    let write = async {
        join(writers).await;
        put(store, "/overtake/end", "x").await;
        store.request_progress().await.unwrap();
    };
    let read = async {
        let (mut seen, mut count) = (0, 0);
        loop {
            let batch = next(&mut watch).await;
            assert!(batch.revision() >= seen, "progress does not go back");
            match &batch {
                WatchBatch::Events { events, .. } => {
                    assert!(events[0].revision() > seen, "an event came after the progress of its revision");
                    count += events.len();
                }
                WatchBatch::Progress { .. } if count == 161 => break,
                WatchBatch::Progress { .. } => {}
            }
            seen = batch.revision();
        }
    };
    tokio::join!(write, read);
    assert_eq!(store.list(range, ListOptions::default()).await.unwrap().count, 9);
}
