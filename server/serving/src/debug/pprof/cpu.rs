//! Where the threads of this process spend CPU time, found out by a timer that interrupts whichever is running (Go: `pprof.StartCPUProfile`).

use std::time::Duration;

use rpprof::{Error, ProfilerGuard, ProfilerGuardBuilder};
use tokio::task;

use super::encoding;

/// How often a second of CPU time is looked at, as Go does.
const HERTZ: i32 = 100;
/// While a panic is unwound, tables are locked that finding the function of an address could need.
const UNWINDER: [&str; 1] = ["libgcc_s"];

/// What all threads did during this time, compressed, as `go tool pprof` reads it. One profile can be taken at a time; when this is dropped, it
/// is given up.
///
/// # Errors
/// Says why there can be none.
pub(super) async fn profile(duration: Duration) -> Result<Vec<u8>, String> {
    let running = blocking(start).await?;
    tokio::time::sleep(duration).await;
    blocking(|| finish(running)).await
}

/// The first start reads the tables of the whole program, which takes longer than a task may.
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
    // Looking up names is no part of what was asked for.
    drop(running);
    encoding::encode(report).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_profile_at_a_time() {
        let running = start().unwrap();
        assert_eq!(start().err().unwrap(), "cpu profiling already in use");
        assert!(finish(running).unwrap().starts_with(&[0x1f, 0x8b]));
        drop(start().unwrap());
    }
}
