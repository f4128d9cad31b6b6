//! Which objects have to do with which nodes, through pods, claims and volumes (upstream: `node.Graph`).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use generated::certificates::v1beta1::PodCertificateRequest;
use generated::core::v1::{PersistentVolume, Pod};
use generated::resource::v1::ResourceSlice;
use generated::storage::v1::VolumeAttachment;
use machinery::reflect::Struct;
use registry::{Informer, Stores};

use super::references;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Pod,
    Secret,
    ConfigMap,
    ServiceAccount,
    Claim,
    Volume,
    ResourceClaim,
    VolumeAttachment,
    ResourceSlice,
    PodCertificateRequest,
}

/// An object: what it is, its namespace and its name.
pub type Thing = (Kind, String, String);

/// The relations. They are followed until this is dropped.
pub struct Graph {
    relations: Arc<RwLock<Relations>>,
    _pods: Option<Informer<Pod>>,
    _volumes: Option<Informer<PersistentVolume>>,
    _attachments: Option<Informer<VolumeAttachment>>,
    _slices: Option<Informer<ResourceSlice>>,
    _certificates: Option<Informer<PodCertificateRequest>>,
}

/// Who has to do with whom.
#[derive(Default)]
pub struct Relations {
    /// What brought relations about, and to what.
    sources: HashMap<Thing, (String, Vec<Thing>)>,
    /// The nodes of an object, and how many sources each has.
    nodes: HashMap<Thing, HashMap<String, usize>>,
    /// The claim of a volume, and the secrets that it needs.
    volumes: HashMap<String, (Thing, Vec<Thing>)>,
    /// The volumes that need a secret.
    needed_by: HashMap<Thing, HashSet<String>>,
}

impl Graph {
    /// Begins to follow pods, volumes, attachments and slices. Needs a tokio runtime.
    pub fn start(stores: &Stores) -> Self {
        let relations = Arc::new(RwLock::<Relations>::default());
        Graph {
            _pods: follow(stores, ("", "pods"), &relations, |relations, pod: &Pod, there| {
                let thing = named(Kind::Pod, &pod.metadata);
                let bound = there && !pod.spec.node_name.is_empty();
                relations.relate(thing, bound.then(|| (pod.spec.node_name.clone(), references::of_pod(pod))));
            }),
            _volumes: follow(
                stores,
                ("", "persistentvolumes"),
                &relations,
                |relations, volume: &PersistentVolume, there| {
                    let claim = volume.spec.claim_ref.as_ref().filter(|_| there);
                    let claim = claim.map(|claim| (Kind::Claim, claim.namespace.clone(), claim.name.clone()));
                    relations.bind(&volume.metadata.name, claim.map(|claim| (claim, references::of_volume(volume))));
                },
            ),
            _attachments: follow(
                stores,
                ("storage.k8s.io", "volumeattachments"),
                &relations,
                |relations, it: &VolumeAttachment, there| {
                    relations.place(
                        (Kind::VolumeAttachment, String::new(), it.metadata.name.clone()),
                        Some(it.spec.node_name.as_str()).filter(|_| there),
                    );
                },
            ),
            _slices: follow(
                stores,
                ("resource.k8s.io", "resourceslices"),
                &relations,
                |relations, it: &ResourceSlice, there| {
                    relations.place(
                        (Kind::ResourceSlice, String::new(), it.metadata.name.clone()),
                        it.spec.node_name.as_deref().filter(|_| there),
                    );
                },
            ),
            _certificates: follow(
                stores,
                ("certificates.k8s.io", "podcertificaterequests"),
                &relations,
                |relations, it: &PodCertificateRequest, there| {
                    let node = Some(it.spec.node_name.as_str()).filter(|_| there);
                    relations.place(named(Kind::PodCertificateRequest, &it.metadata), node);
                },
            ),
            relations,
        }
    }

    /// These relations, which nothing changes.
    #[cfg(test)]
    pub fn of(relations: Relations) -> Self {
        let relations = Arc::new(RwLock::new(relations));
        Graph { relations, _pods: None, _volumes: None, _attachments: None, _slices: None, _certificates: None }
    }

    /// Whether an object has to do with a node.
    pub fn relates(&self, kind: Kind, namespace: &str, name: &str, node: &str) -> bool {
        let relations = self.relations.read().unwrap_or_else(PoisonError::into_inner);
        relations.hold(&(kind, namespace.to_owned(), name.to_owned()), node)
    }
}

fn named(kind: Kind, metadata: &apimachinery::meta::v1::ObjectMeta) -> Thing {
    (kind, metadata.namespace.clone(), metadata.name.clone())
}

fn follow<T: Struct>(
    stores: &Stores,
    resource: (&'static str, &'static str),
    relations: &Arc<RwLock<Relations>>,
    change: fn(&mut Relations, &T, bool),
) -> Option<Informer<T>> {
    let relations = relations.clone();
    let observe = move |old: Option<&Arc<T>>, new: Option<&Arc<T>>| {
        let mut relations = relations.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = new.or(old) {
            change(&mut relations, object, new.is_some());
        }
    };
    stores.get(&resource).map(|store| Informer::observed(store, vec![Box::new(observe)]))
}

impl Relations {
    /// Says what a source on a node relates to it; `None` when it is gone.
    pub fn relate(&mut self, source: Thing, now: Option<(String, Vec<Thing>)>) {
        if let Some((node, things)) = self.sources.remove(&source) {
            for thing in things {
                if let Some(nodes) = self.nodes.get_mut(&thing) {
                    if let Some(count) = nodes.get_mut(&node) {
                        *count -= 1;
                    }
                    nodes.retain(|_, count| *count > 0);
                    if nodes.is_empty() {
                        self.nodes.remove(&thing);
                    }
                }
            }
        }
        let Some((node, mut things)) = now else { return };
        things.push(source.clone());
        for thing in &things {
            *self.nodes.entry(thing.clone()).or_default().entry(node.clone()).or_default() += 1;
        }
        self.sources.insert(source, (node, things));
    }

    /// Says which node an object is of.
    pub fn place(&mut self, thing: Thing, node: Option<&str>) {
        let node = node.filter(|node| !node.is_empty());
        self.relate(thing, node.map(|node| (node.to_owned(), Vec::new())));
    }

    /// Says which claim a volume is for, and which secrets it needs; `None` when it is for none.
    pub fn bind(&mut self, volume: &str, now: Option<(Thing, Vec<Thing>)>) {
        if let Some((_, secrets)) = self.volumes.remove(volume) {
            for secret in secrets {
                if let Some(volumes) = self.needed_by.get_mut(&secret) {
                    volumes.remove(volume);
                    if volumes.is_empty() {
                        self.needed_by.remove(&secret);
                    }
                }
            }
        }
        let Some((claim, secrets)) = now else { return };
        for secret in &secrets {
            self.needed_by.entry(secret.clone()).or_default().insert(volume.to_owned());
        }
        self.volumes.insert(volume.to_owned(), (claim, secrets));
    }

    /// Whether an object has to do with a node.
    pub fn hold(&self, thing: &Thing, node: &str) -> bool {
        let direct = |thing: &Thing| self.nodes.get(thing).is_some_and(|nodes| nodes.contains_key(node));
        let through = |volume: &str| self.volumes.get(volume).is_some_and(|(claim, _)| direct(claim));
        direct(thing)
            || (thing.0 == Kind::Volume && through(&thing.2))
            || self.needed_by.get(thing).is_some_and(|volumes| volumes.iter().any(|volume| through(volume)))
    }
}
