//! Why a request is refused.

/// Why a quota does not admit an object.
#[derive(Debug, thiserror::Error)]
pub enum QuotaViolation {
    /// The usage would exceed the quota; the resources are texts such as `pods=2,cpu=1`.
    #[error("exceeded quota: {quota}, requested: {requested}, used: {used}, limited: {limited}")]
    Exceeded { quota: String, requested: String, used: String, limited: String },
    /// Containers do not specify resources that the quota counts.
    #[error("must specify {}", missing.join("; "))]
    Unspecified {
        /// Resources, each with its containers: `cpu for: one,two`.
        missing: Vec<String>,
    },
}
