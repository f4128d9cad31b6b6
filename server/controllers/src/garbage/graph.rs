//! The objects that have owners, and those that wait for their dependents.
//!
//! Upstream's graph has a node for each object of the cluster. Here the watch cache answers whether an
//! owner exists, so objects without owners need no node.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::metadata::Metadata;
use super::watched::{Object, Watched};

type Uid = Arc<str>;

/// The graph of owners and dependents.
#[derive(Default)]
pub struct Graph {
    nodes: HashMap<Uid, Node>,
    /// The objects that name an owner, by the uid of the owner.
    dependents: HashMap<Uid, HashSet<Uid>>,
}

/// An object with owners, or one that waits for its dependents.
struct Node {
    object: Object,
    owners: Vec<OwnerEdge>,
    waits_for_dependents: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct OwnerEdge {
    uid: Uid,
    /// Whether the deletion of the owner waits for this object (`blockOwnerDeletion`).
    blocks: bool,
}

/// A dependent of an object.
pub struct Dependent {
    /// The dependent.
    pub object: Object,
    /// Whether the deletion of the owner waits for it.
    pub blocks: bool,
    /// Whether it waits for its own dependents.
    pub waits_for_dependents: bool,
}

impl Graph {
    /// Records the state of an object. Returns the objects to look at.
    pub fn store(&mut self, object: Object, metadata: &Metadata) -> Vec<Object> {
        let edge = |owner: &super::metadata::Owner| OwnerEdge {
            uid: owner.uid.as_str().into(),
            blocks: owner.block_owner_deletion == Some(true),
        };
        let owners: Vec<OwnerEdge> = metadata.owner_references.iter().map(edge).collect();
        let waits_for_dependents = metadata.waits_for_dependents();
        let mut affected = Vec::new();
        let before = self.nodes.remove(&object.uid);
        let (had, waited) = before.map_or_else(Default::default, |node| (node.owners, node.waits_for_dependents));
        if owners != had {
            self.unlink(&object.uid, &had);
            for owner in &owners {
                self.dependents.entry(owner.uid.clone()).or_default().insert(object.uid.clone());
            }
            affected.extend(self.released(&had, &owners));
            if !owners.is_empty() {
                affected.push(object.clone());
            }
        }
        if waits_for_dependents && !waited {
            affected.push(object.clone());
            affected.extend(self.dependents_of(&object.uid).map(|dependent| dependent.object));
        }
        if !owners.is_empty() || waits_for_dependents {
            self.nodes.insert(object.uid.clone(), Node { object, owners, waits_for_dependents });
        }
        affected
    }

    /// Records that an object is gone. Returns the objects to look at: its dependents, and owners that
    /// waited for it.
    pub fn remove(&mut self, uid: &str) -> Vec<Object> {
        let mut affected: Vec<Object> = self.dependents_of(uid).map(|dependent| dependent.object).collect();
        if let Some(node) = self.nodes.remove(uid) {
            self.unlink(uid, &node.owners);
            affected.extend(self.released(&node.owners, &[]));
        }
        affected
    }

    /// The objects that name an owner.
    pub fn dependents_of(&self, owner: &str) -> impl Iterator<Item = Dependent> {
        let nodes = self.dependents.get(owner).into_iter().flatten().filter_map(|uid| self.nodes.get(uid));
        nodes.map(move |node| Dependent {
            object: node.object.clone(),
            blocks: node.owners.iter().any(|edge| &*edge.uid == owner && edge.blocks),
            waits_for_dependents: node.waits_for_dependents,
        })
    }

    /// All objects of the graph.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.nodes.values().map(|node| &node.object)
    }

    /// The uids of the objects of a resource.
    pub fn of_resource(&self, resource: &Arc<Watched>) -> HashSet<Uid> {
        let of = self.objects().filter(|object| Arc::ptr_eq(&object.resource, resource));
        of.map(|object| object.uid.clone()).collect()
    }

    fn unlink(&mut self, uid: &str, owners: &[OwnerEdge]) {
        for owner in owners {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
    }

    /// The owners that waited for an object and need not wait for it any more
    /// (`addUnblockedOwnersToDeleteQueue`).
    fn released(&self, before: &[OwnerEdge], after: &[OwnerEdge]) -> Vec<Object> {
        let blocks = |edges: &[OwnerEdge], uid: &Uid| edges.iter().any(|edge| edge.uid == *uid && edge.blocks);
        let released = before.iter().filter(|edge| edge.blocks && !blocks(after, &edge.uid));
        let waiting = released.filter_map(|edge| self.nodes.get(&edge.uid).filter(|owner| owner.waits_for_dependents));
        waiting.map(|owner| owner.object.clone()).collect()
    }
}
