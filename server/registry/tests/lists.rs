//! Lists: pages, selectors, resourceVersions and continue tokens.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::sync::Arc;

use common::{config_maps, create, create_from, edit, embedded, refusal, resource, set_data};
use machinery::selector::{FieldSelector, LabelSelector};
use registry::{ListQuery, Listed, Predicate, ResourceStore};
use serde_json::json;
use storage::Store;

fn page(limit: usize, token: &str) -> ListQuery {
    ListQuery { limit, continue_token: token.into(), ..ListQuery::default() }
}

fn at(version: &str, matches: &str) -> ListQuery {
    ListQuery { resource_version: version.into(), resource_version_match: matches.into(), ..ListQuery::default() }
}

fn selecting(labels: &str, fields: &str) -> Predicate {
    Predicate { labels: LabelSelector::parse(labels).unwrap(), fields: FieldSelector::parse(fields).unwrap() }
}

/// The keys of the listed objects below that of their resource.
fn keys(listed: &Listed) -> Vec<String> {
    let text = |key: &[u8]| String::from_utf8(key.to_vec()).unwrap();
    let keys = listed.entries.iter().map(|entry| text(&entry.key));
    keys.map(|key| key.splitn(4, '/').nth(3).unwrap().to_owned()).collect()
}

async fn all(store: &ResourceStore, namespace: &str, predicate: &Predicate) -> Vec<String> {
    keys(&store.list(namespace, predicate, &ListQuery::default()).await.unwrap())
}

async fn five() -> (tempfile::TempDir, Arc<dyn Store>, Arc<ResourceStore>) {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = embedded(&folder);
    let maps = config_maps(store.clone()).await;
    for (namespace, name) in [("m", "a"), ("n", "a"), ("n", "b"), ("n", "c"), ("o", "a")] {
        create(&maps, namespace, name).await;
    }
    (folder, store, maps)
}

#[tokio::test]
async fn pages_show_the_state_of_the_first_one() {
    let (_folder, _, maps) = five().await;
    let everything = Predicate::default();
    let first = maps.list("", &everything, &page(2, "")).await.unwrap();
    assert_eq!((keys(&first), first.remaining, first.more), (vec!["m/a".into(), "n/a".into()], Some(3), true));
    create(&maps, "n", "aa").await;
    edit(&maps, |new| set_data(new, "k", "v")).await.unwrap();
    let second = maps.list("", &everything, &page(2, &first.continue_token)).await.unwrap();
    assert_eq!((keys(&second), second.remaining), (vec!["n/b".into(), "n/c".into()], Some(1)));
    let last = maps.list("", &everything, &page(2, &second.continue_token)).await.unwrap();
    assert_eq!((keys(&last), last.remaining, last.more), (vec!["o/a".into()], None, false));
    assert!(last.continue_token.is_empty());
    assert_eq!([second.revision, last.revision], [first.revision; 2]);
    assert_eq!(maps.list("", &everything, &page(0, &first.continue_token)).await.unwrap().entries.len(), 3);
}

#[tokio::test]
async fn a_page_of_exactly_the_rest_is_the_last() {
    let (_folder, _, maps) = five().await;
    let listed = maps.list("n", &Predicate::default(), &page(3, "")).await.unwrap();
    assert!(!listed.more && listed.continue_token.is_empty() && listed.remaining.is_none());
}

#[tokio::test]
async fn selected_pages_have_no_count() {
    let (_folder, _, maps) = five().await;
    let named = selecting("", "metadata.name=a");
    let first = maps.list("", &named, &page(2, "")).await.unwrap();
    assert_eq!((keys(&first), first.remaining, first.more), (vec!["m/a".into(), "n/a".into()], None, true));
    let second = maps.list("", &named, &page(2, &first.continue_token)).await.unwrap();
    assert_eq!(keys(&second), ["o/a"]);
}

#[tokio::test]
async fn an_expired_token_has_one_for_the_current_state() {
    let (_folder, store, maps) = five().await;
    let everything = Predicate::default();
    let first = maps.list("", &everything, &page(2, "")).await.unwrap();
    create(&maps, "n", "aa").await;
    let other = config_maps(store.clone()).await;
    store.compact(store.current_revision().await.unwrap()).await.unwrap();
    let status = other.list("", &everything, &page(2, &first.continue_token)).await.err().unwrap();
    assert_eq!((status.code, status.reason), (410, "Expired"));
    let rest = other.list("", &everything, &page(0, &status.continue_token)).await.unwrap();
    assert_eq!(keys(&rest), ["n/aa", "n/b", "n/c", "o/a"], "an object that was created since is listed");
}

