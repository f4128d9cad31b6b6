//! The steps of a plugin.

/// The admission step: mutation or validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionStep {
    Admit,
    Validate,
}

impl AdmissionStep {
    pub fn name(self) -> &'static str {
        match self {
            AdmissionStep::Admit => "admit",
            AdmissionStep::Validate => "validate",
        }
    }

    /// The label value of the step in webhook metrics.
    pub fn webhooks(self) -> &'static str {
        match self {
            AdmissionStep::Admit => "admit",
            AdmissionStep::Validate => "validating",
        }
    }
}

pub const STEPS: usize = 2;

pub const OPERATIONS: usize = 4;
