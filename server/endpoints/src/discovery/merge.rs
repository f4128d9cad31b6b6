//! Merges the discovery of several servers (upstream:
//! `peerAggregatedDiscoveryHandler.mergeResources`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::peers::{group_name, list};

/// Merges the groups of all servers, in order of the server names. None if all servers have the
/// same groups.
pub(super) fn groups(servers: &BTreeMap<&str, Vec<&Value>>) -> Option<Vec<Value>> {
    merge(servers.values().map(Vec::as_slice), group_name, |one, other| {
        let versions = both(one, other, "versions", |version| text(version, "version"), versions)?;
        Some(with(one, "versions", versions))
    })
}

fn versions(one: &Value, other: &Value) -> Option<Value> {
    let resources = both(one, other, "resources", |resource| text(resource, "resource"), resources)?;
    Some(with(one, "resources", resources))
}

/// Merges two entries of a resource: the union of their verbs and subresources.
fn resources(one: &Value, other: &Value) -> Option<Value> {
    if one == other {
        return None;
    }
    let all = |key| list(one, key).iter().chain(list(other, key));
    let verbs: BTreeSet<&str> = all("verbs").filter_map(Value::as_str).collect();
    let subresources: BTreeMap<&str, &Value> =
        all("subresources").map(|entry| (text(entry, "subresource"), entry)).collect();
    let joined = with(one, "verbs", verbs.into_iter().map(Value::from).collect());
    Some(match subresources.is_empty() {
        true => joined,
        false => with(&joined, "subresources", subresources.into_values().cloned().collect()),
    })
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_default()
}

fn with(entry: &Value, key: &str, entries: Vec<Value>) -> Value {
    let mut entry = entry.clone();
    if let Some(fields) = entry.as_object_mut() {
        fields.insert(key.to_owned(), entries.into());
    }
    entry
}

/// Merges a list of both entries.
fn both(
    one: &Value,
    other: &Value,
    key: &str,
    name: fn(&Value) -> &str,
    join: impl Fn(&Value, &Value) -> Option<Value>,
) -> Option<Vec<Value>> {
    let lists = [one, other].map(|entry| list(entry, key).iter().collect::<Vec<_>>());
    merge(lists.iter().map(Vec::as_slice), name, join)
}

/// Merges lists: entries of one name are joined, and keep an order that contradicts no list.
/// Returns none if the lists are equal. `join` returns none if the second entry adds nothing to the
/// first.
fn merge<'a>(
    lists: impl Iterator<Item = &'a [&'a Value]>,
    name: fn(&Value) -> &str,
    join: impl Fn(&Value, &Value) -> Option<Value>,
) -> Option<Vec<Value>> {
    let mut entries: BTreeMap<&str, Cow<'_, Value>> = BTreeMap::new();
    let (mut orders, mut differs) = (Vec::new(), false);
    for list in lists {
        for &entry in list {
            let joined = entries.get(name(entry)).map(|known| join(known, entry));
            match joined {
                None => drop(entries.insert(name(entry), Cow::Borrowed(entry))),
                Some(None) => {}
                Some(Some(joined)) => {
                    differs = true;
                    entries.insert(name(entry), Cow::Owned(joined));
                }
            }
        }
        orders.push(list.iter().map(|entry| name(entry)).collect::<Vec<_>>());
    }
    if !differs && orders.windows(2).all(|pair| pair[0] == pair[1]) {
        return None;
    }
    Some(in_order(&orders).into_iter().filter_map(|name| entries.remove(name).map(Cow::into_owned)).collect())
}

/// The names before and after a name, in a topological sort.
#[derive(Default)]
struct Place<'a> {
    before: usize,
    behind: BTreeSet<&'a str>,
}

