//! Pipelines.

use crate::meta::{Condition, ObjectMeta};

/// A build and its steps.
#[kind(plural = "pipelines", short = "pl", scope = Cluster)]
#[versions(v1, v2)]
#[subresource(status)]
pub struct Pipeline {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state of the pipeline.
    #[field(2)]
    pub spec: PipelineSpec,

    /// Observed state of the pipeline.
    #[field(3)]
    pub status: PipelineStatus,
}

/// Observed state of a pipeline.
pub struct PipelineStatus {
    /// Conditions, one entry per type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}

/// Desired state of a pipeline.
#[validate(by_hand = pipeline_spec)]
#[rule("self.mode != 'Thorough' || self.workers == 1", field = workers, message = "thorough builds run alone")]
pub struct PipelineSpec {
    /// Maximum number of concurrent builds.
    #[field(1, default = 1, min = 1, max = 100)]
    pub workers: Option<i32>,

    /// Execution mode of the steps of a build.
    #[field(2, default = Fast)]
    pub mode: Mode,

    /// Number of retries of a failed step.
    #[field(3, min = 0, gate = PipelineRetries)]
    pub retries: Option<i32>,

    /// Steps of a build, in order.
    #[field(4, list = map(name), gate = PipelineSteps)]
    pub steps: Vec<Step>,

    /// The image that builds run in, with its tag behind a colon.
    #[field(5, max_length = 40)]
    pub image: String,

    /// Recipient of notifications about failed builds.
    #[field(8, deprecated)]
    pub mail: String,

    /// Team that owns the pipeline.
    #[field(9, immutable)]
    pub team: String,
}

/// Execution mode of the steps of a build.
pub enum Mode {
    /// Runs independent steps concurrently.
    Fast,
    /// Runs the steps one after the other.
    Thorough,
    /// Runs independent steps concurrently and retries failed ones.
    #[value(gate = PipelineRetries)]
    Patient,
}

/// One step of a build.
pub struct Step {
    /// Name of the step.
    #[field(1, required, format = dns1123_label)]
    pub name: String,

    /// Execution mode of this step; overrides the mode of the pipeline.
    #[field(2)]
    pub mode: Option<Mode>,

    /// A pause after the step.
    #[field(3)]
    pub pause: Option<Pause>,
}

/// A pause after a step.
pub struct Pause {
    /// Duration of the pause in seconds.
    #[field(1, min = 0)]
    pub seconds: Option<i32>,

    /// Whether to skip the pause after a retried step.
    #[field(2, gate = PipelineRetries, gate_with_struct)]
    pub unless_retried: Option<bool>,
}

/// Differences of v2.
mod v2 {
    #[differs(PipelineSpec)]
    #[rule("self.mode != 'Careful' || self.parallelism == 1", field = parallelism, message = "careful builds run alone")]
    struct PipelineSpec {
        /// Maximum number of concurrent builds.
        #[field(1, default = 1, min = 1, max = 50, renamed = workers)]
        parallelism: Option<i32>,

        /// Execution mode of the steps of a build.
        #[field(2, default = Quick)]
        mode: Mode,

        /// Number of retries of a failed step.
        #[field(3, min = 0, renamed = retries, gate = PipelineRetries)]
        attempts: Option<i32>,

        #[gone]
        image: (),

        /// The image that builds run in.
        #[field(6, max_length = 20)]
        repository: String,

        /// The image's tag.
        #[field(7, gate = PipelineTags)]
        tag: String,

        /// Recipient of notifications about failed builds.
        #[field(8, deprecated, renamed = mail)]
        contact: String,
    }

    /// Execution mode of the steps of a build.
    enum Mode {
        /// Runs independent steps concurrently.
        Quick,
        /// Runs the steps one after the other.
        Careful,
    }

    #[convert(PipelineSpec, by_hand = image, here(repository, tag), hub(image))]
    struct Image;

    #[convert(PipelineSpec, by_hand = mode, here(mode), hub(mode))]
    struct ModeOfPipeline;

    #[convert(Step, by_hand = step_mode, here(mode), hub(mode))]
    struct ModeOfStep;
}