#[tokio::test]
async fn field_selectors_select_by_name_namespace_and_declared_field() {
    let (_folder, _, maps) = five().await;
    for (namespace, fields, expected) in [
        ("", "metadata.name=a", vec!["m/a", "n/a", "o/a"]),
        ("n", "metadata.name=a", vec!["n/a"]),
        ("n", "metadata.name!=a", vec!["n/b", "n/c"]),
        ("", "metadata.namespace=n,metadata.name!=b", vec!["n/a", "n/c"]),
        ("", "metadata.namespace!=n", vec!["m/a", "o/a"]),
        ("n", "metadata.namespace=m", vec![]),
        ("", "metadata.name=a,metadata.name=b", vec![]),
    ] {
        assert_eq!(all(&maps, namespace, &selecting("", fields)).await, expected, "{namespace}: {fields}");
    }
    let folder = tempfile::tempdir().unwrap();
    let pods = resource(embedded(&folder), "", "pods").await;
    for (name, node) in [("a", "one"), ("b", "two"), ("c", "")] {
        let spec = json!({ "nodeName": node, "containers": [{ "name": "a", "image": "a" }] });
        create_from(&pods, &json!({ "metadata": { "name": name }, "spec": spec })).await;
    }
    for (fields, expected) in [
        ("spec.nodeName=one", vec!["n/a"]),
        ("spec.nodeName!=one", vec!["n/b", "n/c"]),
        ("spec.nodeName=", vec!["n/c"]),
        ("spec.nodeName=two,metadata.name=a", vec![]),
        ("status.phase=Pending", vec!["n/a", "n/b", "n/c"]),
        ("spec.restartPolicy=Never", vec![]),
    ] {
        assert_eq!(all(&pods, "", &selecting("", fields)).await, expected, "{fields}");
    }
}

#[tokio::test]
async fn label_selectors_follow_changes() {
    let folder = tempfile::tempdir().unwrap();
    let maps = config_maps(embedded(&folder)).await;
    for (name, labels) in [("a", json!({ "app": "web" })), ("b", json!({ "app": "db", "tier": "1" })), ("c", json!({}))]
    {
        create_from(&maps, &json!({ "metadata": { "name": name, "labels": labels } })).await;
    }
    for (labels, expected) in [
        ("app=web", vec!["n/a"]),
        ("app!=web", vec!["n/b", "n/c"]),
        ("app in (web,db),tier", vec!["n/b"]),
        ("app notin (db)", vec!["n/a", "n/c"]),
        ("!app", vec!["n/c"]),
        ("tier>0", vec!["n/b"]),
        ("tier<1", vec![]),
    ] {
        assert_eq!(all(&maps, "n", &selecting(labels, "")).await, expected, "{labels}");
    }
    edit(&maps, |new| registry::meta_mut(new).unwrap().labels.clear()).await.unwrap();
    assert!(all(&maps, "n", &selecting("app=web", "")).await.is_empty());
}

#[tokio::test]
async fn a_version_selects_the_state() {
    let (_folder, store, maps) = five().await;
    let everything = Predicate::default();
    let before = maps.list("n", &everything, &ListQuery::default()).await.unwrap();
    let then = before.revision.to_string();
    create(&maps, "n", "d").await;
    for (query, count) in [
        (at("", ""), 4),
        (at("0", ""), 4),
        (at("0", "NotOlderThan"), 4),
        (at(&then, ""), 4),
        (at(&then, "NotOlderThan"), 4),
        (at(&then, "Exact"), 3),
        (ListQuery { limit: 2, ..at(&then, "") }, 2),
    ] {
        let listed = maps.list("n", &everything, &query).await.unwrap();
        assert_eq!(listed.entries.len(), count, "{query:?}");
        let is_exact = query.resource_version_match == "Exact" || query.limit > 0;
        assert_eq!(listed.revision == before.revision, is_exact, "{query:?}");
    }
    let revision = store.current_revision().await.unwrap();
    assert_eq!(maps.list("n", &everything, &at("", "")).await.unwrap().revision, revision);
}

#[tokio::test]
async fn malformed_versions_and_tokens_are_refused() {
    let (_folder, _, maps) = five().await;
    let everything = Predicate::default();
    let first = maps.list("", &everything, &page(2, "")).await.unwrap();
    for (query, expected) in [
        (at("x", ""), "invalid resource version: "),
        (at("-1", ""), "invalid resource version: "),
        (page(2, "x"), "invalid continue token: continue key is not valid: "),
        (
            ListQuery { resource_version: "5".into(), ..page(2, &first.continue_token) },
            "specifying resource version is not allowed when using continue",
        ),
    ] {
        let (code, _, message) = refusal(maps.list("", &everything, &query).await);
        assert!(code == 400 && message.starts_with(expected), "{query:?}: {message}");
    }
    let (code, _, message) = refusal(maps.list("..", &everything, &ListQuery::default()).await);
    assert_eq!((code, message.as_str()), (500, r#"invalid key: "/configmaps/..""#));
}

#[tokio::test]
async fn version_zero_ignores_pages() {
    let (_folder, _, maps) = five().await;
    let listed = maps.list("n", &Predicate::default(), &ListQuery { limit: 1, ..at("0", "") }).await.unwrap();
    assert_eq!((listed.entries.len(), listed.more), (3, false));
}
