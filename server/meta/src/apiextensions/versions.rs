//! Conversion of apiextensions/v1beta1, the version in which definitions are stored: it has
//! top-level fields for what all versions share.

use machinery::reflect::{Ref, Struct};

use apimachinery::apiextensions::conversions::v1beta1_custom_resource_column_definition_to_hub;
use apimachinery::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, WebhookConversion,
};
use apimachinery::apiextensions::v1beta1;

/// Copies the top-level fields into each version.
pub fn v1beta1_custom_resource_definition_spec_to_hub(
    from: &mut v1beta1::CustomResourceDefinitionSpec,
    to: &mut CustomResourceDefinitionSpec,
) {
    if to.versions.is_empty() && !from.version.is_empty() {
        let name = std::mem::take(&mut from.version);
        to.versions.push(CustomResourceDefinitionVersion { name, served: true, storage: true, ..Default::default() });
    }
    let columns = from.additional_printer_columns.iter_mut().map(v1beta1_custom_resource_column_definition_to_hub);
    let columns: Vec<_> = columns.collect();
    for version in &mut to.versions {
        if from.subresources.is_some() {
            version.subresources.clone_from(&from.subresources);
        }
        if from.validation.is_some() {
            version.schema.clone_from(&from.validation);
        }
        if !columns.is_empty() {
            version.additional_printer_columns.clone_from(&columns);
        }
        if !from.selectable_fields.is_empty() {
            version.selectable_fields.clone_from(&from.selectable_fields);
        }
    }
}

/// Moves fields that are equal in all versions to the top level. Selectable fields move only
/// together with their schema.
pub fn v1beta1_custom_resource_definition_spec_from_hub(
    _: &mut CustomResourceDefinitionSpec,
    to: &mut v1beta1::CustomResourceDefinitionSpec,
) {
    let Some((first, others)) = to.versions.split_first_mut() else { return };
    to.version.clone_from(&first.name);
    if others.iter().all(|v| same_one(&first.subresources, &v.subresources)) {
        to.subresources = first.subresources.take();
        others.iter_mut().for_each(|v| v.subresources = None);
    }
    if others.iter().all(|v| same(&first.additional_printer_columns, &v.additional_printer_columns)) {
        to.additional_printer_columns = std::mem::take(&mut first.additional_printer_columns);
        others.iter_mut().for_each(|v| v.additional_printer_columns.clear());
    }
    if others.iter().all(|v| same_one(&first.schema, &v.schema)) {
        to.validation = first.schema.take();
        others.iter_mut().for_each(|v| v.schema = None);
        if others.iter().all(|v| same(&first.selectable_fields, &v.selectable_fields)) {
            to.selectable_fields = std::mem::take(&mut first.selectable_fields);
            others.iter_mut().for_each(|v| v.selectable_fields.clear());
        }
    }
}

fn same<T: Struct>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Ref::of(a) == Ref::of(b))
}

fn same_one<T: Struct>(a: &Option<Box<T>>, b: &Option<Box<T>>) -> bool {
    a.as_deref().map(Ref::of) == b.as_deref().map(Ref::of)
}

/// Moves the webhook fields, which are next to the strategy in v1beta1, into `webhook`.
pub fn v1beta1_custom_resource_conversion_to_hub(
    from: &mut v1beta1::CustomResourceConversion,
    to: &mut CustomResourceConversion,
) {
    if from.webhook_client_config.is_some() || !from.conversion_review_versions.is_empty() {
        to.webhook = Some(Box::new(WebhookConversion {
            client_config: from.webhook_client_config.take(),
            conversion_review_versions: std::mem::take(&mut from.conversion_review_versions),
        }));
    }
}

/// The reverse of [`v1beta1_custom_resource_conversion_to_hub`].
pub fn v1beta1_custom_resource_conversion_from_hub(
    from: &mut CustomResourceConversion,
    to: &mut v1beta1::CustomResourceConversion,
) {
    if let Some(webhook) = from.webhook.take() {
        to.webhook_client_config = webhook.client_config;
        to.conversion_review_versions = webhook.conversion_review_versions;
    }
}
