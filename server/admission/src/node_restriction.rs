//! `NodeRestriction`: limits the writes of kubelets to their own objects (upstream:
//! `plugin/pkg/admission/noderestriction`).
//!
//! Kubelets are users in the group `system:nodes` with the name prefix `system:node:`. The node
//! authorizer decides which resources a kubelet may write. This plugin checks the content of the
//! writes. It runs before mutating webhooks, as upstream's does, so it checks the kubelet's request
//! and not the result of webhooks.

mod certificates;
mod denial;
mod lookup;
mod node;
mod pods;
mod tokens;

use authz::Authorizer;
use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::PersistentVolumeClaim;
use generated::resource::v1::ResourceSlice;
use kubernetes::core::internal::internal_diff;
use machinery::features::{self, FeatureGates};
use machinery::field_path::Path;
use machinery::reflect::{Owned, Struct};
use machinery::request_document::RequestDocument;
use machinery::scalar::go_text::quote;
use machinery::status::{GroupResource, Status};
use machinery::type_meta::TypeMeta;
use registry::{Stores, meta};

use denial::NodeRestrictionDenial;
use lookup::{Lookup, Stored};

const LEASE_NAMESPACE: &str = "kube-node-lease";

/// Rejects writes of a kubelet to objects of other nodes. Requests of other users are admitted.
///
/// # Errors
/// 403 for what kubelets may not write; 404 when an object that the request refers to is missing.
pub async fn admit(
    (stores, authorizer, features): (&Stores, &dyn Authorizer, &FeatureGates),
    attributes: &AdmissionAttributes,
    object: Option<&Owned>,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let Some(node) = attributes.user.node() else { return Ok(()) };
    let gates = Gates::of(features);
    let lookup = Stored { stores, authorizer, attributes };
    Request { lookup: &lookup, gates, attributes, node, object, old }.admit().await
}

/// The unlocked feature gates that upstream's plugin inspects.
#[derive(Clone, Copy, Debug, Default)]
struct Gates {
    insecure_signing_requests: bool,
    audience_restriction: bool,
    pod_certificates: bool,
}

impl Gates {
    fn of(features: &FeatureGates) -> Self {
        Gates {
            insecure_signing_requests: features.enabled(features::AllowInsecureKubeletCertificateSigningRequests),
            audience_restriction: features.enabled(features::ServiceAccountNodeAudienceRestriction),
            pod_certificates: features.enabled(features::PodCertificateRequest),
        }
    }
}

type Outcome = Result<(), NodeRestrictionDenial>;

/// A write of a kubelet.
struct Request<'r, L> {
    lookup: &'r L,
    gates: Gates,
    attributes: &'r AdmissionAttributes,
    /// The kubelet's node.
    node: &'r str,
    object: Option<&'r Owned>,
    old: Option<&'r Owned>,
}

