//! Benchmark of the embedded store: `cargo bench -p storage --bench embedded [directory]`.
//!
//! Prints acknowledged writes per second with 1, 64 and 256 writers and the CPU time of the whole
//! process per write. Prints the latency of reads, lists and counts, and the time and memory that an
//! empty store takes. The numbers in `docs/decisions/0002-embedded-database.md` come from this
//! benchmark.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use storage::{EmbeddedStore, KeyRange, ListOptions, Store, Txn};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const KEYS: u64 = 20_000;
const VALUE: usize = 1024;
const ROUND: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Outcome {
    let base = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let dir = match base {
        Some(base) => tempfile::tempdir_in(base)?,
        None => tempfile::tempdir()?,
    };
    let (start, before) = (Instant::now(), resident());
    let store = Arc::new(EmbeddedStore::open(dir.path())?);
    println!("open an empty directory: {:.1?}, {} kB more resident", start.elapsed(), resident() - before);
    for writers in [1, 64, 256] {
        let (rate, cpu) = write(&store, writers).await?;
        println!(
            "{writers} writers: {rate:.0} acknowledged writes/s, {cpu:.1?} of CPU each, {} kB resident",
            resident()
        );
    }
    read(&*store).await?;
    let start = Instant::now();
    store.close().await?;
    println!("close: {:.1?}", start.elapsed());
    let start = Instant::now();
    EmbeddedStore::open(dir.path())?;
    println!("open again, and close: {:.1?}", start.elapsed());
    Ok(())
}

/// Returns acknowledged writes per second and the CPU time of one write.
async fn write(store: &Arc<EmbeddedStore>, writers: u64) -> Outcome<(f64, Duration)> {
    let (start, cpu) = (Instant::now(), cpu_time());
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut random = writer.wrapping_mul(7919) + 1;
                let mut written = 0;
                while start.elapsed() < ROUND {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    store.commit(Txn::put(key((random >> 33) % KEYS), Bytes::from(vec![random as u8; VALUE]))).await?;
                    written += 1;
                }
                Outcome::Ok(written)
            })
        })
        .collect();
    let mut written: u64 = 0;
    for task in tasks {
        written += task.await??;
    }
    let cost = (cpu_time() - cpu) / u32::try_from(written)?.max(1);
    Ok((written as f64 / start.elapsed().as_secs_f64(), cost))
}

async fn read(store: &dyn Store) -> Outcome {
    let start = Instant::now();
    for i in 0..KEYS {
        store.get(key(i * 7919 % KEYS).as_bytes(), None).await?;
    }
    println!("get: {:.1?}", start.elapsed() / KEYS as u32);
    let range = KeyRange::prefix("/registry/pods/");
    let start = Instant::now();
    let all = store.list(range.clone(), ListOptions::default()).await?;
    println!("list of {}: {:.1?}", all.kvs.len(), start.elapsed());
    let start = Instant::now();
    store.list(range.clone(), ListOptions { limit: 500, revision: None }).await?;
    println!("page of 500: {:.1?}", start.elapsed());
    let start = Instant::now();
    let then = all.revision - 10_000.min(all.revision - 1);
    store.list(range.clone(), ListOptions { limit: 500, revision: Some(then) }).await?;
    println!("page of 500, 10000 revisions ago: {:.1?}", start.elapsed());
    let start = Instant::now();
    store.count(range).await?;
    println!("count: {:.1?}", start.elapsed());
    Ok(())
}

fn key(i: u64) -> String {
    format!("/registry/pods/default/pod-{i:06}")
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

/// Returns the resident memory of this process in kB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}
