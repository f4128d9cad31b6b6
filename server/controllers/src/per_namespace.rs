//! Objects that each namespace has: created, and corrected when they change (upstream:
//! `serviceaccount.ServiceAccountsController`, `rootcacertpublisher.Publisher`).

use std::collections::BTreeSet;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{Namespace, namespace_phase};
use machinery::reflect::Struct;
use machinery::status::Status;
use registry::{Predicate, meta};
use tokio::sync::oneshot;

use crate::context::Context;
use crate::events::{self, Event, follow};
use crate::queue::Next;

/// Upstream's number of workers.
const WORKERS: usize = 1;

/// An object that each namespace has.
pub trait Wanted: Send + Sync + 'static {
    /// The kind of the object in the version of `RESOURCE`.
    type Object: Struct;
    /// The resource of the object.
    const RESOURCE: GroupVersionResource;
    /// The name of the object.
    const NAME: &'static str;
    /// The name of the queue in metrics.
    const QUEUE: &'static str;

    /// Returns the object without a namespace.
    fn object(&self) -> Self::Object;

    /// Sets the namespace of an object.
    fn set_namespace(object: &mut Self::Object, namespace: &str);

    /// Corrects an object that differs from the wanted one; returns whether it differs.
    fn correct(&self, object: &mut Self::Object) -> bool;
}

/// Keeps an object in each namespace that is not terminating.
///
/// # Errors
/// The server lacks the resource.
pub async fn run<W: Wanted>(what: &'static str, wanted: W, mut context: Context) -> Result<(), Status> {
    let namespaces = context.store("", "namespaces")?;
    let objects = context.store(W::RESOURCE.0, W::RESOURCE.2)?;
    let (loopback, queue) = (context.loopback(), context.queue(W::QUEUE));
    let (listed, is_listed) = oneshot::channel();
    let mut listed = Some(listed);
    let mut initial = BTreeSet::new();
    let everything = Predicate::default();
    let of_namespaces = follow(&namespaces, &everything, |event: Event<Namespace>| match event {
        Event::Stored(namespace) if listed.is_some() => drop(initial.insert(namespace.metadata.name)),
        Event::Stored(namespace) => queue.add(namespace.metadata.name),
        Event::Deleted(_) => {}
        Event::Listed => {
            if let Some(listed) = listed.take() {
                let _ = listed.send(std::mem::take(&mut initial));
            }
        }
    });
    let selected = events::named(W::NAME)?;
    let of_objects = follow(&objects, &selected, |event: Event<W::Object>| {
        if let Event::Stored(object) | Event::Deleted(object) = event
            && let Some(meta) = meta(machinery::reflect::Ref::of(&object))
        {
            queue.add(meta.namespace.clone());
        }
    });
    let ensure = |namespace: String| ensure(&loopback, &wanted, namespace);
    let work = async {
        for namespace in is_listed.await.unwrap_or_default() {
            // The queue retries what fails.
            if ensure(namespace.clone()).await.is_err() {
                queue.add(namespace);
            }
        }
        context.first_round_done();
        queue.work(what, WORKERS, ensure).await;
    };
    tokio::join!(of_namespaces, of_objects, work);
    Ok(())
}

/// Creates or corrects the object of a namespace.
async fn ensure<W: Wanted>(loopback: &Loopback, wanted: &W, namespace: String) -> Result<Next, Status> {
    let of = loopback.get::<Namespace>(("", "v1", "namespaces"), "", &namespace).await?;
    let is_active =
        |of: Namespace| of.metadata.deletion_timestamp.is_none() && of.status.phase == namespace_phase::ACTIVE;
    if !of.is_some_and(is_active) {
        return Ok(Next::Done);
    }
    let written = match loopback.get::<W::Object>(W::RESOURCE, &namespace, W::NAME).await? {
        Some(mut object) => match wanted.correct(&mut object) {
            true => loopback.update(W::RESOURCE, object).await,
            false => return Ok(Next::Done),
        },
        None => {
            let mut object = wanted.object();
            W::set_namespace(&mut object, &namespace);
            loopback.create(W::RESOURCE, object).await
        }
    };
    match written {
        // The object or its namespace changed meanwhile; an event follows.
        Err(status) if matches!(status.code, 404 | 409) => Ok(Next::Done),
        // The namespace is terminating.
        Err(status) if is_terminating(&status) => Ok(Next::Done),
        written => written.map(|_| Next::Done),
    }
}

/// Whether a create was refused because its namespace is terminating
/// (`v1.NamespaceTerminatingCause`).
pub fn is_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}
