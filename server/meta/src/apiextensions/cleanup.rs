//! How the deletion of a custom resource definition begins: its objects go first.

use machinery::hooks::Context;

use apimachinery::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, condition_status,
    custom_resource_definition_condition_type,
};

/// What holds a definition until its objects are gone.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Mirrors `REST.Delete` of upstream's registry: a finalizer, and a condition that says why.
pub fn begin_cleanup(context: &Context, definition: &mut CustomResourceDefinition) {
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
