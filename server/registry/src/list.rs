//! List: selection of the revision, pages, consistent continuation (upstream: `cacher.GetList`,
//! `etcd3.store.GetList`).

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{NO_PAD, URL_SAFE_NO_PAD};
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{json, offload};
use serde::{Deserialize, Serialize};
use storage::cache::{Entry, Snapshot};
use storage::{KeyRange, ListOptions, Revision};

use crate::options::ListQuery;
use crate::resource::{ResourceStore, parse_resource_version};
use crate::select::{Predicate, Selector};
use crate::stored;

/// Objects of a list, as cache entries.
pub struct Listed {
    /// The objects in key order, in the version of the store's users.
    pub entries: Vec<Arc<Entry>>,
    /// The revision of all pages of the list.
    pub revision: Revision,
    /// Whether there are objects after these.
    pub more: bool,
    /// Token for the next page; empty at the end.
    pub continue_token: String,
    /// Number of items after these; `None` at the end and with a selector.
    pub remaining: Option<i64>,
}

/// The content of a continue token (`storage.continueToken`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Continue {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "rv", default)]
    pub revision: i64,
    #[serde(default)]
    pub start: String,
}

/// Maximum number of objects that are matched on the connection's thread.
const MAX_INLINE: usize = 1_000;

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

impl Continue {
    pub fn encode(revision: i64, start: String) -> String {
        let token = Continue { version: TOKEN_VERSION.into(), revision, start };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    pub fn decode(token: &str) -> Result<Self, Status> {
        let invalid =
            |why: &str| Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
        let bytes = decode_base64(token).map_err(|at| invalid(&format!("illegal base64 data at input byte {at}")))?;
        if let Some(why) = json::syntax_error(&bytes) {
            return Err(invalid(&why));
        }
        let token: Continue = serde_json::from_slice(&bytes).map_err(|e| invalid(&e.to_string()))?;
        if token.version != TOKEN_VERSION {
            return Err(invalid(&format!("server does not recognize this encoded version {}", token.version)));
        }
        if token.revision == 0 {
            return Err(invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
        }
        if token.start.is_empty() {
            return Err(invalid("encoded start key empty (version meta.k8s.io/v1)"));
        }
        // The key must stay below the prefix of the list.
        let key = token.start.strip_prefix('/').unwrap_or(&token.start);
        if !key.is_empty() && key.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(invalid(&token.start));
        }
        Ok(token)
    }
}

/// Decodes base64 as Go's `base64.RawURLEncoding`, or returns the offset of its error. Line breaks are
/// ignored, and so are trailing bits.
fn decode_base64(token: &str) -> Result<Vec<u8>, usize> {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let is_known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if let Some(at) = token.bytes().position(|byte| !is_known(&byte) && !is_break(&byte)) {
        return Err(at);
    }
    let letters: Vec<u8> = token.bytes().filter(is_known).collect();
    let lenient = NO_PAD.with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&URL_SAFE, lenient).decode(letters).map_err(|_| token.len().saturating_sub(1))
}

/// The state that a list returns.
enum RequestedState {
    /// The current state, at least as new as this revision.
    AtLeast(Revision),
    /// The current state of the cache, without pages.
    Any,
    /// The current state, with everything that is stored.
    Latest,
    /// The state at one revision.
    Exact(Revision),
}

impl ResourceStore {
    /// Lists a namespace, or all namespaces when it is empty.
    ///
    /// # Errors
    /// Besides those of each call:
    /// - 400 for an invalid continue token or resourceVersion;
    /// - 410 when the revision is compacted; after a continue token, with a token that continues at the
    ///   current state.
    pub async fn list(&self, namespace: &str, predicate: &Predicate, query: &ListQuery) -> Result<Listed, Status> {
        self.check_keys_of(namespace, "")?;
        let selector = Selector::new(self, namespace, predicate);
        let prefix = self.range(namespace).start().to_vec();
        let (state, start) = requested_state(query, &prefix)?;
        let continued = start.clone();
        let listed = self.list_state(&selector, state, start, query.limit).await;
        let mut listed = listed.map_err(|status| match (status.reason, continued) {
            ("Expired", Some(start)) => inconsistent(relative(start.as_bytes(), &prefix)),
            ("Expired", None) => Status::expired("The resourceVersion for the provided list is too old."),
            ("InternalError", _) if self.reports_corrupt_objects => self.corrupt_list(namespace).unwrap_or(status),
            _ => status,
        })?;
        if let (true, Some(last)) = (listed.more, listed.entries.last()) {
            let start = relative(&last.key, &prefix) + "\0";
            listed.continue_token = Continue::encode(listed.revision as i64, start);
        }
        Ok(listed)
    }

