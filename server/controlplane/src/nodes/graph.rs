//! The graph of objects and nodes that are related through pods, claims, and volumes (upstream:
//! `node.Graph`).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use generated::certificates::v1beta1::PodCertificateRequest;
use generated::core::v1::{PersistentVolume, Pod};
use generated::resource::v1::ResourceSlice;
use generated::storage::v1::VolumeAttachment;
use machinery::reflect::Struct;
use registry::{Informer, Stores};

use super::references;
use super::vertex::{Vertex, VertexType};

/// The graph and the informers that update it until it is dropped.
pub struct Graph {
    relations: Arc<RwLock<Relations>>,
    _pods: Option<Informer<Pod>>,
    _volumes: Option<Informer<PersistentVolume>>,
    _attachments: Option<Informer<VolumeAttachment>>,
    _slices: Option<Informer<ResourceSlice>>,
    _certificates: Option<Informer<PodCertificateRequest>>,
}

/// The relations between objects and nodes.
#[derive(Default)]
pub struct Relations {
    /// The objects that create relations, each with its node and the related objects.
    sources: HashMap<Vertex, (String, Vec<Vertex>)>,
    /// The nodes of an object, each with the number of sources.
    nodes: HashMap<Vertex, HashMap<String, usize>>,
    /// The claim and the secrets of a volume.
    volumes: HashMap<String, (Vertex, Vec<Vertex>)>,
    /// The volumes that need a secret.
    needed_by: HashMap<Vertex, HashSet<String>>,
}

impl Graph {
    /// Starts the informers of pods, volumes, attachments, slices, and certificate requests. Needs
    /// a tokio runtime.
    pub fn start(stores: &Stores) -> Self {
        let relations = Arc::new(RwLock::<Relations>::default());
        Graph {
            _pods: follow(stores, ("", "pods"), &relations, |relations, pod: &Pod, exists| {
                let vertex = named(VertexType::Pod, &pod.metadata);
                let bound = exists && !pod.spec.node_name.is_empty();
                relations.relate(vertex, bound.then(|| (pod.spec.node_name.clone(), references::of_pod(pod))));
            }),
            _volumes: follow(
                stores,
                ("", "persistentvolumes"),
                &relations,
                |relations, volume: &PersistentVolume, exists| {
                    let claim = volume.spec.claim_ref.as_ref().filter(|_| exists);
                    let claim = claim.map(|claim| (VertexType::Claim, claim.namespace.clone(), claim.name.clone()));
                    relations.bind(&volume.metadata.name, claim.map(|claim| (claim, references::of_volume(volume))));
                },
            ),
            _attachments: follow(
                stores,
                ("storage.k8s.io", "volumeattachments"),
                &relations,
                |relations, it: &VolumeAttachment, exists| {
                    relations.place(
                        (VertexType::VolumeAttachment, String::new(), it.metadata.name.clone()),
                        Some(it.spec.node_name.as_str()).filter(|_| exists),
                    );
                },
            ),
            _slices: follow(
                stores,
                ("resource.k8s.io", "resourceslices"),
                &relations,
                |relations, it: &ResourceSlice, exists| {
                    relations.place(
                        (VertexType::ResourceSlice, String::new(), it.metadata.name.clone()),
                        it.spec.node_name.as_deref().filter(|_| exists),
                    );
                },
            ),
            _certificates: follow(
                stores,
                ("certificates.k8s.io", "podcertificaterequests"),
                &relations,
                |relations, it: &PodCertificateRequest, exists| {
                    let node = Some(it.spec.node_name.as_str()).filter(|_| exists);
                    relations.place(named(VertexType::PodCertificateRequest, &it.metadata), node);
                },
            ),
            relations,
        }
    }

    /// Creates a graph without informers.
    #[cfg(test)]
    pub fn of(relations: Relations) -> Self {
        let relations = Arc::new(RwLock::new(relations));
        Graph { relations, _pods: None, _volumes: None, _attachments: None, _slices: None, _certificates: None }
    }

    /// Whether an object is related to a node.
    pub fn relates(&self, kind: VertexType, namespace: &str, name: &str, node: &str) -> bool {
        let relations = self.relations.read().unwrap_or_else(PoisonError::into_inner);
        relations.has_relation(&(kind, namespace.to_owned(), name.to_owned()), node)
    }
}

fn named(kind: VertexType, metadata: &apimachinery::meta::v1::ObjectMeta) -> Vertex {
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
    /// Sets the objects that a source on a node relates to it; `None` removes the source.
    pub fn relate(&mut self, source: Vertex, now: Option<(String, Vec<Vertex>)>) {
        if let Some((node, vertices)) = self.sources.remove(&source) {
            for vertex in vertices {
                if let Some(nodes) = self.nodes.get_mut(&vertex) {
                    if let Some(count) = nodes.get_mut(&node) {
                        *count -= 1;
                    }
                    nodes.retain(|_, count| *count > 0);
                    if nodes.is_empty() {
                        self.nodes.remove(&vertex);
                    }
                }
            }
        }
        let Some((node, mut vertices)) = now else { return };
        vertices.push(source.clone());
        for vertex in &vertices {
            *self.nodes.entry(vertex.clone()).or_default().entry(node.clone()).or_default() += 1;
        }
        self.sources.insert(source, (node, vertices));
    }

    /// Sets the node of an object.
    pub fn place(&mut self, vertex: Vertex, node: Option<&str>) {
        let node = node.filter(|node| !node.is_empty());
        self.relate(vertex, node.map(|node| (node.to_owned(), Vec::new())));
    }

    /// Sets the claim and the secrets of a volume; `None` removes the volume.
    pub fn bind(&mut self, volume: &str, now: Option<(Vertex, Vec<Vertex>)>) {
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

    /// Whether an object is related to a node, directly or through a volume.
    pub fn has_relation(&self, vertex: &Vertex, node: &str) -> bool {
        let direct = |vertex: &Vertex| self.nodes.get(vertex).is_some_and(|nodes| nodes.contains_key(node));
        let through = |volume: &str| self.volumes.get(volume).is_some_and(|(claim, _)| direct(claim));
        direct(vertex)
            || (vertex.0 == VertexType::Volume && through(&vertex.2))
            || self.needed_by.get(vertex).is_some_and(|volumes| volumes.iter().any(|volume| through(volume)))
    }
}
