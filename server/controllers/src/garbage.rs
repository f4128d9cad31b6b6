//! Deletes objects whose owners are gone, and carries out foreground and orphan deletion (upstream:
//! `garbagecollector.GarbageCollector`).

mod builder;
mod collector;
mod graph;
mod invalid_owners;
mod metadata;
mod watched;

use machinery::status::Status;

use crate::context::Context;
use builder::Builder;
use collector::Collector;

/// Number of objects that are looked at concurrently (upstream: 20, over a network). The store commits
/// concurrent deletions together.
const WORKERS: usize = 64;

/// Collects garbage.
///
/// # Errors
/// Never; the type is that of all controllers.
pub async fn run(context: Context) -> Result<(), Status> {
    let environment = &context.server.environment;
    if !environment.options.storage.collects_garbage {
        tracing::info!("the garbage collector does not run, because --enable-garbage-collector is false");
        return Ok(());
    }
    let (builder, shared) = Builder::new(context.server.clone(), context.queue("garbage_collector_attempt_to_delete"));
    let collector = Collector::new(
        shared.clone(),
        context.client(),
        environment.discovery.clone(),
        context.loopback(),
        environment.backend.clock.clone(),
    );
    let work = shared.queue.work("garbage-collector-controller", WORKERS, |task| collector.sync(task));
    tokio::join!(builder.run(), work);
    Ok(())
}
