//! `RuntimeClass`: what a runtime costs and where it runs goes into the pods that want it.

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::Pod;
use generated::node::v1::RuntimeClass;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::forbidden;
use super::lookup::find;

const CLASSES: (&str, &str) = ("node.k8s.io", "runtimeclasses");

/// Fills overhead, node selector and tolerations.
pub async fn admit(environment: &Environment, attributes: &Attributes, object: &mut Owned) -> Result<(), Status> {
    let Some(pod) = object.downcast_mut::<Pod>().filter(|_| attributes.operation == Operation::Create) else {
        return Ok(());
    };
    let class = match pod.spec.runtime_class_name.clone() {
        None => None,
        Some(name) => {
            let found = find::<RuntimeClass>(environment, attributes, CLASSES, ("", &name)).await?;
            Some(
                found
                    .ok_or_else(|| forbidden(attributes, format!("pod rejected: RuntimeClass \"{name}\" not found")))?,
            )
        }
    };
    apply(pod, class.as_deref()).map_err(|why| forbidden(attributes, why))
}

fn apply(pod: &mut Pod, class: Option<&RuntimeClass>) -> Result<(), String> {
    let (overhead, scheduling) = class.map_or((None, None), |c| (c.overhead.clone(), c.scheduling.clone()));
    match overhead {
        None if !pod.spec.overhead.is_empty() => {
            return Err("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead".into());
        }
        None => {}
        Some(overhead) if pod.spec.overhead.is_empty() => pod.spec.overhead = overhead.pod_fixed,
        Some(overhead) if pod.spec.overhead == overhead.pod_fixed => {}
        Some(_) => return Err("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead".into()),
    }
    let Some(scheduling) = scheduling else { return Ok(()) };
    for (key, value) in scheduling.node_selector {
        let said = pod.spec.node_selector.entry(key.clone()).or_insert_with(|| value.clone());
        if *said != value {
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {said}"
            ));
        }
    }
    for toleration in scheduling.tolerations {
        if !pod.spec.tolerations.contains(&toleration) {
            pod.spec.tolerations.push(toleration);
        }
    }
    Ok(())
}
