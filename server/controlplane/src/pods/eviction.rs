//! Evicts pods within their disruption budgets: `pods/eviction`
//! (`registry/core/pod/storage/eviction.go`).

use std::sync::Arc;

use apimachinery::meta::v1::{DeleteOptions as ApiDeleteOptions, deletion_propagation, status_reason};
use async_trait::async_trait;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::core::v1::{Pod, PodCondition, condition_status, pod_condition_type, pod_phase};
use generated::policy::v1;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::{
    CheckDelete, CheckWrite, Clock, DeleteOptions, Precondition, Propagation, ResourceStore, Stores, UpdateOptions,
    UpdatedObjectInfo, WriteContext,
};

use super::condition;
use crate::budgets;
use crate::reviews::typed;

const KIND: GroupResource<'static> = GroupResource { group: "policy", resource: "Eviction" };
/// Maximum number of attempts after conflicts (upstream's `EvictionsRetry`).
const ATTEMPTS: usize = 20;

/// Handler of evictions.
pub struct Eviction {
    stores: Arc<Stores>,
    clock: Arc<dyn Clock>,
}

impl Eviction {
    pub fn new(stores: &Arc<Stores>, clock: &Arc<dyn Clock>) -> Self {
        Eviction { stores: stores.clone(), clock: clock.clone() }
    }
}

#[async_trait]
impl SubresourceHandler for Eviction {
    fn accepts_other_versions(&self) -> bool {
        true
    }

    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let eviction: v1::Eviction = typed(create_request.body.clone())?;
        if create_request.attributes.name != eviction.metadata.name {
            return Err(Status::bad_request("name in URL does not match name in Eviction object"));
        }
        let options = options(&create_request, &eviction)?;
        create_request.validate().await?;
        let pods = self.stores.get(&("", "pods")).ok_or_else(|| Status::internal("pods are not stored"))?;
        let context =
            WriteContext { subresource: "status".into(), dry_run: options.dry_run, ..create_request.context.clone() };
        let api_options = eviction.delete_options.as_deref().cloned().unwrap_or_default();
        let mut removal = Removal { pods, context, options, api_options, name: eviction.metadata.name };
        if let Some(pod) = removal.delete_uncounted().await? {
            self.within_budget(&mut removal, &pod).await?;
        }
        Ok(SubresourceOutput::Success)
    }
}

impl Eviction {
    /// Deletes a pod that budgets count, if its budget allows a disruption.
    async fn within_budget(&self, removal: &mut Removal<'_>, pod: &Pod) -> Result<(), Status> {
        let budget = budgets::of_pod(&self.stores, pod).await?;
        let mut guarded = false;
        if let Some(budget) = &budget {
            guarded = !is_ready(pod) && budgets::allows_unhealthy_eviction(budget);
            if !guarded {
                let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
                let (known, dry_run) = ((&*self.stores, &*self.clock), removal.options.dry_run);
                budgets::check_and_decrement(known, namespace, name, budget, dry_run).await?;
            }
        }
        let has_version_precondition = removal.options.precondition.resource_version.is_some();
        if guarded {
            removal.options.precondition.resource_version = Some(pod.metadata.resource_version.clone());
        }
        match (removal.run().await, budget) {
            // The pod has changed since it was found unhealthy; the client has to retry.
            (Err(status), Some(budget))
                if status.reason == status_reason::CONFLICT && guarded && !has_version_precondition =>
            {
                Err(budgets::still_processing(&budget.metadata.name))
            }
            (done, _) => done,
        }
    }
}

/// Returns the delete options of the eviction. A dry run may also come from the request
/// (`propagateDryRun`).
fn options(create_request: &CreateRequest<'_>, eviction: &v1::Eviction) -> Result<DeleteOptions, Status> {
    let api_options = eviction.delete_options.as_deref().cloned().unwrap_or_default();
    let ApiDeleteOptions { ignore_store_read_error_with_cluster_breaking_potential: ignore, .. } = api_options;
    if ignore == Some(true) {
        let path = Path::new(json_name!(v1::Eviction.delete_options));
        let path = path.child(json_name!(ApiDeleteOptions.ignore_store_read_error_with_cluster_breaking_potential));
        let error = FieldError::invalid(&path, true, "can not be set for pod eviction, try after removing the option");
        return Err(Status::invalid(KIND, &create_request.attributes.name, &[error]));
    }
    let query_dry_run = create_request.query.all("dryRun").filter(|_| create_request.attributes.dry_run);
    let query_dry_run: Vec<String> = query_dry_run.map(str::to_owned).collect();
    if !api_options.dry_run.is_empty() && !query_dry_run.is_empty() && api_options.dry_run != query_dry_run {
        let why = format!(
            "Non-matching dry-run options in request and content: [{}] and [{}]",
            query_dry_run.join(" "),
            api_options.dry_run.join(" ")
        );
        return Err(Status::new(500, "", why));
    }
    let preconditions = api_options.preconditions.as_deref().cloned().unwrap_or_default();
    Ok(DeleteOptions {
        dry_run: !query_dry_run.is_empty() || !api_options.dry_run.is_empty(),
        precondition: Precondition { uid: preconditions.uid, resource_version: preconditions.resource_version },
        propagation: match api_options.propagation_policy.as_deref() {
            Some(deletion_propagation::ORPHAN) => Some(Propagation::Orphan),
            Some(deletion_propagation::FOREGROUND) => Some(Propagation::Foreground),
            Some(deletion_propagation::BACKGROUND) => Some(Propagation::Background),
            _ => None,
        },
        grace_period_seconds: api_options.grace_period_seconds,
    })
}

