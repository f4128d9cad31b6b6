//! Quality of service class of a pod.

use std::collections::BTreeMap;

use machinery::scalar::Quantity;

use generated::core::v1::{PodSpec, pod_qos_class, resource_name};

type ResourceList = BTreeMap<String, Quantity>;

/// Resources that determine the class.
const COUNTED: [&str; 2] = [resource_name::CPU, resource_name::MEMORY];

/// `qos.ComputePodQOS`
pub fn quality_of_service(spec: &PodSpec) -> &'static str {
    let (mut requests, mut limits) = (ResourceList::new(), ResourceList::new());
    let mut all_limited = true;
    let pod_level = spec.resources.as_deref().filter(|r| !r.requests.is_empty() || !r.limits.is_empty());
    let containers = spec.containers.iter().chain(&spec.init_containers).map(|c| &c.resources);
    let counted: Vec<_> = pod_level.map_or_else(|| containers.collect(), |resources| vec![resources]);
    for resources in counted {
        add(&mut requests, &resources.requests);
        let limited = add(&mut limits, &resources.limits);
        all_limited &= limited == COUNTED.len();
    }
    if requests.is_empty() && limits.is_empty() {
        return pod_qos_class::BEST_EFFORT;
    }
    let same = requests.len() == limits.len()
        && requests.iter().all(|(name, q)| limits.get(name).is_some_and(|l| equal(l, q)));
    if all_limited && same { pod_qos_class::GUARANTEED } else { pod_qos_class::BURSTABLE }
}

/// Adds positive amounts of the counted resources; returns their number.
fn add(total: &mut ResourceList, amounts: &ResourceList) -> usize {
    let counted = amounts.iter().filter(|(name, q)| COUNTED.contains(&name.as_str()) && q.sign().is_gt());
    counted.map(|(name, q)| total.entry(name.clone()).or_default().add(q)).count()
}

fn equal(a: &Quantity, b: &Quantity) -> bool {
    let mut difference = a.clone();
    difference.sub(b);
    difference.is_zero()
}
