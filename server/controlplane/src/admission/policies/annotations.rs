//! What validating policies have recorded in the audit log.

use std::collections::BTreeMap;

use generated::admissionregistration::v1::ValidatingAdmissionPolicyBinding;
use serde_json::json;
use serving::audit::{AuditContext, Level};

/// Longest value of an annotation, in bytes.
const MAX_VALUE: usize = 10 * 1024;
/// The annotation of a validation that failed.
const FAILURE: &str = "validation.policy.admission.k8s.io/validation_failure";

/// The annotations that a policy makes of a request: by key, the values of all bindings and parameters.
#[derive(Default)]
pub struct Annotations(BTreeMap<String, Vec<String>>);

impl Annotations {
    /// Adds a value, unless it is empty or there already.
    pub fn add(&mut self, key: &str, value: &str) {
        let values = self.0.entry(key.to_owned()).or_default();
        let value = &value[..value.floor_char_boundary(MAX_VALUE)];
        if !value.is_empty() && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }

    /// Records them, under the policy's name.
    pub fn tell(self, policy: &str, trail: &AuditContext) {
        for (key, values) in self.0.into_iter().filter(|(_, values)| !values.is_empty()) {
            trail.annotate(format!("{policy}/{key}"), values.join(", "));
        }
    }
}

/// Records that a validation failed whose binding asks for that.
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
    fn values_are_told_once_and_cut() {
        let mut annotations = Annotations::default();
        for (k, v) in [("k", "a"), ("k", "b"), ("k", "a"), ("k", ""), ("long", &"é".repeat(MAX_VALUE))] {
            annotations.add(k, v);
        }
        assert_eq!(annotations.0["k"], ["a", "b"]);
        assert_eq!(annotations.0["long"][0].len(), MAX_VALUE);
    }
}
