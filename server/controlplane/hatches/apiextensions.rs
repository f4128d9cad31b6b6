//! Hand-written functions that definitions of `apiextensions` name.

pub fn default_custom_resource_definition(_: &mut crate::apiextensions::v1::CustomResourceDefinition) {}
pub fn default_custom_resource_definition_spec(_: &mut crate::apiextensions::v1::CustomResourceDefinitionSpec) {}
pub fn default_v1beta1_custom_resource_definition(_: &mut crate::apiextensions::v1beta1::CustomResourceDefinition) {}
pub fn default_v1beta1_custom_resource_definition_spec(_: &mut crate::apiextensions::v1beta1::CustomResourceDefinitionSpec) {}
pub fn normalize_json_schema_props(_: &mut crate::apiextensions::v1::JSONSchemaProps) {}
pub fn v1beta1_custom_resource_conversion_from_hub(_: &mut crate::apiextensions::v1::CustomResourceConversion, _: &mut crate::apiextensions::v1beta1::CustomResourceConversion) {}
pub fn v1beta1_custom_resource_conversion_to_hub(_: &mut crate::apiextensions::v1beta1::CustomResourceConversion, _: &mut crate::apiextensions::v1::CustomResourceConversion) {}
pub fn v1beta1_custom_resource_definition_spec_from_hub(_: &mut crate::apiextensions::v1::CustomResourceDefinitionSpec, _: &mut crate::apiextensions::v1beta1::CustomResourceDefinitionSpec) {}
pub fn v1beta1_custom_resource_definition_spec_to_hub(_: &mut crate::apiextensions::v1beta1::CustomResourceDefinitionSpec, _: &mut crate::apiextensions::v1::CustomResourceDefinitionSpec) {}
