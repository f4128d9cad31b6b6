//! CPU profiles: samples of the running threads, taken by a timer signal (Go:
//! `pprof.StartCPUProfile`).

use std::time::Duration;

use rpprof::{Error, ProfilerGuard, ProfilerGuardBuilder};
use tokio::task;

use super::encoding;

/// The sampling rate per second of CPU time, as in Go.
const HERTZ: i32 = 100;
/// The unwinder's library. During a panic it holds locks that symbol look-up may need.
const UNWINDER: [&str; 1] = ["libgcc_s"];

/// Profiles all threads for `duration`; returns the compressed profile for `go tool pprof`.
///
/// Only one profile can run at a time; dropping the future stops it.
///
/// # Errors
/// The profiler is already running or cannot be started.
pub(super) async fn profile(duration: Duration) -> Result<Vec<u8>, String> {
    let running = blocking(start).await?;
    tokio::time::sleep(duration).await;
    blocking(|| finish(running)).await
}

/// Runs `work` on the blocking pool: the first start reads the symbol tables of the whole program.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    task::spawn_blocking(work).await.unwrap_or_else(|why| Err(why.to_string()))
}

fn start() -> Result<ProfilerGuard<'static>, String> {
    ProfilerGuardBuilder::default().frequency(HERTZ).blocklist(&UNWINDER).build().map_err(|why| match why {
        Error::Running => "cpu profiling already in use".into(),
        why => why.to_string(),
    })
}

fn finish(running: ProfilerGuard<'static>) -> Result<Vec<u8>, String> {
    let report = running.report().build_unresolved().map_err(|why| why.to_string())?;
    // Stop sampling before symbols are looked up.
    drop(running);
    encoding::encode(report).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_concurrent_profile() {
        let running = start().unwrap();
        assert_eq!(start().err().unwrap(), "cpu profiling already in use");
        assert!(finish(running).unwrap().starts_with(&[0x1f, 0x8b]));
        drop(start().unwrap());
    }
}
