//! Addresses of kubelets and credentials for connections to them (upstream:
//! `NodeConnectionInfoGetter`).

use apimachinery::meta::v1::status_reason;
use generated::core::v1::Node;
use machinery::status::{GroupResource, Status};
use webhook::{Client, Trust};

use super::{Connect, ConnectionType};

/// The address of a node's kubelet (`client.ConnectionInfo`).
pub(super) struct Kubelet {
    pub host: String,
    pub port: String,
    /// The declared features of the node.
    pub features: Vec<String>,
}

impl Connect {
    pub(super) async fn kubelet(&self, node: &str) -> Result<Kubelet, Status> {
        let found = self.get("nodes", "", node).await;
        // Upstream's stores report missing objects with the resource of the request.
        let node: Node = found.map_err(|status| match (&self.to, status.reason) {
            (ConnectionType::NodeProxy, _) => status,
            (_, status_reason::NOT_FOUND) => Status::not_found(GroupResource { group: "", resource: "pods" }, node),
            _ => status,
        })?;
        let options = &self.options.kubelet;
        let declared_port = node.status.daemon_endpoints.kubelet_endpoint.port;
        Ok(Kubelet {
            host: address(&node, &options.preferred_address_types)?.to_owned(),
            port: if declared_port > 0 { declared_port.to_string() } else { options.port.to_string() },
            features: node.status.declared_features,
        })
    }

    /// Creates a client for kubelets. Key and CA files are read each time, so that they can be
    /// replaced.
    pub(super) fn client_of_kubelets(&self, change: impl FnOnce(&mut Trust)) -> Result<Client, Status> {
        let mut trust = self.options.kubelet.trust().map_err(|why| Status::new(500, "", why.to_string()))?;
        change(&mut trust);
        self.client(trust)
    }

    pub(super) fn client(&self, trust: Trust) -> Result<Client, Status> {
        self.services.client(trust).map_err(|why| Status::new(500, "", why.to_string()))
    }
}

/// `GetPreferredNodeAddress`
fn address<'n>(node: &'n Node, preferred: &[String]) -> Result<&'n str, Status> {
    let addresses = &node.status.addresses;
    let of_type = |wanted: &String| addresses.iter().find(|address| address.r#type == *wanted);
    preferred.iter().find_map(of_type).map(|address| address.address.as_str()).ok_or_else(|| {
        let known: Vec<String> =
            addresses.iter().map(|known| format!("{{{} {}}}", known.r#type, known.address)).collect();
        let why = format!("no preferred addresses found; known addresses: [{}]", known.join(" "));
        Status::new(500, "", why)
    })
}

#[cfg(test)]
mod tests {
    use generated::core::v1::{Node, NodeAddress};

    use super::address;

    #[test]
    fn selects_preferred_address() {
        let mut node = Node::default();
        let known = |kind: &str, address: &str| NodeAddress { r#type: kind.into(), address: address.into() };
        node.status.addresses = vec![known("InternalIP", "10.0.0.1"), known("Hostname", "a")];
        let check = |preferred: &[&str], expect: Result<&str, &str>| {
            let preferred: Vec<String> = preferred.iter().map(|kind| (*kind).to_owned()).collect();
            let found = address(&node, &preferred).map_err(|status| status.message);
            assert_eq!(found, expect.map_err(String::from));
        };
        check(&["Hostname", "InternalIP"], Ok("a"));
        check(&["ExternalIP", "InternalIP", "Hostname"], Ok("10.0.0.1"));
        let none = "no preferred addresses found; known addresses: [{InternalIP 10.0.0.1} {Hostname a}]";
        check(&["ExternalDNS"], Err(none));
    }
}