    async fn list_state(
        &self,
        selector: &Selector,
        state: RequestedState,
        start: Option<String>,
        limit: usize,
    ) -> Result<Listed, Status> {
        let limit = if matches!(state, RequestedState::Any) { 0 } else { limit };
        let snapshot = match state {
            RequestedState::Any => self.current_snapshot(selector),
            RequestedState::Latest => match self.reach_latest().await? {
                Ok(()) => {
                    self.cache.counts().consistent.add(1);
                    self.current_snapshot(selector)
                }
                Err(latest) => {
                    self.cache.counts().fallbacks.add(1);
                    return self.list_from_store(selector, start, limit, latest).await;
                }
            },
            RequestedState::AtLeast(revision) => {
                self.reach(revision).await?;
                self.current_snapshot(selector)
            }
            RequestedState::Exact(revision) => {
                self.reach(revision).await?;
                let current = Some(self.current_snapshot(selector)).filter(|current| current.revision <= revision);
                match (current, self.page_snapshots.find(revision)) {
                    (None, None) => return self.list_from_store(selector, start, limit, revision).await,
                    (None, Some(snapshot)) | (Some(snapshot), Some(_)) => snapshot,
                    (Some(snapshot), None) => {
                        self.check_not_compacted(selector, revision).await?;
                        snapshot
                    }
                }
            }
        };
        let revision = match state {
            RequestedState::Exact(revision) => revision,
            _ => self.whole.revision().max(snapshot.revision),
        };
        if !selector.selects_all() && snapshot.len() > MAX_INLINE {
            offload::to_work_pool().await?;
        }
        let listed = self.page(snapshot, selector, start, limit, revision).await?;
        Ok(Listed { entries: self.all_in_version(listed.entries).await?, ..listed })
    }

    /// Fails when a revision is compacted. As in upstream, this ends a list even if the resource has
    /// not changed since.
    async fn check_not_compacted(&self, selector: &Selector, revision: Revision) -> Result<(), Status> {
        let options = ListOptions { limit: 1, revision: Some(revision) };
        self.store.list(selector.range.clone(), options).await.map(drop).map_err(stored::failure)
    }

    /// Returns the current objects of a namespace in hub form.
    ///
    /// An empty namespace selects all namespaces.
    ///
    /// # Errors
    /// As [`ResourceStore::list`].
    pub async fn objects(&self, namespace: &str, predicate: &Predicate) -> Result<Vec<Owned>, Status> {
        let listed = self.list(namespace, predicate, &ListQuery::default()).await?;
        listed.entries.iter().map(|entry| self.object(entry)).collect()
    }

    /// Returns the current objects, with the index that the selector can use.
    fn current_snapshot(&self, selector: &Selector) -> Snapshot {
        match selector.index() {
            Some((field, _)) => self.cache.snapshot_by_field(field),
            None => self.cache.snapshot(),
        }
    }

    /// Returns one page of a snapshot.
    async fn page(
        &self,
        snapshot: Snapshot,
        selector: &Selector,
        start: Option<String>,
        limit: usize,
        revision: Revision,
    ) -> Result<Listed, Status> {
        let range = starting_at(&selector.range, start);
        let SelectedPage { entries, more, examined } = match selector.is_converted() {
            true => self.select_range_converted(&snapshot, selector, &range, limit).await?,
            false => select_range(&snapshot, selector, &range, limit)?,
        };
        self.list_counts.listed(selector.index().map(|(field, _)| field), examined, entries.len());
        let mut listed = Listed { entries, revision, more: false, continue_token: String::new(), remaining: None };
        if let (true, Some(last)) = (more, listed.entries.last()) {
            let rest = range.after(&last.key);
            listed.remaining = selector.reports_remaining().then(|| snapshot.range(&rest).count() as i64);
            listed.more = true;
            self.page_snapshots.keep(revision, snapshot);
        }
        Ok(listed)
    }

    /// Returns a page from the store: of a past revision, or of one that the cache has not reached.
    async fn list_from_store(
        &self,
        selector: &Selector,
        start: Option<String>,
        limit: usize,
        revision: Revision,
    ) -> Result<Listed, Status> {
        let mut range = starting_at(&selector.range, start);
        let mut listed =
            Listed { entries: Vec::new(), revision, more: false, continue_token: String::new(), remaining: None };
        loop {
            let wanted = if limit == 0 { 0 } else { limit - listed.entries.len() };
            let options = ListOptions { limit: wanted, revision: Some(revision) };
            let page = self.store.list(range.clone(), options).await.map_err(stored::failure)?;
            let entries: Vec<Arc<Entry>> = page.kvs.iter().map(|kv| self.cache.entry(kv)).collect();
            listed.entries.extend(self.selected(selector, &entries).await?.into_iter().flatten());
            let Some(last) = page.kvs.last().filter(|_| page.more) else { break };
            range = range.after(&last.key);
            if limit > 0 && listed.entries.len() == limit {
                listed.remaining = selector.reports_remaining().then_some(page.count as i64 - page.kvs.len() as i64);
                listed.more = true;
                break;
            }
        }
        Ok(Listed { entries: self.all_in_version(listed.entries).await?, ..listed })
    }
}

