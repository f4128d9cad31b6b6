//! Limits updating managers to ten: the oldest share an entry (`capManagersManager`).

use std::collections::{BTreeMap, HashMap};

use super::entries::{Managed, ManagedFieldsOperation, ManagerIdentifier};
use crate::field_set::FieldSet;

/// `DefaultMaxUpdateManagers`
const MOST: usize = 10;

/// The manager name of the shared entry.
const SHARED: &str = "ancient-changes";

/// Merges the oldest entries of each version into a shared one until the limit is met.
pub(super) fn cap(mut managed: Managed) -> Managed {
    let mut updaters: Vec<ManagerIdentifier> =
        managed.iter().filter(|(_, entry)| !entry.applied).map(|(manager, _)| manager.clone()).collect();
    let mut count = updaters.len();
    updaters.sort_by(|a, b| managed[a].time.cmp(&managed[b].time).then_with(|| a.cmp(b)));
    let mut merged: BTreeMap<ManagerIdentifier, Vec<FieldSet>> = BTreeMap::new();
    let mut first_of_version: HashMap<String, ManagerIdentifier> = HashMap::new();
    for manager in updaters {
        if count <= MOST {
            break;
        }
        let version = managed[&manager].api_version.clone();
        let Some(first) = first_of_version.get(&version) else {
            // An entry is merged only with another one of its version.
            first_of_version.insert(version, manager);
            continue;
        };
        let bucket = ManagerIdentifier {
            name: SHARED.into(),
            operation: ManagedFieldsOperation::Update,
            api_version: version,
            subresource: String::new(),
        };
        if !managed.contains_key(&bucket)
            && let Some(entry) = managed.remove(first)
        {
            managed.insert(bucket.clone(), entry);
        }
        if manager == bucket {
            continue;
        }
        if let Some(entry) = managed.remove(&manager)
            && let Some(shared) = managed.get_mut(&bucket)
        {
            merged.entry(bucket).or_default().push(entry.set);
            shared.time = entry.time;
            count -= 1;
        }
    }
    for (bucket, mut sets) in merged {
        if let Some(shared) = managed.get_mut(&bucket) {
            sets.push(std::mem::take(&mut shared.set));
            shared.set = FieldSet::union_of(sets);
        }
    }
    managed
}