/// Sorts all names. Each name follows the names that precede it in a list; ties are sorted
/// alphabetically. Contradicting lists are sorted alphabetically only (upstream:
/// `sort.MergePreservingRelativeOrder`).
fn in_order<'a>(lists: &[Vec<&'a str>]) -> Vec<&'a str> {
    let all: BTreeSet<&str> = lists.iter().flatten().copied().collect();
    let is_whole =
        |list: &&Vec<&str>| list.len() == all.len() && list.iter().collect::<BTreeSet<_>>().len() == all.len();
    if let Some(whole) = lists.iter().find(is_whole) {
        return whole.clone();
    }
    let mut places: BTreeMap<&str, Place<'_>> = all.iter().map(|&name| (name, Place::default())).collect();
    for pair in lists.iter().flat_map(|list| list.windows(2)) {
        let is_new = places.get_mut(pair[0]).is_some_and(|place| place.behind.insert(pair[1]));
        if let Some(place) = places.get_mut(pair[1]).filter(|_| is_new) {
            place.before += 1;
        }
    }
    let mut free: BTreeSet<&str> =
        places.iter().filter(|(_, place)| place.before == 0).map(|(name, _)| *name).collect();
    let mut ordered = Vec::with_capacity(all.len());
    while let Some(next) = free.pop_first() {
        ordered.push(next);
        for name in std::mem::take(&mut places.entry(next).or_default().behind) {
            let place = places.entry(name).or_default();
            place.before -= 1;
            if place.before == 0 {
                free.insert(name);
            }
        }
    }
    if ordered.len() == all.len() { ordered } else { all.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn preserves_relative_order() {
        for (lists, expect) in [
            (&[&["a", "b", "c"][..], &["b", "c"]][..], &["a", "b", "c"][..]),
            (&[&["a", "c"], &["b", "c"]], &["a", "b", "c"]),
            (&[&["c", "a"], &["b"]], &["b", "c", "a"]),
            (&[&["b", "a"], &["a", "c"]], &["b", "a", "c"]),
            (&[&["b", "a"], &["a", "b"]], &["b", "a"]),
            (&[&["b", "a", "c"], &["a", "b", "d"]], &["a", "b", "c", "d"]),
            (&[], &[]),
        ] {
            let lists: Vec<Vec<&str>> = lists.iter().map(|list| list.to_vec()).collect();
            assert_eq!(in_order(&lists), expect, "{lists:?}");
        }
    }

    fn group(name: &str, versions: &[(&str, &[Value])]) -> Value {
        let version = |(name, resources): &(&str, &[Value])| json!({"version": name, "resources": resources});
        json!({"metadata": {"name": name}, "versions": versions.iter().map(version).collect::<Vec<_>>()})
    }

    fn resource(name: &str, verbs: &[&str], subresources: &[&str]) -> Value {
        let subresource = |name: &&str| json!({"subresource": name});
        json!({"resource": name, "verbs": verbs,
            "subresources": subresources.iter().map(subresource).collect::<Vec<_>>()})
    }

    #[test]
    fn merges_servers() {
        let check = |one: &[Value], two: &[Value], expect: Option<Value>| {
            let servers = BTreeMap::from([("1", one.iter().collect()), ("2", two.iter().collect())]);
            assert_eq!(groups(&servers).map(Value::from), expect);
        };
        let jobs = || resource("jobs", &["get", "list"], &["status"]);
        let batch = |version: &str| group("batch", &[(version, &[jobs()])]);
        check(&[batch("v1")], &[batch("v1")], None);
        check(&[], &[batch("v1")], Some(json!([batch("v1")])));
        check(&[group("b", &[])], &[group("a", &[])], Some(json!([group("a", &[]), group("b", &[])])));
        check(&[batch("v1")], &[batch("v2")], Some(json!([group("batch", &[("v1", &[jobs()]), ("v2", &[jobs()])])])));
        check(
            &[group("batch", &[("v1", &[jobs()])])],
            &[group("batch", &[("v1", &[resource("jobs", &["create"], &["scale"]), resource("crons", &[], &[])])])],
            Some(json!([group(
                "batch",
                &[(
                    "v1",
                    &[resource("jobs", &["create", "get", "list"], &["scale", "status"]), resource("crons", &[], &[]),]
                )]
            )])),
        );
    }
}
