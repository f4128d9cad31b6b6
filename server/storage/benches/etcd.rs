//! Benchmark of the etcd client: `ETCD=/path/of/etcd cargo bench -p storage --bench etcd`.
//!
//! Starts that etcd without fsync. Prints the rate, the latency and the CPU time of this process for
//! each kind of call. Then prints how long reads and a watch take to resume after etcd is killed and
//! restarted. Run two builds alternately to compare them. The numbers in
//! `docs/decisions/0003-etcd-client.md` come from this benchmark.

#![allow(clippy::unwrap_used, reason = "the module shared with the tests fails by panicking")]

#[path = "../tests/etcd_server/mod.rs"]
mod etcd_server;

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use etcd_server::EtcdServer;
use storage::{EtcdOptions, EtcdStore, KeyRange, ListOptions, Store, Txn, Watch, WatchBatch};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const KEYS: u64 = 10_000;
const VALUE: usize = 2048;
const CALLS: u64 = 20_000;
const LISTS: u32 = 20;
const WATCHERS: u64 = 20;
const EVENTS: u64 = 2_000;
const RESTARTS: u32 = 10;

#[tokio::main]
async fn main() -> Outcome {
    let mut server = EtcdServer::start();
    let mut options = EtcdOptions::new([&*server.url]);
    options.compaction_interval = None;
    let store = Arc::new(EtcdStore::connect(options).await?);
    for callers in [1, 64] {
        let name = |call| format!("{call}, {callers} at a time");
        let put = async |store: &EtcdStore, i: u64| {
            store.commit(Txn::put(key(i % KEYS), value(i))).await?;
            Ok(())
        };
        calls(&name("put"), callers, &store, put).await?;
        let get = async |store: &EtcdStore, i: u64| {
            store.get(key(i % KEYS).as_bytes(), None).await?;
            Ok(())
        };
        calls(&name("get"), callers, &store, get).await?;
    }
    lists(&*store).await?;
    watches(&store).await?;
    restarts(&store, &mut server).await
}

/// Makes `CALLS` calls, `callers` of them concurrently, and reports them.
async fn calls<F>(name: &str, callers: u64, store: &Arc<EtcdStore>, call: F) -> Outcome
where
    F: AsyncFn(&EtcdStore, u64) -> Outcome,
{
    let (start, cpu) = (Instant::now(), cpu_time());
    let call = &call;
    let each = (0..callers).map(async |caller| {
        for i in (caller..CALLS).step_by(callers as usize) {
            call(store, i * 7919).await?;
        }
        Outcome::Ok(())
    });
    futures_util::future::try_join_all(each).await?;
    report(name, CALLS as u32, start, cpu);
    Ok(())
}

async fn lists(store: &dyn Store) -> Outcome {
    let (start, cpu) = (Instant::now(), cpu_time());
    for _ in 0..LISTS {
        let listed = store.list(KeyRange::prefix("/registry/"), ListOptions::default()).await?;
        assert_eq!(listed.kvs.len() as u64, KEYS);
    }
    report(&format!("list of {KEYS}"), LISTS, start, cpu);
    Ok(())
}

async fn watches(store: &Arc<EtcdStore>) -> Outcome {
    let mut watches = Vec::new();
    for _ in 0..WATCHERS {
        watches.push(store.watch(KeyRange::prefix("/registry/"), None).await?);
    }
    let (start, cpu) = (Instant::now(), cpu_time());
    let readers: Vec<_> = watches.into_iter().map(|watch| tokio::spawn(read(watch, EVENTS))).collect();
    for i in 0..EVENTS {
        store.commit(Txn::put(key(i), value(i))).await?;
    }
    for reader in readers {
        reader.await??;
    }
    report(&format!("event, {WATCHERS} watchers, with its put"), EVENTS as u32, start, cpu);
    Ok(())
}

async fn read(mut watch: Watch, events: u64) -> Outcome {
    let mut seen = 0;
    while seen < events {
        if let WatchBatch::Events { events, .. } = next(&mut watch).await? {
            seen += events.len() as u64;
        }
    }
    Ok(())
}

async fn next(watch: &mut Watch) -> Outcome<WatchBatch> {
    Ok(watch.next().await.ok_or("the watch ended")??)
}

/// Measures the time from a restart until a read is answered and until an open watch delivers a change.
async fn restarts(store: &Arc<EtcdStore>, server: &mut EtcdServer) -> Outcome {
    let mut watch = store.watch(KeyRange::prefix("/registry/"), None).await?;
    let (mut answered, mut resumed) = (Duration::ZERO, Duration::ZERO);
    for i in 0..RESTARTS {
        server.kill();
        server.restart();
        let start = Instant::now();
        while store.get(b"/registry/", None).await.is_err() {}
        answered += start.elapsed();
        store.commit(Txn::put(key(u64::from(i)), value(0))).await?;
        while !matches!(next(&mut watch).await?, WatchBatch::Events { .. }) {}
        resumed += start.elapsed();
    }
    println!("after a restart: read {:.1?}, event {:.1?}", answered / RESTARTS, resumed / RESTARTS);
    Ok(())
}

fn key(i: u64) -> String {
    format!("/registry/pods/default/pod-{i:06}")
}

fn value(i: u64) -> Bytes {
    Bytes::from(vec![i as u8; VALUE])
}

fn report(name: &str, count: u32, start: Instant, cpu: Duration) {
    let (elapsed, cpu) = (start.elapsed(), cpu_time() - cpu);
    println!(
        "{name}: {:.0}/s, {:.1?} each, {:.1?} of CPU each",
        f64::from(count) / elapsed.as_secs_f64(),
        elapsed / count,
        cpu / count
    );
}

/// Returns the CPU time of all threads of this process, user and kernel. No thread ends during the measurement.
fn cpu_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}
