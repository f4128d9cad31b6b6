//! DELETE of a collection.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::offload;
use machinery::status::Status;
use registry::{DeleteOptions, ListQuery, ResourceStore, WriteContext, meta};
use request::Response;
use storage::cache::Entry;

use super::ResourceRequest;
use super::delete::{AdmitDelete, IGNORE_READ_ERRORS, ParsedDeleteOptions, options, warn};
use crate::admission::Operation;
use crate::endpoint::Endpoint;
use crate::listing;
use crate::media::Forms;
use crate::options::refuse;

/// Number of objects that deletecollection lists at once (`deleteCollectionPageSize`).
const PAGE_SIZE: usize = 10_000;

/// Deletes the objects that a list with the same parameters returns.
pub async fn delete_collection(endpoint: &Arc<Endpoint>, mut call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let query = super::list::list_query(&call.info)?;
    super::list::check_list(&query, &call.info.query)?;
    let predicate = super::list::predicate(endpoint, &call)?;
    let options = options(endpoint, &mut call).await?;
    if options.ignores_read_errors {
        let why = "is not allowed with DELETECOLLECTION, try again after removing the option";
        refuse("DeleteOptions", &[FieldError::invalid(&Path::new(IGNORE_READ_ERRORS), true, why)])?;
    }
    warn(endpoint, &call, &options);
    let store = endpoint.store()?;
    offload::to_work_pool().await?;
    let mut workers = Workers { running: endpoint.delete_workers.max(1), failure: None };
    let mut listed = store.list(&call.info.namespace, &predicate, &page(&query)).await?;
    workers.delete(endpoint, &mut call, &options, &listed.entries).await?;
    let mut continue_token = listed.continue_token.clone();
    while query.limit == 0 && !continue_token.is_empty() {
        let next = ListQuery { limit: PAGE_SIZE, continue_token, ..ListQuery::default() };
        let next = store.list(&call.info.namespace, &predicate, &next).await?;
        workers.delete(endpoint, &mut call, &options, &next.entries).await?;
        // As upstream, the response has the metadata of the first page.
        listed.entries.extend(next.entries);
        continue_token = next.continue_token;
    }
    match workers.failure {
        Some(failure) => Err(failure),
        None => listing::respond(endpoint, listed, &accepted, &call.info.query),
    }
}

/// Returns the query of the first page: the client's limit, or the page size.
fn page(query: &ListQuery) -> ListQuery {
    ListQuery { limit: if query.limit == 0 { PAGE_SIZE } else { query.limit }, ..query.clone() }
}

/// The concurrent deletions of one request (`--delete-collection-workers`).
///
/// As upstream, a worker ends with its first failure. The others continue, also with later pages, and
/// the request fails with the first failure. A deletion that has begun always completes.
struct Workers {
    /// The workers without a failure.
    running: usize,
    /// The first failure.
    failure: Option<Status>,
}

impl Workers {
    /// Deletes the objects of a page. Takes `&mut ResourceRequest`, because its body is not `Sync`.
    ///
    /// # Errors
    /// The first failure, once no worker is left.
    async fn delete(
        &mut self,
        endpoint: &Arc<Endpoint>,
        call: &mut ResourceRequest,
        options: &ParsedDeleteOptions,
        entries: &[Arc<Entry>],
    ) -> Result<(), Status> {
        let store = endpoint.store()?;
        let (mut deletions, mut entries) = (FuturesUnordered::new(), entries.iter());
        loop {
            while deletions.len() < self.running {
                let Some(entry) = entries.next() else { break };
                let object = match store.object(entry) {
                    Ok(object) => object,
                    Err(status) => {
                        self.fail(status);
                        continue;
                    }
                };
                let Some(meta) = meta(object.as_ref()) else { continue };
                let mut context = call.context(endpoint, options.store.dry_run);
                context.namespace.clone_from(&meta.namespace);
                let attributes = call.attributes(endpoint, Operation::Delete, &meta.name, context.dry_run);
                let check = AdmitDelete { endpoint, attributes };
                deletions.push(delete_one(store, context, meta.name.clone(), &options.store, check));
            }
            match deletions.next().await {
                Some(Ok(())) => {}
                Some(Err(status)) => self.fail(status),
                None => break,
            }
        }
        match &self.failure {
            Some(failure) if self.running == 0 => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    /// Ends a worker.
    fn fail(&mut self, status: Status) {
        self.running -= 1;
        self.failure.get_or_insert(status);
    }
}

/// Deletes an object of a collection. Ignores an object that no longer exists.
async fn delete_one(
    store: &ResourceStore,
    context: WriteContext,
    name: String,
    options: &DeleteOptions,
    check: AdmitDelete<'_>,
) -> Result<(), Status> {
    match store.delete(&context, &name, options, &check).await {
        Err(status) if status.code != 404 => Err(status),
        _ => Ok(()),
    }
}
