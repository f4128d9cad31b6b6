//! Get, list and count.

use bytes::Bytes;
use storage::{Error, KeyRange, ListOptions, Store, Txn};

use super::{commit, get, pairs, put, text, value_at};

pub async fn a_missing_key_is_absent(store: &dyn Store) {
    let answer = store.get(b"/missing/a", None).await.unwrap();
    assert_eq!(answer.kv, None);
    assert!(answer.revision >= 1, "even an empty store has a revision");
    assert!(answer.revision <= store.current_revision().await.unwrap());
}

pub async fn a_key_has_its_history(store: &dyn Store) {
    let created = put(store, "/history/a", "1").await;
    put(store, "/history/b", "1").await;
    let changed = put(store, "/history/a", "2").await;
    assert!(created < changed);
    let answer = store.get(b"/history/a", None).await.unwrap();
    assert!(answer.revision >= changed);
    let kv = answer.kv.unwrap();
    assert_eq!((kv.create_revision, kv.mod_revision, kv.version), (created, changed, 2));
    assert_eq!((text(&kv.key), text(&kv.value)), ("/history/a".into(), "2".into()));
}

pub async fn old_revisions_can_be_read(store: &dyn Store) {
    let before = store.current_revision().await.unwrap();
    let first = put(store, "/old/a", "1").await;
    let second = put(store, "/old/a", "2").await;
    let deleted = commit(store, Txn::delete("/old/a")).await;
    let again = put(store, "/old/a", "3").await;
    for (revision, value) in
        [(before, None), (first, Some("1")), (second, Some("2")), (deleted, None), (again, Some("3"))]
    {
        assert_eq!(value_at(store, "/old/a", revision).await.as_deref(), value, "at {revision}");
    }
    let answer = store.get(b"/old/a", Some(first)).await.unwrap();
    assert!(answer.revision >= again, "the response has the current revision");
    assert_eq!(answer.kv.map(|kv| (kv.mod_revision, kv.version)), Some((first, 1)));
    assert_eq!(store.get(b"/old/a", Some(0)).await.unwrap().kv, get(store, "/old/a").await, "0 is the current state");
}

pub async fn future_revisions_are_refused(store: &dyn Store) {
    let far = put(store, "/future/a", "1").await + 1_000_000;
    let refused = |error: Error| matches!(error, Error::FutureRevision { requested, .. } if requested == far);
    assert!(refused(store.get(b"/future/a", Some(far)).await.unwrap_err()));
    let options = ListOptions { revision: Some(far), ..ListOptions::default() };
    assert!(refused(store.list(KeyRange::prefix("/future/"), options).await.unwrap_err()));
}

pub async fn a_list_is_ordered_and_confined_to_its_range(store: &dyn Store) {
    for key in ["/range/b", "/range/a", "/range/b/1", "/rang", "/range", "/range0", "/range/c"] {
        put(store, key, key).await;
    }
    commit(store, Txn::delete("/range/c")).await;
    let list = async |range| {
        let answer = store.list(range, ListOptions::default()).await.unwrap();
        assert_eq!(answer.count, answer.kvs.len() as u64);
        assert!(!answer.more);
        answer.kvs.iter().map(|kv| text(&kv.key)).collect::<Vec<_>>()
    };
    assert_eq!(list(KeyRange::prefix("/range/")).await, ["/range/a", "/range/b", "/range/b/1"]);
    assert_eq!(list(KeyRange::prefix("/range/").after(b"/range/a")).await, ["/range/b", "/range/b/1"]);
    assert_eq!(list(KeyRange::prefix("/range/").starting_at("/range/b/")).await, ["/range/b/1"]);
    assert_eq!(list(KeyRange::key("/range/b")).await, ["/range/b"]);
    assert_eq!(list(KeyRange::new("/range/a", Some("/range/b".into()))).await, ["/range/a"]);
    assert_eq!(list(KeyRange::prefix("/range/none")).await, [""; 0]);
}

