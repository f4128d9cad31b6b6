//! Audit annotations of validating policies.

use std::collections::BTreeMap;

use audit::{AuditContext, Level};
use generated::admissionregistration::v1::ValidatingAdmissionPolicyBinding;
use serde_json::json;

/// Maximum length of an annotation value, in bytes.
const MAX_VALUE: usize = 10 * 1024;
/// The annotation for failed validations.
const FAILURE: &str = "validation.policy.admission.k8s.io/validation_failure";

/// The annotations of one policy for a request: by key, the values of all bindings and parameters.
#[derive(Default)]
pub struct Annotations(BTreeMap<String, Vec<String>>);

impl Annotations {
    /// Adds a value unless it is empty or already present.
    pub fn add(&mut self, key: &str, value: &str) {
        let values = self.0.entry(key.to_owned()).or_default();
        let value = &value[..value.floor_char_boundary(MAX_VALUE)];
        if !value.is_empty() && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }

    /// Records the annotations under the policy's name.
    pub fn record(self, policy: &str, trail: &AuditContext) {
        for (key, values) in self.0.into_iter().filter(|(_, values)| !values.is_empty()) {
            trail.annotate(format!("{policy}/{key}"), values.join(", "));
        }
    }
}

/// Records a failed validation for a binding with the action `Audit`.
pub fn record_failure(binding: &ValidatingAdmissionPolicyBinding, index: usize, message: &str, trail: &AuditContext) {
    trail.annotate_from(Level::Metadata, FAILURE, || {
        let spec = &binding.spec;
        json!([{
            "message": message,
            "policy": spec.policy_name,
            "binding": binding.metadata.name,
            "expressionIndex": index,
            "validationActions": spec.validation_actions,
        }])
        .to_string()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deduplicates_and_truncates_values() {
        let mut annotations = Annotations::default();
        for (k, v) in [("k", "a"), ("k", "b"), ("k", "a"), ("k", ""), ("long", &"é".repeat(MAX_VALUE))] {
            annotations.add(k, v);
        }
        assert_eq!(annotations.0["k"], ["a", "b"]);
        assert_eq!(annotations.0["long"][0].len(), MAX_VALUE);
    }
}
