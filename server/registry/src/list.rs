//! List: selectors, pages, consistent continuation.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use machinery::reflect::{Owned, Ref};
use machinery::selector::{FieldSelector, LabelSelector};
use machinery::status::Status;
use serde::{Deserialize, Serialize};
use storage::ListOptions;

use crate::metadata::meta;
use crate::options::ListQuery;
use crate::resource::{ResourceStore, parse_resource_version, too_large_resource_version};
use crate::stored;

/// Which objects are wanted.
#[derive(Clone, Default)]
pub struct Predicate {
    pub labels: LabelSelector,
    pub fields: FieldSelector,
}

impl Predicate {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

/// Items of a list in hub form.
pub struct ListResult {
    pub items: Vec<Owned>,
    /// The revision that all pages of the list show.
    pub revision: u64,
    /// Token for the rest; empty at the end.
    pub continue_token: String,
    /// How many items are left; not known when a selector is at work.
    pub remaining: Option<i64>,
}

/// What a continue token says (`storage.continueToken`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Continue {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "rv", default)]
    revision: i64,
    start: String,
}

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

impl Continue {
    fn encode(revision: u64, start: String) -> String {
        let token = Continue { version: TOKEN_VERSION.into(), revision: revision as i64, start };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    fn decode(token: &str) -> Result<Self, Status> {
        let invalid = |why: &str| Status::bad_request(format!("continue key is not valid: {why}"));
        let bytes = URL_SAFE_NO_PAD.decode(token).or_else(|_| STANDARD.decode(token));
        let bytes = bytes.map_err(|_| invalid("illegal base64 data at input byte 0"))?;
        let token: Continue = serde_json::from_slice(&bytes).map_err(|e| invalid(&e.to_string()))?;
        if token.version != TOKEN_VERSION {
            return Err(invalid(&format!("server does not recognize this encoded version {:?}", token.version)));
        }
        Ok(token)
    }
}

impl ResourceStore {
    /// Whether an object is among the wanted.
    pub fn matches(&self, predicate: &Predicate, object: Ref<'_>) -> bool {
        let Some(meta) = meta(object) else { return predicate.is_empty() };
        predicate.labels.matches(|key| meta.labels.get(key).map(String::as_str))
            && predicate
                .fields
                .requirements()
                .iter()
                .all(|r| r.matches(&self.selectable(&r.field, object).unwrap_or_default()))
    }

    /// The value of a selectable field.
    fn selectable(&self, label: &str, object: Ref<'_>) -> Option<String> {
        let meta = meta(object)?;
        match label {
            "metadata.name" => Some(meta.name.clone()),
            "metadata.namespace" => Some(meta.namespace.clone()),
            _ => self.def.selectable.iter().find(|s| s.label == label).map(|s| (s.value)(object)),
        }
    }

    /// Lists a namespace, or everything when it is empty.
    pub async fn list(&self, namespace: &str, predicate: &Predicate, query: &ListQuery) -> Result<ListResult, Status> {
        let mut range = self.range(namespace);
        let (mut revision, exact) = self.start_revision(query)?;
        if !query.continue_token.is_empty() {
            let token = Continue::decode(&query.continue_token)?;
            revision = (token.revision > 0).then_some(token.revision as u64);
            range = range.starting_at(format!("{}{}", self.root, token.start));
        }
        if !exact && let Some(wanted) = revision.filter(|_| query.continue_token.is_empty()) {
            let current = self.store.current_revision().await.map_err(stored::failure)?;
            if wanted > current {
                return Err(too_large_resource_version(wanted, current));
            }
            revision = None;
        }
        let mut items = Vec::new();
        let mut at = revision;
        loop {
            let limit = if query.limit == 0 { 0 } else { query.limit - items.len() };
            let page =
                self.store.list(range.clone(), ListOptions { limit, revision: at }).await.map_err(stored::failure)?;
            let shown = *at.get_or_insert(page.revision);
            for kv in &page.kvs {
                let object = self.decode(kv)?;
                if self.matches(predicate, object.as_ref()) {
                    items.push(object);
                }
            }
            let Some(last) = page.kvs.last().filter(|_| page.more) else {
                return Ok(ListResult { items, revision: shown, continue_token: String::new(), remaining: None });
            };
            range = range.after(&last.key);
            if items.len() >= query.limit {
                let start = String::from_utf8_lossy(&last.key[self.root.len()..]).into_owned() + "\0";
                let left = page.count as i64 - page.kvs.len() as i64;
                return Ok(ListResult {
                    items,
                    revision: shown,
                    continue_token: Continue::encode(shown, start),
                    remaining: predicate.is_empty().then_some(left),
                });
            }
        }
    }

    /// The revision to read at, and whether it is meant exactly.
    fn start_revision(&self, query: &ListQuery) -> Result<(Option<u64>, bool), Status> {
        let wanted = parse_resource_version(&query.resource_version)?;
        let exact =
            query.resource_version_match == "Exact" || (query.limit > 0 && query.resource_version_match.is_empty());
        Ok(((wanted > 0).then_some(wanted), exact && wanted > 0))
    }

    /// The labels that a field selector may use besides those of metadata.
    pub fn selectable_labels(&self) -> impl Iterator<Item = &'static str> {
        self.def.selectable.iter().map(|s| s.label)
    }
}
