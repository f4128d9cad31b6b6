//! A condition of a row.

/// A condition of a row (`metav1.TableRowCondition`).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RowCondition {
    /// The type of the condition, such as `Completed`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// Machine-readable reason; omitted from JSON if empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    /// Explanation for users; omitted from JSON if empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub message: &'static str,
}