/// Whether budgets count a pod. Terminated, terminating, and pending pods do not count
/// (`canIgnorePDB`).
fn counts(pod: &Pod) -> bool {
    let phase = pod.status.phase.as_str();
    !matches!(phase, pod_phase::SUCCEEDED | pod_phase::FAILED | pod_phase::PENDING)
        && pod.metadata.deletion_timestamp.is_none()
}

fn is_ready(pod: &Pod) -> bool {
    pod.status
        .conditions
        .iter()
        .any(|condition| condition.r#type == pod_condition_type::READY && condition.status == condition_status::TRUE)
}

/// The deletion of one pod.
struct Removal<'a> {
    pods: &'a Arc<ResourceStore>,
    context: WriteContext,
    options: DeleteOptions,
    /// The delete options in the request body.
    api_options: ApiDeleteOptions,
    name: String,
}

impl Removal<'_> {
    /// Deletes a pod that budgets do not count, or returns the pod if they do.
    async fn delete_uncounted(&mut self) -> Result<Option<Pod>, Status> {
        let has_version_precondition = self.options.precondition.resource_version.is_some();
        for attempt in 1..=ATTEMPTS {
            let object = self.pods.get(&self.context.namespace, &self.name, "").await?;
            let pod: Pod = typed(object)?;
            if counts(&pod) {
                return Ok(Some(pod));
            }
            // A pending pod may start and then count.
            if pod.status.phase == pod_phase::PENDING
                && pod.metadata.deletion_timestamp.is_none()
                && !has_version_precondition
            {
                self.options.precondition.resource_version = Some(pod.metadata.resource_version.clone());
            }
            match self.run().await {
                Err(status)
                    if status.reason == status_reason::CONFLICT && !has_version_precondition && attempt < ATTEMPTS =>
                {
                    self.options.precondition.resource_version = None;
                }
                done => return done.map(|()| None),
            }
        }
        Ok(None)
    }

    /// Sets the pod's `DisruptionTarget` condition and deletes the pod
    /// (`addConditionAndDeletePod`).
    async fn run(&mut self) -> Result<(), Status> {
        // Upstream validates the options after it has written the condition.
        endpoints::check_delete_options(&self.api_options)?;
        if !self.options.dry_run {
            // Upstream checks an empty precondition only at the deletion.
            let non_empty = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
            let Precondition { uid, resource_version } = &self.options.precondition;
            let precondition = Precondition { uid: non_empty(uid), resource_version: non_empty(resource_version) };
            let mut change = Disrupt { precondition, context: self.context.clone() };
            let options = UpdateOptions { subresource: "status".into(), ..UpdateOptions::default() };
            let updated = self.pods.update(&self.context, &self.name, &options, &mut change).await?;
            if self.options.precondition.resource_version.is_some() {
                let version = registry::meta(updated.object.as_ref()).map(|meta| meta.resource_version.clone());
                self.options.precondition.resource_version = version;
            }
        }
        let context = WriteContext { subresource: String::new(), ..self.context.clone() };
        self.pods.delete(&context, &self.name, &self.options, &Unchecked).await.map(drop)
    }
}

/// Sets the `DisruptionTarget` condition.
struct Disrupt {
    precondition: Precondition,
    context: WriteContext,
}

impl CheckWrite for Disrupt {}

#[async_trait]
impl UpdatedObjectInfo for Disrupt {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut object = current.cloned().ok_or_else(|| Status::internal("there is no pod to disrupt"))?;
        let Some(pod) = object.downcast_mut::<Pod>() else { return Err(Status::internal("not a Pod")) };
        let of = GroupResource { group: "", resource: "Pod" };
        self.precondition.check(&pod.metadata).map_err(|why| Status::conflict(of, &pod.metadata.name, why))?;
        let disrupted = PodCondition {
            r#type: pod_condition_type::DISRUPTION_TARGET.into(),
            status: condition_status::TRUE.into(),
            reason: "EvictionByEvictionAPI".into(),
            message: "Eviction API: evicting".into(),
            ..PodCondition::default()
        };
        condition::set(&mut pod.status, disrupted, self.context.now);
        Ok(object)
    }
}

/// Skips admission for the deletion, because the eviction was already admitted.
struct Unchecked;

#[async_trait]
impl CheckDelete for Unchecked {
    async fn check(&self, _current: &Owned) -> Result<(), Status> {
        Ok(())
    }
}