pub async fn a_list_is_paged_at_one_revision(store: &dyn Store) {
    for i in 0..10 {
        put(store, &format!("/page/{i}"), "old").await;
    }
    let range = KeyRange::prefix("/page/");
    let first = store.list(range.clone(), ListOptions { limit: 4, revision: None }).await.unwrap();
    assert_eq!((first.kvs.len(), first.more, first.count), (4, true, 10));

    put(store, "/page/5", "new").await;
    put(store, "/page/5x", "new").await;
    commit(store, Txn::delete("/page/6")).await;

    let mut kvs = first.kvs;
    loop {
        let rest = range.clone().after(&kvs[kvs.len() - 1].key);
        let left = 10 - kvs.len() as u64;
        let page = store.list(rest, ListOptions { limit: 3, revision: Some(first.revision) }).await.unwrap();
        assert_eq!(page.count, left, "the count is that of the rest of the range");
        assert_eq!(page.more, page.count > 3);
        assert!(page.revision > first.revision);
        kvs.extend(page.kvs);
        if !page.more {
            break;
        }
    }
    let expected: Vec<_> = (0..10).map(|i| (format!("/page/{i}"), "old".to_owned())).collect();
    assert_eq!(pairs(&kvs), expected);
    let exact = store.list(range, ListOptions { limit: 10, revision: None }).await.unwrap();
    assert_eq!((exact.kvs.len(), exact.more, exact.count), (10, false, 10), "a full page has no continuation");
}

pub async fn a_list_at_a_revision_undoes_later_changes(store: &dyn Store) {
    put(store, "/undo/changed", "1").await;
    put(store, "/undo/deleted", "1").await;
    put(store, "/undo/same", "1").await;
    let then = put(store, "/undo/recreated", "1").await;
    for value in ["2", "3", "4"] {
        put(store, "/undo/changed", value).await;
    }
    commit(store, Txn::delete("/undo/deleted")).await;
    commit(store, Txn::delete("/undo/recreated")).await;
    put(store, "/undo/recreated", "2").await;
    put(store, "/undo/new", "1").await;
    let options = ListOptions { revision: Some(then), limit: 0 };
    let answer = store.list(KeyRange::prefix("/undo/"), options).await.unwrap();
    let expected = ["changed", "deleted", "recreated", "same"].map(|name| (format!("/undo/{name}"), "1".to_owned()));
    assert_eq!(pairs(&answer.kvs), expected);
    let cut = store.list(KeyRange::prefix("/undo/"), ListOptions { limit: 1, ..options }).await.unwrap();
    assert_eq!((cut.more, cut.count), (true, 4), "the count is that of the revision");
}

pub async fn count_counts_the_range(store: &dyn Store) {
    assert_eq!(store.count(KeyRange::prefix("/count/")).await.unwrap().count, 0);
    put(store, "/count/a", "1").await;
    put(store, "/count/b", "1").await;
    put(store, "/count/a", "2").await;
    put(store, "/count", "1").await;
    let last = commit(store, Txn::delete("/count/b")).await;
    let answer = store.count(KeyRange::prefix("/count/")).await.unwrap();
    assert_eq!(answer.count, 1);
    assert!(answer.revision >= last);
}

pub async fn any_bytes_can_be_stored(store: &dyn Store) {
    let large = Bytes::from(vec![0xa5; 1 << 20]);
    let all = Bytes::from((0..=255).collect::<Vec<u8>>());
    let key = Bytes::from([b"/bytes/".as_slice(), &[0, 0xff, b'%', b'\'']].concat());
    for value in [large, all, Bytes::new()] {
        commit(store, Txn::put(key.clone(), value.clone())).await;
        assert_eq!(store.get(&key, None).await.unwrap().kv.map(|kv| (kv.key, kv.value)), Some((key.clone(), value)));
    }
}
