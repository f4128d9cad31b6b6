//! List: which revision is shown, pages, consistent continuation (upstream: `cacher.GetList`, `etcd3.store.GetList`).

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

/// Objects of a list, as the cache keeps them.
pub struct Listed {
    pub entries: Vec<Arc<Entry>>,
    /// The revision that all pages of the list show.
    pub revision: Revision,
    /// Whether there are objects behind these.
    pub more: bool,
    /// Token for the rest; empty at the end.
    pub continue_token: String,
    /// How many items are left; not known when a selector is at work.
    pub remaining: Option<i64>,
}

/// What a continue token says (`storage.continueToken`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Continue {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "rv", default)]
    pub revision: i64,
    #[serde(default)]
    pub start: String,
}

/// As many objects are compared with a selector by the thread of a connection.
const FEW: usize = 1_000;

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

impl Continue {
    pub fn encode(revision: i64, start: String) -> String {
        let token = Continue { version: TOKEN_VERSION.into(), revision, start };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    pub fn decode(token: &str) -> Result<Self, Status> {
        let invalid =
            |why: &str| Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
        let bytes = unpacked(token).map_err(|at| invalid(&format!("illegal base64 data at input byte {at}")))?;
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
        // The key stays below the prefix of the list, whatever the token says.
        let key = token.start.strip_prefix('/').unwrap_or(&token.start);
        if !key.is_empty() && key.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(invalid(&token.start));
        }
        Ok(token)
    }
}

/// The bytes of a token, or where Go's decoder finds that it is none (`base64.RawURLEncoding`): line breaks do not count,
/// nor do bits behind the last byte.
fn unpacked(token: &str) -> Result<Vec<u8>, usize> {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let is_known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if let Some(at) = token.bytes().position(|byte| !is_known(&byte) && !is_break(&byte)) {
        return Err(at);
    }
    let letters: Vec<u8> = token.bytes().filter(is_known).collect();
    let lenient = NO_PAD.with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&URL_SAFE, lenient).decode(letters).map_err(|_| token.len().saturating_sub(1))
}

/// Which state a list shows.
enum Shown {
    /// The present, at least as new as this.
    Since(Revision),
    /// The present, whatever it is, without pages.
    Any,
    /// The present, with everything that is stored.
    Latest,
    /// One revision.
    Exactly(Revision),
}

impl ResourceStore {
    /// Lists a namespace, or everything when it is empty.
    ///
    /// # Errors
    /// 410 when the revision of a continue token was compacted away, with a token that goes on in the present.
    pub async fn list(&self, namespace: &str, predicate: &Predicate, query: &ListQuery) -> Result<Listed, Status> {
        self.check_keys_of(namespace, "")?;
        let selector = Selector::new(self, namespace, predicate);
        let prefix = self.range(namespace).start().to_vec();
        let (shown, start) = shown(query, &prefix)?;
        let continued = start.clone();
        let listed = self.list_shown(&selector, shown, start, query.limit).await;
        let mut listed = listed.map_err(|status| match (status.reason, continued) {
            ("Expired", Some(start)) => inconsistent(relative(start.as_bytes(), &prefix)),
            ("Expired", None) => Status::expired("The resourceVersion for the provided list is too old."),
            ("InternalError", _) if self.tells_corrupt => self.corrupt_list(namespace).unwrap_or(status),
            _ => status,
        })?;
        if let (true, Some(last)) = (listed.more, listed.entries.last()) {
            let start = relative(&last.key, &prefix) + "\0";
            listed.continue_token = Continue::encode(listed.revision as i64, start);
        }
        Ok(listed)
    }

