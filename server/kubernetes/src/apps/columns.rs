//! Printed columns of `apps` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::catalog::parse_api_version;
use machinery::print::{Cell, PrintContext};

use generated::apps::v1::{ControllerRevision, Deployment, StatefulSet};

pub fn controller_revision_controller(revision: &ControllerRevision, _: &PrintContext) -> Cell {
    let Some(owner) = revision.metadata.owner_references.iter().find(|o| o.controller == Some(true)) else {
        return "<none>".into();
    };
    let kind = match parse_api_version(&owner.api_version) {
        ("", _) => owner.kind.clone(),
        (group, _) => format!("{}.{group}", owner.kind),
    };
    format!("{}/{}", kind.to_lowercase(), owner.name).into()
}

pub fn deployment_ready(deployment: &Deployment, _: &PrintContext) -> Cell {
    format!("{}/{}", deployment.status.ready_replicas, deployment.spec.replicas.unwrap_or_default()).into()
}

pub fn stateful_set_ready(set: &StatefulSet, _: &PrintContext) -> Cell {
    format!("{}/{}", set.status.ready_replicas, set.spec.replicas.unwrap_or_default()).into()
}
