//! Warnings beside refusals, with the command that creates what is missing.
//!
//! Only a server by itself sends them: one with its own store and controllers. The user of a first
//! server has not created much yet. The refusals are upstream's, here as in a cluster.

use endpoints::AdmissionAttributes;
use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
use machinery::status::Status;
use options::Options;

/// Suggests the command that creates the namespace of a request.
pub fn missing_namespace(options: &Options, attributes: &AdmissionAttributes, why: &Status) {
    let name = &attributes.namespace;
    if why.code == 404 && is_by_itself(options) && is_dns1123_label(name).is_empty() {
        attributes.warnings.add(&format!("to create it: kubectl create namespace {name}"));
    }
}

/// Suggests the command that creates the service account of a pod.
pub fn missing_service_account(options: &Options, attributes: &AdmissionAttributes, name: &str) {
    // The name of an object needs no quotes in a shell.
    if is_by_itself(options) && is_dns1123_subdomain(name).is_empty() {
        let namespace = &attributes.namespace;
        attributes.warnings.add(&format!("to create it: kubectl create serviceaccount {name} -n {namespace}"));
    }
}

fn is_by_itself(options: &Options) -> bool {
    let has_store = options.storage.etcd.servers.is_empty() && !options.program.delegates();
    has_store && !options.controllers.enabled.is_empty()
}