/// Returns the state that a query requests, and the key from which a list continues.
fn requested_state(query: &ListQuery, prefix: &[u8]) -> Result<(RequestedState, Option<String>), Status> {
    if !query.continue_token.is_empty() {
        let token = Continue::decode(&query.continue_token)?;
        let key = token.start.strip_prefix('/').unwrap_or(&token.start);
        let start = Some(String::from_utf8_lossy(prefix).into_owned() + key);
        return match (query.resource_version.as_str(), token.revision) {
            ("", revision @ 1..) => Ok((RequestedState::Exact(revision as Revision), start)),
            ("", _) => Ok((RequestedState::Latest, start)),
            ("0", _) => Ok((RequestedState::Any, start)),
            _ => Err(Status::bad_request("specifying resource version is not allowed when using continue")),
        };
    }
    let wanted = parse_resource_version(&query.resource_version)
        .map_err(|status| Status::bad_request(format!("invalid resource version: {}", status.message)))?;
    let exactly = match query.resource_version_match.as_str() {
        "Exact" => true,
        "" => query.limit > 0,
        _ => false,
    };
    let state = match wanted {
        _ if query.resource_version.is_empty() => RequestedState::Latest,
        0 => RequestedState::Any,
        revision if exactly => RequestedState::Exact(revision),
        revision => RequestedState::AtLeast(revision),
    };
    Ok((state, None))
}

/// Returns the form of a key in a continue token: the key without the prefix of the list.
fn relative(key: &[u8], prefix: &[u8]) -> String {
    String::from_utf8_lossy(key.strip_prefix(prefix).unwrap_or_default()).into_owned()
}

/// Returns the error for a token of a compacted revision, with one for the current state
/// (`handleCompactedErrorForPaging`).
fn inconsistent(start: String) -> Status {
    let mut status = Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    status.continue_token = Continue::encode(-1, start);
    status
}

/// The objects selected for a page.
#[derive(Default)]
pub(crate) struct SelectedPage {
    pub entries: Vec<Arc<Entry>>,
    /// Whether there are objects after the page.
    pub more: bool,
    /// Number of objects that were examined.
    pub examined: usize,
}

/// Selects objects of a range up to a limit.
fn select_range(
    snapshot: &Snapshot,
    selector: &Selector,
    range: &KeyRange,
    limit: usize,
) -> Result<SelectedPage, Status> {
    let indexed = selector.index().and_then(|(field, value)| snapshot.with_field(field, value, range));
    let found: Box<dyn Iterator<Item = &Arc<Entry>> + '_> = match indexed {
        Some(found) => Box::new(found),
        None => Box::new(snapshot.range(range)),
    };
    let (mut entries, mut examined) = (Vec::new(), 0);
    for entry in found {
        // Any object after the page counts as more, selected or not: the search ends with the page.
        if limit > 0 && entries.len() == limit {
            return Ok(SelectedPage { entries, more: true, examined });
        }
        examined += 1;
        check_listed(entry)?;
        if selector.may_match(entry) {
            entries.push(entry.clone());
        }
    }
    Ok(SelectedPage { entries, more: false, examined })
}

pub(crate) fn starting_at(range: &KeyRange, start: Option<String>) -> KeyRange {
    start.map_or_else(|| range.clone(), |start| range.clone().starting_at(start))
}

/// Fails for a damaged object, as any response with it must.
pub(crate) fn check(entry: &Entry) -> Result<(), Status> {
    entry.damage.as_ref().map_or(Ok(()), |damage| Err(Status::internal(damage.why())))
}

/// Fails for a damaged object of a list; the error names its key.
pub(crate) fn check_listed(entry: &Entry) -> Result<(), Status> {
    match &entry.damage {
        None => Ok(()),
        Some(damage) => {
            let (key, why) = (String::from_utf8_lossy(&entry.key), damage.why());
            Err(Status::internal(format!("unable to transform key {key:?}: {why}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_decoded_as_go_does() {
        let decode = |token: &str| Continue::decode(token).map_err(|status| status.message).map(|token| token.start);
        let invalid = |why: &str| Err(format!("invalid continue token: continue key is not valid: {why}"));
        for (token, why) in [
            ("https://example.com/", "illegal base64 data at input byte 5"),
            ("abcde", "illegal base64 data at input byte 4"),
            // Trailing bits are not an error.
            ("kube-system", "invalid character '\\u0092' looking for beginning of value"),
        ] {
            assert_eq!(decode(token), invalid(why), "{token}");
        }
        assert_eq!(decode(&Continue::encode(1, "a".into())), Ok("a".into()));
        assert_eq!(decode(&Continue::encode(1, "/".into())), Ok("/".into()));
        assert_eq!(decode(&Continue::encode(1, "a/../b".into())), invalid("a/../b"));
    }
}
