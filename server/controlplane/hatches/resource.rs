//! Hand-written functions that definitions of `resource` name.

#[path = "resource/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_device_sub_request(_: &mut crate::resource::v1::DeviceSubRequest) {}

pub fn default_device_taint(_: &mut crate::resource::v1::DeviceTaint) {}

pub fn default_exact_device_request(_: &mut crate::resource::v1::ExactDeviceRequest) {}

pub fn default_v1beta1_device_request(_: &mut crate::resource::v1beta1::DeviceRequest) {}

pub fn default_v1beta1_device_sub_request(_: &mut crate::resource::v1beta1::DeviceSubRequest) {}

pub fn v1beta1_device_from_hub(_: &mut crate::resource::v1::Device, _: &mut crate::resource::v1beta1::Device) {}

pub fn v1beta1_device_request_from_hub(_: &mut crate::resource::v1::DeviceRequest, _: &mut crate::resource::v1beta1::DeviceRequest) {}

pub fn v1beta1_device_request_to_hub(_: &mut crate::resource::v1beta1::DeviceRequest, _: &mut crate::resource::v1::DeviceRequest) {}

pub fn v1beta1_device_to_hub(_: &mut crate::resource::v1beta1::Device, _: &mut crate::resource::v1::Device) {}

pub fn v1beta1_resource_slice_spec_from_hub(_: &mut crate::resource::v1::ResourceSliceSpec, _: &mut crate::resource::v1beta1::ResourceSliceSpec) {}

pub fn v1beta1_resource_slice_spec_to_hub(_: &mut crate::resource::v1beta1::ResourceSliceSpec, _: &mut crate::resource::v1::ResourceSliceSpec) {}
