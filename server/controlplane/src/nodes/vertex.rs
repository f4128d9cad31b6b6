//! A vertex of the graph.

/// The type of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexType {
    Pod,
    Secret,
    ConfigMap,
    ServiceAccount,
    Claim,
    Volume,
    ResourceClaim,
    VolumeAttachment,
    ResourceSlice,
    PodCertificateRequest,
}

/// An object: its type, namespace, and name.
pub type Vertex = (VertexType, String, String);
