//! Printed columns of `networking` that are computed: the functions of `by_hand = ..` in its definitions.

use std::collections::BTreeSet;

use machinery::print::{Cell, PrintContext, or};

use generated::networking::v1::{IPAddress, Ingress, IngressClass};

/// Number of hosts to show; the others are only counted.
const SHOWN_HOSTS: usize = 3;

pub fn ingress_address(ingress: &Ingress, _: &PrintContext) -> Cell {
    let points = &ingress.status.load_balancer.ingress;
    let addresses: BTreeSet<&str> = points
        .iter()
        .map(|point| if point.ip.is_empty() { point.hostname.as_str() } else { point.ip.as_str() })
        .filter(|address| !address.is_empty())
        .collect();
    addresses.into_iter().collect::<Vec<_>>().join(",").into()
}

pub fn ingress_class_name(class: &IngressClass, _: &PrintContext) -> Cell {
    let name = &class.metadata.name;
    match class.metadata.annotations.get("ingressclass.kubernetes.io/is-default-class") {
        Some(value) if value == "true" => format!("{name} (default)").into(),
        _ => name.as_str().into(),
    }
}

pub fn ingress_class_parameters(class: &IngressClass, _: &PrintContext) -> Cell {
    class.spec.parameters.as_ref().map_or("<none>".into(), |p| match &p.api_group {
        Some(group) => format!("{}.{group}/{}", p.kind, p.name).into(),
        None => format!("{}/{}", p.kind, p.name).into(),
    })
}

/// Once the maximum is reached, the remaining entries are counted by rules, not by hosts.
pub fn ingress_hosts(ingress: &Ingress, _: &PrintContext) -> Cell {
    let rules = &ingress.spec.rules;
    let with_host = |(_, rule): &(usize, &generated::networking::v1::IngressRule)| !rule.host.is_empty();
    let shown: Vec<_> = rules.iter().enumerate().filter(with_host).take(SHOWN_HOSTS).collect();
    let text = or(shown.iter().map(|(_, rule)| rule.host.as_str()).collect::<Vec<_>>().join(","), "*");
    match shown.get(SHOWN_HOSTS - 1) {
        Some((last, _)) if last + 1 < rules.len() => format!("{text} + {} more...", rules.len() - SHOWN_HOSTS).into(),
        _ => text.into(),
    }
}

pub fn ingress_ports(ingress: &Ingress, _: &PrintContext) -> Cell {
    if ingress.spec.tls.is_empty() { "80" } else { "80, 443" }.into()
}

pub fn ip_address_parent_ref(address: &IPAddress, _: &PrintContext) -> Cell {
    let Some(parent) = &address.spec.parent_ref else { return "<none>".into() };
    let mut text = parent.resource.clone();
    if !parent.group.is_empty() {
        text = format!("{text}.{}", parent.group);
    }
    let mut text = text.to_lowercase();
    for part in [&parent.namespace, &parent.name] {
        if !part.is_empty() {
            text = format!("{text}/{part}");
        }
    }
    text.into()
}
