//! CPU profiles: samples of the running threads, taken by a timer signal (Go:
//! `pprof.StartCPUProfile`).

use std::time::Duration;

use rpprof::{ProfilerGuard, ProfilerGuardBuilder};
use tokio::task;

use super::encoding;
use crate::error::ProfileError;

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
pub(super) async fn profile(duration: Duration) -> Result<Vec<u8>, ProfileError> {
    let running = blocking(start).await?;
    tokio::time::sleep(duration).await;
    blocking(|| finish(running)).await
}

/// Runs `work` on the blocking pool: the first start reads the symbol tables of the whole program.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ProfileError> + Send + 'static,
) -> Result<T, ProfileError> {
    task::spawn_blocking(work).await?
}

fn start() -> Result<ProfilerGuard<'static>, ProfileError> {
    Ok(ProfilerGuardBuilder::default().frequency(HERTZ).blocklist(&UNWINDER).build()?)
}

fn finish(running: ProfilerGuard<'static>) -> Result<Vec<u8>, ProfileError> {
    let report = running.report().build_unresolved()?;
    // Stop sampling before symbols are looked up.
    drop(running);
    Ok(encoding::encode(report)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_concurrent_profile() {
        let running = start().unwrap();
        assert_eq!(start().err().unwrap().to_string(), "cpu profiling already in use");
        assert!(finish(running).unwrap().starts_with(&[0x1f, 0x8b]));
        drop(start().unwrap());
    }
}
