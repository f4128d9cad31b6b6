//! Network policies.

use std::collections::HashSet;
use std::net::IpAddr;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::ip::Cidr;
use machinery::format::{is_valid_port_name, is_valid_port_num};
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

use crate::core::validation::addresses::validate_legacy_cidr;
use generated::meta::v1::LabelSelector;
use generated::networking::v1::{
    IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec, policy_type,
};
use meta::{SelectorOptions, validate_label_selector_with};

const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const POLICY_TYPES: [&str; 2] = [policy_type::INGRESS, policy_type::EGRESS];

/// What a stored policy holds, which its next form may hold too (`NetworkPolicyValidationOptions`).
struct Known<'o> {
    selectors: SelectorOptions,
    ranges: HashSet<&'o str>,
}

/// `ValidateNetworkPolicy`, `ValidateNetworkPolicyUpdate`
pub fn validate_network_policy(v: &mut Validation<'_>, _: &Path<'_>, new: &NetworkPolicy, old: Option<&NetworkPolicy>) {
    let known = Known::of(v, old.map(|old| &old.spec));
    let (path, spec) = (Path::new("spec"), &new.spec);
    validate_label_selector_with(v, &path.child("podSelector"), &spec.pod_selector, known.selectors);
    let ingress = path.child("ingress");
    for (index, rule) in spec.ingress.iter().enumerate() {
        validate_rule(v, &ingress.index(index), &rule.ports, ("from", &rule.from), &known);
    }
    let egress = path.child("egress");
    for (index, rule) in spec.egress.iter().enumerate() {
        validate_rule(v, &egress.index(index), &rule.ports, ("to", &rule.to), &known);
    }
    let path = path.child("policyTypes");
    if spec.policy_types.len() > POLICY_TYPES.len() {
        return v.invalid(&path, BadValue::strings(&spec.policy_types), "may not specify more than two policyTypes");
    }
    for (index, policy_type) in spec.policy_types.iter().enumerate() {
        v.one_of(&path.index(index), policy_type, &POLICY_TYPES);
    }
}

impl<'o> Known<'o> {
    fn of(v: &Validation<'_>, old: Option<&'o NetworkPolicySpec>) -> Self {
        let Some(old) = old else { return Known { selectors: SelectorOptions::default(), ranges: HashSet::new() } };
        let mut errors = Vec::new();
        let mut probe = Validation::new(v.context, &mut errors);
        validate_label_selector_with(&mut probe, &Path::NONE, &old.pod_selector, SelectorOptions::default());
        let peers = old.ingress.iter().flat_map(|rule| &rule.from).chain(old.egress.iter().flat_map(|rule| &rule.to));
        let blocks = peers.filter_map(|peer| peer.ip_block.as_deref());
        Known {
            selectors: SelectorOptions { allow_invalid_values: !errors.is_empty(), ..SelectorOptions::default() },
            ranges: blocks.flat_map(|block| block.except.iter().chain([&block.cidr])).map(String::as_str).collect(),
        }
    }
}

fn validate_rule(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    ports: &[NetworkPolicyPort],
    (field, peers): (&str, &[NetworkPolicyPeer]),
    known: &Known<'_>,
) {
    let at = path.child("ports");
    for (index, port) in ports.iter().enumerate() {
        validate_port(v, &at.index(index), port);
    }
    let at = path.child(field);
    for (index, peer) in peers.iter().enumerate() {
        validate_peer(v, &at.index(index), peer, known);
    }
}

fn validate_port(v: &mut Validation<'_>, path: &Path<'_>, port: &NetworkPolicyPort) {
    if let Some(protocol) = &port.protocol {
        v.one_of(&path.child("protocol"), protocol, &PROTOCOLS);
    }
    let (at, end_path) = (path.child("port"), path.child("endPort"));
    let numbers = |v: &mut Validation<'_>, path: &Path<'_>, number: i32| {
        is_valid_port_num(number.into()).into_iter().for_each(|message| v.invalid(path, number, message));
    };
    match (&port.port, port.end_port) {
        (Some(IntOrString::Int(number)), end) => {
            numbers(v, &at, *number);
            if let Some(end) = end {
                if end < *number {
                    v.invalid(&end_path, *number, "must be greater than or equal to `port`");
                }
                numbers(v, &end_path, end);
            }
        }
        (Some(IntOrString::String(name)), end) => {
            if let Some(end) = end {
                v.invalid(&end_path, end, "may not be specified when `port` is non-numeric");
            }
            v.malformed(&at, name, is_valid_port_name(name));
        }
        (None, Some(end)) => v.invalid(&end_path, end, "may not be specified when `port` is not specified"),
        (None, None) => {}
    }
}

fn validate_peer(v: &mut Validation<'_>, path: &Path<'_>, peer: &NetworkPolicyPeer, known: &Known<'_>) {
    let selectors: [(&str, Option<&LabelSelector>); 2] =
        [("podSelector", peer.pod_selector.as_deref()), ("namespaceSelector", peer.namespace_selector.as_deref())];
    for (field, selector) in selectors {
        if let Some(selector) = selector {
            validate_label_selector_with(v, &path.child(field), selector, known.selectors);
        }
    }
    let selects = selectors.iter().any(|(_, selector)| selector.is_some());
    match peer.ip_block.as_deref() {
        Some(block) => {
            validate_block(v, &path.child("ipBlock"), block, &known.ranges);
            if selects {
                v.forbidden(path, "may not specify both ipBlock and another peer");
            }
        }
        None if !selects => v.required(path, "must specify a peer"),
        None => {}
    }
}

/// `ValidateIPBlock`
fn validate_block(v: &mut Validation<'_>, path: &Path<'_>, block: &IPBlock, known: &HashSet<&str>) {
    let range_path = path.child("cidr");
    if block.cidr.is_empty() {
        return v.required(&range_path, "");
    }
    validate_legacy_cidr(v, &range_path, &block.cidr, known);
    let Some(range) = Cidr::parse_sloppy(&block.cidr) else { return };
    let path = path.child("except");
    for (index, except) in block.except.iter().enumerate() {
        let path = path.index(index);
        validate_legacy_cidr(v, &path, except, known);
        let Some(hole) = Cidr::parse_sloppy(except) else { continue };
        if !contains(&range, &hole) || range.prefix >= hole.prefix {
            v.invalid(&path, except, "must be a strict subset of `cidr`");
        }
    }
}

fn contains(range: &Cidr, hole: &Cidr) -> bool {
    let first = Cidr { address: hole.network(), prefix: range.prefix };
    let same_family =
        matches!((range.address, hole.address), (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)));
    same_family && first.network() == range.network()
}
