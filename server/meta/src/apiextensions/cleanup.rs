//! Start of the deletion of a custom resource definition: its custom resources are deleted first.

use machinery::hooks::WriteContext;

use apimachinery::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, condition_status,
    custom_resource_definition_condition_type,
};

/// Keeps a definition until its custom resources are deleted.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Adds the finalizer and the `Terminating` condition (`REST.Delete` of upstream's registry).
pub fn begin_cleanup(context: &WriteContext, definition: &mut CustomResourceDefinition) {
    let finalizers = &mut definition.metadata.finalizers;
    if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        finalizers.push(FINALIZER.to_owned());
    }
    let kind = custom_resource_definition_condition_type::TERMINATING;
    definition.status.conditions.retain(|condition| condition.r#type != kind);
    definition.status.conditions.push(CustomResourceDefinitionCondition {
        r#type: kind.to_owned(),
        status: condition_status::TRUE.to_owned(),
        reason: "InstanceDeletionPending".to_owned(),
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon".to_owned(),
        last_transition_time: context.now,
        ..CustomResourceDefinitionCondition::default()
    });
}
