//! The ServiceCIDR of the ranges of `--service-cluster-ip-range` (`defaultservicecidr.Controller`).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use apimachinery::meta::v1::{condition_status, status_reason};
use endpoints::{Loopback, ServerContext};
use generated::networking::v1::ServiceCIDR;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::Informer;
use serde_json::json;
use serving::shutdown::Phase;

use super::addresses::{DEFAULT_RANGE as NAME, READY, SERVICE_CIDRS};

/// The field manager of the condition.
const MANAGER: &str = "kubernetes-service-cidr-controller";
/// How often the ServiceCIDR is checked, and how long to wait before it is created again.
const INTERVAL: Duration = Duration::from_secs(10);

/// Creates the ServiceCIDR, and keeps it from then on.
///
/// # Errors
/// When the ServiceCIDR can be neither read nor created.
pub async fn start(environment: &Arc<ServerContext>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    let ranges: Vec<String> =
        environment.options.services.cluster_ip_ranges.iter().map(|range| range.to_string()).collect();
    if ranges.is_empty() || !loopback.serves(SERVICE_CIDRS) {
        return Ok(());
    }
    let mut keeper = Keeper { loopback: loopback.clone(), ranges, is_mismatch_reported: false };
    keeper.keep().await?;
    let Some(informer) = environment.informers.of::<ServiceCIDR>(SERVICE_CIDRS.0, SERVICE_CIDRS.2) else {
        return Ok(());
    };
    let shutdown = environment.shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = keeper.run(informer) => {}
            () = shutdown.reached(Phase::Initiated) => {}
        }
    });
    Ok(())
}

/// Keeps the ServiceCIDR.
struct Keeper {
    loopback: Arc<Loopback>,
    /// The ranges of the flag, that of the default family first.
    ranges: Vec<String>,
    is_mismatch_reported: bool,
}

impl Keeper {
    async fn run(mut self, informer: Informer<ServiceCIDR>) {
        informer.synced().await;
        loop {
            tokio::time::sleep(INTERVAL).await;
            // The check reads from memory; only a ServiceCIDR that needs a write is read from the store.
            if informer.get("", NAME).is_some_and(|stored| self.is_complete(&stored)) {
                continue;
            }
            if let Err(status) = self.keep().await {
                tracing::error!(why = status.message, "the default ServiceCIDR cannot be kept; it is retried");
            }
        }
    }

    fn is_complete(&self, stored: &ServiceCIDR) -> bool {
        stored.spec.cidrs == self.ranges && stored.status.conditions.iter().any(|condition| condition.r#type == READY)
    }

    async fn keep(&mut self) -> Result<(), Status> {
        let Some(stored) = self.loopback.get::<ServiceCIDR>(SERVICE_CIDRS, "", NAME).await? else {
            let mut created = ServiceCIDR::default();
            created.metadata.name = NAME.into();
            created.spec.cidrs.clone_from(&self.ranges);
            return match self.loopback.create(SERVICE_CIDRS, created).await {
                Ok(created) => self.keep_condition(&created).await,
                // Another server was faster; it writes the condition, too.
                Err(status) if status.reason == status_reason::ALREADY_EXISTS => Ok(()),
                Err(status) => Err(status),
            };
        };
        let gets_second_family =
            matches!((&self.ranges[..], &stored.spec.cidrs[..]), ([first, _], [one]) if first == one);
        if !gets_second_family {
            return self.keep_condition(&stored).await;
        }
        let mut changed = stored;
        changed.spec.cidrs.clone_from(&self.ranges);
        if let Err(status) = self.loopback.update(SERVICE_CIDRS, changed).await {
            tracing::error!(why = status.message, "the default ServiceCIDR cannot be updated to dual stack");
        }
        Ok(())
    }

    /// Marks the ServiceCIDR as ready, unless a condition says otherwise or the ranges are not those of the flag
    /// (`syncStatus`).
    async fn keep_condition(&mut self, stored: &ServiceCIDR) -> Result<(), Status> {
        if stored.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        if stored.spec.cidrs != self.ranges {
            if !std::mem::replace(&mut self.is_mismatch_reported, true) {
                let (stored, flag) = (&stored.spec.cidrs, &self.ranges);
                tracing::warn!(?stored, ?flag, "the default ServiceCIDR is not the one of --service-cluster-ip-range");
            }
            return Ok(());
        }
        let ready = stored.status.conditions.iter().find(|condition| condition.r#type == READY);
        if ready.is_some_and(|ready| ready.status != condition_status::UNKNOWN) {
            return Ok(());
        }
        let condition = json!({
            "type": READY,
            "status": condition_status::TRUE,
            "message": "Kubernetes default Service CIDR is ready",
            "lastTransitionTime": Time::from(SystemTime::now()).to_string(),
        });
        let status = json!({ "conditions": [condition] });
        self.loopback.apply_status(SERVICE_CIDRS, NAME, MANAGER, status).await
    }
}