    async fn list_shown(
        &self,
        selector: &Selector,
        shown: Shown,
        start: Option<String>,
        limit: usize,
    ) -> Result<Listed, Status> {
        let limit = if matches!(shown, Shown::Any) { 0 } else { limit };
        let snapshot = match shown {
            Shown::Any => self.present(selector),
            Shown::Latest => match self.reach_latest().await? {
                Ok(()) => {
                    self.cache.counts().consistent.add(1);
                    self.present(selector)
                }
                Err(latest) => {
                    self.cache.counts().fallbacks.add(1);
                    return self.list_past(selector, start, limit, latest).await;
                }
            },
            Shown::Since(revision) => {
                self.reach(revision).await?;
                self.present(selector)
            }
            Shown::Exactly(revision) => {
                self.reach(revision).await?;
                let present = Some(self.present(selector)).filter(|present| present.revision <= revision);
                match (present, self.past.find(revision)) {
                    (None, None) => return self.list_past(selector, start, limit, revision).await,
                    (None, Some(snapshot)) | (Some(snapshot), Some(_)) => snapshot,
                    (Some(snapshot), None) => {
                        self.check_is_kept(selector, revision).await?;
                        snapshot
                    }
                }
            }
        };
        let revision = match shown {
            Shown::Exactly(revision) => revision,
            _ => self.whole.revision().max(snapshot.revision),
        };
        if !selector.takes_all() && snapshot.len() > FEW {
            offload::to_work_pool().await?;
        }
        let listed = self.page(snapshot, selector, start, limit, revision).await?;
        Ok(Listed { entries: self.all_in_version(listed.entries).await?, ..listed })
    }

    /// Fails when a revision was compacted away. As upstream, that ends a list even where nothing of the resource has
    /// changed since.
    async fn check_is_kept(&self, selector: &Selector, revision: Revision) -> Result<(), Status> {
        let options = ListOptions { limit: 1, revision: Some(revision) };
        self.store.list(selector.range.clone(), options).await.map(drop).map_err(stored::failure)
    }

    /// The objects of a namespace, or all when it is empty, as they are stored now, in hub form.
    pub async fn objects(&self, namespace: &str, predicate: &Predicate) -> Result<Vec<Owned>, Status> {
        let listed = self.list(namespace, predicate, &ListQuery::default()).await?;
        listed.entries.iter().map(|entry| self.object(entry)).collect()
    }

    /// The objects as they are now, with the index that the selector can use.
    fn present(&self, selector: &Selector) -> Snapshot {
        match selector.index() {
            Some((field, _)) => self.cache.snapshot_by_field(field),
            None => self.cache.snapshot(),
        }
    }

    /// One page of a snapshot.
    async fn page(
        &self,
        snapshot: Snapshot,
        selector: &Selector,
        start: Option<String>,
        limit: usize,
        revision: Revision,
    ) -> Result<Listed, Status> {
        let range = starting_at(&selector.range, start);
        let Taken { entries, more, looked_at } = match selector.is_converted() {
            true => self.take_converted(&snapshot, selector, &range, limit).await?,
            false => take(&snapshot, selector, &range, limit)?,
        };
        self.list_counts.listed(selector.index().map(|(field, _)| field), looked_at, entries.len());
        let mut listed = Listed { entries, revision, more: false, continue_token: String::new(), remaining: None };
        if let (true, Some(last)) = (more, listed.entries.last()) {
            let rest = range.after(&last.key);
            listed.remaining = selector.tells_rest().then(|| snapshot.range(&rest).count() as i64);
            listed.more = true;
            self.past.keep(revision, snapshot);
        }
        Ok(listed)
    }

    /// A page of a past that only the store still has, or of a present that only the store has yet.
    async fn list_past(
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
            listed.entries.extend(self.wanted(selector, &entries).await?.into_iter().flatten());
            let Some(last) = page.kvs.last().filter(|_| page.more) else { break };
            range = range.after(&last.key);
            if limit > 0 && listed.entries.len() == limit {
                listed.remaining = selector.tells_rest().then_some(page.count as i64 - page.kvs.len() as i64);
                listed.more = true;
                break;
            }
        }
        Ok(Listed { entries: self.all_in_version(listed.entries).await?, ..listed })
    }
}

