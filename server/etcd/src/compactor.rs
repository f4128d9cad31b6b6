//! Compaction without a request (`--auto-compaction-mode`).

use std::{collections::VecDeque, sync::Arc, time::Duration};

use storage::{Error, Revision, Store};
use tokio::time::Instant;

use crate::{Compaction, etcd::Etcd};

/// Interval of compactions by number of revisions.
const BY_REVISIONS: Duration = Duration::from_secs(300);
/// How many revisions are noted within a period.
const NOTES: u32 = 10;
/// The longest pause between two compactions of a period.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Compacts until the server stops.
pub(crate) async fn run(etcd: Arc<Etcd>, compaction: Compaction) {
    let work = async {
        match compaction {
            Compaction::Periodic(period) => by_period(&etcd, period).await,
            Compaction::Revisions(kept) => by_revisions(&etcd, kept).await,
        }
    };
    tokio::select! {
        () = work => {}
        () = etcd.stopped() => {}
    }
}

/// Compacts to the newest revision that is as old as the period.
async fn by_period(etcd: &Etcd, period: Duration) {
    let mut notes: VecDeque<(Instant, Revision)> = VecDeque::new();
    let mut ticks = tokio::time::interval(period.min(LONGEST_PAUSE) / NOTES);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let now = ticks.tick().await;
        let Ok(revision) = etcd.store.current_revision().await else { return };
        notes.push_back((now, revision));
        let mut due = None;
        while let Some((noted, revision)) = notes.front()
            && now.duration_since(*noted) >= period
        {
            due = Some(*revision);
            notes.pop_front();
        }
        if let Some(revision) = due {
            compact(etcd, revision).await;
        }
    }
}

async fn by_revisions(etcd: &Etcd, kept: u64) {
    loop {
        tokio::time::sleep(BY_REVISIONS).await;
        let Ok(revision) = etcd.store.current_revision().await else { return };
        compact(etcd, revision.saturating_sub(kept)).await;
    }
}

async fn compact(etcd: &Etcd, revision: Revision) {
    match etcd.store.compact(revision).await {
        Ok(()) => tracing::info!(revision, "compacted"),
        Err(Error::Compacted { .. }) => {} // nothing was written since
        Err(error) => tracing::error!(%error, revision, "the compaction failed"),
    }
}
