//! Acknowledged writes survive `kill -9`. A child process writes under load and is killed; the parent
//! checks the store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use storage::{EmbeddedStore, Event, EventKind, KeyRange, ListOptions, Revision, Store, Txn, TxnOutcome, WatchBatch};

const DIRECTORY: &str = "STORAGE_CRASH_TEST_DIRECTORY";
const CYCLES: usize = 20;
const WRITERS: usize = 32;
const KEYS_PER_WRITER: usize = 4;

/// The child process: writes for ever and prints `revision key value` after each acknowledgement; `-`
/// is a delete.
///
/// It is a test only to be part of this program. As a test it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIRECTORY) else { return };
    let store = Arc::new(EmbeddedStore::open(PathBuf::from(dir)).unwrap());
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&store), writer))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn write(store: Arc<EmbeddedStore>, writer: usize) {
    for i in 0usize.. {
        let key = format!("/crash/{writer}-{}", i % KEYS_PER_WRITER);
        let (txn, value) = if i % 7 == 6 {
            (Txn::delete(key.clone()), "-".to_owned())
        } else {
            let value = format!("{writer}.{i}.{}", std::process::id());
            (Txn::put(key.clone(), value.clone()), value)
        };
        match store.commit(txn).await.unwrap() {
            TxnOutcome::Committed { deleted: None, .. } if value == "-" => {} // the key did not exist
            // One write call per line, so that the pipe does not split it.
            TxnOutcome::Committed { revision, .. } => println!("ack {revision} {key} {value}"),
            other => panic!("{other:?}"),
        }
    }
}

struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Writer {
    fn start(dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_it_is_killed", "--nocapture"])
            .env(DIRECTORY, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Reads `count` acknowledgements, kills the child, and reads the remaining ones.
    fn kill_after(mut self, count: usize) -> BTreeMap<Revision, (String, String)> {
        let acks = self.lines.by_ref().filter_map(|line| parse(&line.unwrap()));
        let mut acknowledged: BTreeMap<_, _> = acks.take(count).collect();
        assert_eq!(acknowledged.len(), count, "the child failed by itself");
        self.child.kill().unwrap(); // SIGKILL
        acknowledged.extend(self.lines.filter_map(|line| parse(&line.unwrap())));
        self.child.wait().unwrap();
        acknowledged
    }
}

/// Parses an acknowledgement; `None` for a truncated line and for one of the test harness.
fn parse(line: &str) -> Option<(Revision, (String, String))> {
    let mut words = line[line.find("ack ")?..].split(' ').skip(1);
    let (revision, key, value) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
    let whole = value == "-" || value.split('.').count() == 3;
    whole.then(|| (revision, (key.to_owned(), value.to_owned())))
}

#[tokio::test]
async fn acknowledged_writes_survive_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let mut last = 1;
    let mut expected = BTreeMap::new();
    for cycle in 0..CYCLES {
        let acknowledged = Writer::start(dir.path()).kill_after(1 + 37 * cycle);
        let store = EmbeddedStore::open(dir.path()).unwrap();
        let current = store.current_revision().await.unwrap();

        // The watch resumes at the revision before the crash and gets every revision once.
        let events = resume(&store, last, current).await;
        let revisions: Vec<_> = events.iter().map(|event| event.revision()).collect();
        assert_eq!(revisions, (last + 1..=current).collect::<Vec<_>>(), "cycle {cycle}");

        let history: BTreeMap<_, _> = events.iter().map(|event| (event.revision(), describe(event))).collect();
        for (revision, write) in &acknowledged {
            assert_eq!(history.get(revision), Some(write), "cycle {cycle}: revision {revision} was acknowledged");
        }
        apply(&mut expected, &history);
        assert_eq!(list(&store).await, expected, "cycle {cycle}: the current state is the result of the history");
        last = current;
        store.close().await.unwrap();
    }
}

async fn resume(store: &EmbeddedStore, last: Revision, current: Revision) -> Vec<Arc<Event>> {
    let mut watch = store.watch(KeyRange::prefix("/crash/"), Some(last + 1)).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() as u64 != current - last {
        let batch = tokio::time::timeout(Duration::from_secs(30), watch.next()).await.expect("an event is missing");
        if let WatchBatch::Events { events, .. } = batch.unwrap().unwrap() {
            seen.extend(events);
        }
    }
    seen
}

fn describe(event: &Event) -> (String, String) {
    let text = |bytes: &bytes::Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    let value = if event.kind == EventKind::Delete { "-".to_owned() } else { text(&event.kv.value) };
    (text(&event.kv.key), value)
}

fn apply(state: &mut BTreeMap<String, String>, history: &BTreeMap<Revision, (String, String)>) {
    for (key, value) in history.values() {
        if value == "-" {
            state.remove(key);
        } else {
            state.insert(key.clone(), value.clone());
        }
    }
}

async fn list(store: &EmbeddedStore) -> BTreeMap<String, String> {
    let answer = store.list(KeyRange::prefix("/crash/"), ListOptions::default()).await.unwrap();
    let text = |bytes: &bytes::Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    answer.kvs.iter().map(|kv| (text(&kv.key), text(&kv.value))).collect()
}