impl<L: Lookup> Request<'_, L> {
    async fn admit(&self) -> Result<(), Status> {
        let outcome = match self.node {
            "" => Err(format!("could not determine node from user {}", quote(&self.attributes.user.name)).into()),
            _ => self.check().await,
        };
        outcome.map_err(|refusal| match refusal {
            NodeRestrictionDenial::Forbidden(why) => {
                let of = GroupResource { group: self.attributes.group, resource: self.attributes.plural };
                Status::forbidden(of, self.shown_name(), why)
            }
            NodeRestrictionDenial::Status(status) => status,
        })
    }

    async fn check(&self) -> Outcome {
        match (self.attributes.group, self.attributes.plural, self.attributes.subresource.as_str()) {
            ("", "pods", "") => self.pod().await,
            ("", "pods", "status") => self.pod_status(),
            ("", "pods", "eviction") => self.eviction().await,
            ("", "pods", other) => {
                Err(format!("unexpected pod subresource {}, only 'status' and 'eviction' are allowed", quote(other))
                    .into())
            }
            ("", "nodes", _) => self.own_node(),
            ("", "persistentvolumeclaims", "status") => self.claim_status(),
            ("", "persistentvolumeclaims", _) => Err("may only update PVC status".into()),
            ("", "serviceaccounts", "token") => self.token().await,
            ("coordination.k8s.io", "leases", _) => self.lease(),
            ("storage.k8s.io", "csinodes", _) => {
                self.same_name("can only access CSINode with the same name as the requesting node")
            }
            ("resource.k8s.io", "resourceslices", _) => self.resource_slice(),
            ("certificates.k8s.io", "certificatesigningrequests", _) => self.signing_request(),
            ("certificates.k8s.io", "podcertificaterequests", _) => self.pod_certificate_request().await,
            _ => Ok(()),
        }
    }

    /// Returns the written object.
    fn new_object<T: Struct>(&self) -> Result<&T, NodeRestrictionDenial> {
        typed(self.object)
    }

    /// Returns the stored object.
    fn old_object<T: Struct>(&self) -> Result<&T, NodeRestrictionDenial> {
        typed(self.old)
    }

    /// Returns the name in a rejection. For a new object without a name it is the `generateName`
    /// (upstream: `admission.extractResourceName`).
    fn shown_name(&self) -> &str {
        let meta = self.object.and_then(|object| meta(object.as_ref()));
        let names = meta.into_iter().flat_map(|meta| [&meta.name, &meta.generate_name]);
        let names = std::iter::once(&self.attributes.name).chain(names);
        names.map(String::as_str).find(|name| !name.is_empty()).unwrap_or("Unknown")
    }

    /// Returns the operation in upper case, quoted.
    fn operation(&self) -> &'static str {
        match self.attributes.operation {
            Operation::Create => "\"CREATE\"",
            Operation::Update => "\"UPDATE\"",
            Operation::Delete => "\"DELETE\"",
            Operation::Connect => "\"CONNECT\"",
        }
    }

    /// Requires that the written object has the name of the node.
    fn same_name(&self, otherwise: &'static str) -> Outcome {
        let created = self.object.filter(|_| self.attributes.operation == Operation::Create);
        let name = match created.and_then(|object| meta(object.as_ref())) {
            Some(meta) => meta.name.as_str(),
            None => self.attributes.name.as_str(),
        };
        if name == self.node { Ok(()) } else { Err(otherwise.into()) }
    }

    fn lease(&self) -> Outcome {
        if self.attributes.namespace != LEASE_NAMESPACE {
            return Err(format!("can only access leases in the \"{LEASE_NAMESPACE}\" system namespace").into());
        }
        self.same_name("can only access node lease with the same name as the requesting node")
    }

    /// Allows changes of capacity, conditions, and resize progress only.
    fn claim_status(&self) -> Outcome {
        if self.attributes.operation != Operation::Update {
            return Err(format!("unexpected operation {}", self.operation()).into());
        }
        let fixed = |claim: &PersistentVolumeClaim| {
            let mut claim = claim.clone();
            // A body contains its kind; a stored object does not.
            claim.type_meta = TypeMeta::default();
            // An unconditional update leaves the version out.
            claim.metadata.resource_version.clear();
            claim.metadata.managed_fields.clear();
            claim.status.capacity.clear();
            claim.status.conditions.clear();
            claim.status.allocated_resource_statuses.clear();
            claim.status.allocated_resources.clear();
            claim
        };
        let (old, new) = (fixed(self.old_object()?), fixed(self.new_object()?));
        if old == new {
            return Ok(());
        }
        Err(format!(
            "node {} is not allowed to update fields other than status.quantity and status.conditions: {}",
            quote(self.node),
            internal_diff(&RequestDocument::default(), &Path::NONE, &old, &new)
        )
        .into())
    }

    /// Requires the kubelet's node in new and removed slices. The node of a slice does not change, and the node
    /// authorizer allows updates of the node's own slices only.
    fn resource_slice(&self) -> Outcome {
        let (slice, verb): (&ResourceSlice, _) = match self.attributes.operation {
            Operation::Create => (self.new_object()?, "create"),
            Operation::Delete => (self.old_object()?, "delete"),
            _ => return Ok(()),
        };
        if slice.spec.node_name.as_deref() == Some(self.node) {
            return Ok(());
        }
        Err(format!("can only {verb} ResourceSlice with the same NodeName as the requesting node").into())
    }
}

/// Returns an object as the type of its resource.
fn typed<T: Struct>(object: Option<&Owned>) -> Result<&T, NodeRestrictionDenial> {
    object.and_then(Owned::downcast_ref::<T>).ok_or_else(|| format!("no object of type {}", T::def().name).into())
}

#[cfg(test)]
mod tests;
