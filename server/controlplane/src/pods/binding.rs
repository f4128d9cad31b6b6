//! Binds pods to nodes: `pods/binding` and the deprecated `bindings` (`registry/core/pod/storage`).

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::core::v1::{self, ObjectReference, Pod, PodCondition, condition_status, pod_condition_type};
use machinery::field_error::{FieldError, aggregate};
use machinery::field_path::Path;
use machinery::json_name;
use machinery::scalar::Time;
use machinery::status::{GroupResource, Status};
use registry::{Precondition, Stores, UpdateOptions};

use super::condition;
use crate::reviews::typed;

const BINDING: GroupResource<'static> = GroupResource { group: "", resource: "pods/binding" };

/// Handler of bindings.
pub struct BindingHandler {
    stores: Arc<Stores>,
}

impl BindingHandler {
    pub fn new(stores: &Arc<Stores>) -> Self {
        BindingHandler { stores: stores.clone() }
    }
}

#[async_trait]
impl SubresourceHandler for BindingHandler {
    fn keeps_system_fields(&self) -> bool {
        // UID and resource version identify the pod.
        true
    }

    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let binding: v1::Binding = typed(create_request.body.clone())?;
        let name = &create_request.attributes.name;
        if *name != binding.metadata.name {
            return Err(Status::bad_request("name in URL does not match name in Binding object"));
        }
        check(&binding)?;
        create_request.validate().await?;
        if name.is_empty() {
            return Err(Status::bad_request("Name parameter required."));
        }
        let non_empty = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let options = UpdateOptions {
            dry_run: create_request.attributes.dry_run,
            precondition: Precondition {
                uid: non_empty(&binding.metadata.uid),
                resource_version: non_empty(&binding.metadata.resource_version),
            },
            ..UpdateOptions::default()
        };
        let now = create_request.context.now;
        let pods = self.stores.get(&("", "pods")).ok_or_else(|| Status::internal("pods are not stored"))?;
        pods.guaranteed_update(create_request.context, name, &options, &|pod| match pod.downcast_mut::<Pod>() {
            Some(pod) => bind(pod, &binding, now).map_err(|why| Status::conflict(BINDING, name, why)),
            None => Err(Status::internal("pods are stored as something else")),
        })
        .await?;
        Ok(SubresourceOutput::Success)
    }
}

/// `ValidatePodBinding`. As upstream, the error is not an invalid-object Status.
fn check(binding: &v1::Binding) -> Result<(), Status> {
    let (mut errors, target) = (Vec::new(), Path::new(json_name!(v1::Binding.target)));
    let kind = &binding.target.kind;
    if !kind.is_empty() && kind != "Node" {
        errors.push(FieldError::not_supported(
            &target.child(json_name!(ObjectReference.kind)),
            kind.as_str(),
            &["Node", "<empty>"],
        ));
    }
    if binding.target.name.is_empty() {
        errors.push(FieldError::required(&target.child(json_name!(ObjectReference.name)), ""));
    }
    if errors.is_empty() { Ok(()) } else { Err(Status::new(500, "", aggregate(&errors))) }
}

/// Why a pod is not assigned to a node.
#[derive(Debug, thiserror::Error)]
enum Unassignable {
    #[error("pod {name} is being deleted, cannot be assigned to a host")]
    BeingDeleted { name: String },
    #[error("pod {name} is already assigned to node {node:?}")]
    Assigned { name: String, node: String },
    #[error("pod {name} has non-empty .spec.schedulingGates")]
    Gated { name: String },
}

/// Assigns a pod to the node of the binding, unless it is assigned, gated, or being deleted
/// (`setPodNodeAndMetadata`).
fn bind(pod: &mut Pod, binding: &v1::Binding, now: Time) -> Result<(), Unassignable> {
    let name = || pod.metadata.name.clone();
    if pod.metadata.deletion_timestamp.is_some() {
        return Err(Unassignable::BeingDeleted { name: name() });
    }
    if !pod.spec.node_name.is_empty() {
        return Err(Unassignable::Assigned { name: name(), node: pod.spec.node_name.clone() });
    }
    if !pod.spec.scheduling_gates.is_empty() {
        return Err(Unassignable::Gated { name: name() });
    }
    pod.spec.node_name.clone_from(&binding.target.name);
    pod.status.nominated_node_name.clear();
    pod.metadata.annotations.extend(binding.metadata.annotations.clone());
    pod.metadata.labels.extend(binding.metadata.labels.clone());
    let scheduled = PodCondition {
        r#type: pod_condition_type::POD_SCHEDULED.into(),
        status: condition_status::TRUE.into(),
        ..PodCondition::default()
    };
    condition::set(&mut pod.status, scheduled, now);
    Ok(())
}
