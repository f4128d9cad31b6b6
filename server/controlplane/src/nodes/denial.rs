//! Why the node authorizer does not allow a request, with upstream's texts.

/// The namespace of node leases.
pub(super) const NODE_LEASES: &str = "kube-node-lease";

/// Why a request of a kubelet is not allowed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DenialReason {
    /// No rule is about the request. The client gets no reason.
    #[error("")]
    NoRule,
    /// The user name does not have the name of a node.
    #[error("unknown node for user {user:?}")]
    UnknownNode { user: String },
    /// The request is not for a single object.
    #[error("No Object name found")]
    NoName,
    /// The object does not belong to a pod of the node.
    #[error("no relationship found between node '{node}' and this object")]
    Unrelated { node: String },
    /// The request is for all nodes.
    #[error("node '{node}' cannot read all nodes, only its own Node object")]
    AllNodes { node: String },
    /// The request is for another node.
    #[error("node '{node}' cannot read '{name}', only its own Node object")]
    OtherNode { node: String, name: String },
    /// The request is for a lease in another namespace than that of node leases.
    #[error("can only access leases in the {NODE_LEASES:?} system namespace")]
    LeaseNamespace,
    /// Nodes have no access to certificate requests with this verb.
    #[error("nodes may not {verb} podcertificaterequests")]
    CertificateVerb { verb: String },
    /// The verb, subresource or selector of the request is not one that nodes may use for the
    /// resource; the text lists those.
    #[error("{0}")]
    Scope(&'static str),
}