/// Which state a query asks for, and the key that a continued list goes on with.
fn shown(query: &ListQuery, prefix: &[u8]) -> Result<(Shown, Option<String>), Status> {
    if !query.continue_token.is_empty() {
        let token = Continue::decode(&query.continue_token)?;
        let key = token.start.strip_prefix('/').unwrap_or(&token.start);
        let start = Some(String::from_utf8_lossy(prefix).into_owned() + key);
        return match (query.resource_version.as_str(), token.revision) {
            ("", revision @ 1..) => Ok((Shown::Exactly(revision as Revision), start)),
            ("", _) => Ok((Shown::Latest, start)),
            ("0", _) => Ok((Shown::Any, start)),
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
    let shown = match wanted {
        _ if query.resource_version.is_empty() => Shown::Latest,
        0 => Shown::Any,
        revision if exactly => Shown::Exactly(revision),
        revision => Shown::Since(revision),
    };
    Ok((shown, None))
}

/// What a key is called in a continue token: its part behind the prefix of the list.
fn relative(key: &[u8], prefix: &[u8]) -> String {
    String::from_utf8_lossy(key.strip_prefix(prefix).unwrap_or_default()).into_owned()
}

/// The answer to a token of a past that is gone: with another one, for the present (`handleCompactedErrorForPaging`).
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

/// What was found for a page.
#[derive(Default)]
pub(crate) struct Taken {
    pub entries: Vec<Arc<Entry>>,
    /// Whether there are objects behind it.
    pub more: bool,
    /// How many objects were looked at.
    pub looked_at: usize,
}

/// The wanted objects of a range up to a limit, and whether there are more.
fn take(snapshot: &Snapshot, selector: &Selector, range: &KeyRange, limit: usize) -> Result<Taken, Status> {
    let indexed = selector.index().and_then(|(field, value)| snapshot.with_field(field, value, range));
    let found: Box<dyn Iterator<Item = &Arc<Entry>> + '_> = match indexed {
        Some(found) => Box::new(found),
        None => Box::new(snapshot.range(range)),
    };
    let (mut entries, mut looked_at) = (Vec::new(), 0);
    for entry in found {
        // There are more when there are more objects, wanted or not: nobody looks further than the page.
        if limit > 0 && entries.len() == limit {
            return Ok(Taken { entries, more: true, looked_at });
        }
        looked_at += 1;
        check_listed(entry)?;
        if selector.may_match(entry) {
            entries.push(entry.clone());
        }
    }
    Ok(Taken { entries, more: false, looked_at })
}

pub(crate) fn starting_at(range: &KeyRange, start: Option<String>) -> KeyRange {
    start.map_or_else(|| range.clone(), |start| range.clone().starting_at(start))
}

/// A damaged object fails whatever would show it.
pub(crate) fn check(entry: &Entry) -> Result<(), Status> {
    entry.damage.as_ref().map_or(Ok(()), |damage| Err(Status::internal(damage.why())))
}

/// Likewise; who did not ask for it by name is told which one it is.
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
        let said = |token: &str| Continue::decode(token).map_err(|status| status.message).map(|token| token.start);
        let invalid = |why: &str| Err(format!("invalid continue token: continue key is not valid: {why}"));
        for (token, why) in [
            ("https://example.com/", "illegal base64 data at input byte 5"),
            ("abcde", "illegal base64 data at input byte 4"),
            // The bits behind the last byte are no reason.
            ("kube-system", "invalid character '\\u0092' looking for beginning of value"),
        ] {
            assert_eq!(said(token), invalid(why), "{token}");
        }
        assert_eq!(said(&Continue::encode(1, "a".into())), Ok("a".into()));
        assert_eq!(said(&Continue::encode(1, "/".into())), Ok("/".into()));
        assert_eq!(said(&Continue::encode(1, "a/../b".into())), invalid("a/../b"));
    }
}
