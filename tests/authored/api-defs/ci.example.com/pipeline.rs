//! Pipelines.

use crate::meta::{Condition, ObjectMeta};

/// What is built, and how.
#[kind(plural = "pipelines", short = "pl", scope = Cluster)]
#[versions(v1, v2)]
#[subresource(status)]
pub struct Pipeline {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// What its owner asks for.
    #[field(2)]
    pub spec: PipelineSpec,

    /// What was seen of it last.
    #[field(3)]
    pub status: PipelineStatus,
}

/// What was seen of a pipeline last.
pub struct PipelineStatus {
    /// Conditions, one entry per type.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}

/// What the owner of a pipeline asks for.
#[validate(by_hand = pipeline_spec)]
#[rule("self.mode != 'Thorough' || self.workers == 1", field = workers, message = "thorough builds run alone")]
pub struct PipelineSpec {
    /// How many builds may run at a time.
    #[field(1, default = 1, min = 1, max = 100)]
    pub workers: Option<i32>,

    /// How a build goes about its steps.
    #[field(2, default = Fast)]
    pub mode: Mode,

    /// How often a step that failed is run again.
    #[field(3, min = 0, gate = PipelineRetries)]
    pub retries: Option<i32>,

    /// What a build does, in order.
    #[field(4, list = map(name), gate = PipelineSteps)]
    pub steps: Vec<Step>,

    /// The image that builds run in, with its tag behind a colon.
    #[field(5, max_length = 40)]
    pub image: String,

    /// Who is told of builds that failed.
    #[field(8, deprecated)]
    pub mail: String,

    /// The team that answers for it.
    #[field(9, immutable)]
    pub team: String,
}

/// How a build goes about its steps.
pub enum Mode {
    /// Those that do not depend on each other at the same time.
    Fast,
    /// One after the other.
    Thorough,
    /// As fast, and what failed again.
    #[value(gate = PipelineRetries)]
    Patient,
}

/// One step of a build.
pub struct Step {
    /// How the step is called.
    #[field(1, required, format = dns1123_label)]
    pub name: String,

    /// The step is run so, whatever the pipeline says.
    #[field(2)]
    pub mode: Option<Mode>,

    /// A pause after the step.
    #[field(3)]
    pub pause: Option<Pause>,
}

/// A pause after a step.
pub struct Pause {
    /// How many seconds it takes.
    #[field(1, min = 0)]
    pub seconds: Option<i32>,

    /// Whether there is none after a step that is run again.
    #[field(2, gate = PipelineRetries, gate_with_struct)]
    pub unless_retried: Option<bool>,
}

/// What v2 says otherwise.
mod v2 {
    #[differs(PipelineSpec)]
    #[rule("self.mode != 'Careful' || self.parallelism == 1", field = parallelism, message = "careful builds run alone")]
    struct PipelineSpec {
        /// How many builds may run at a time.
        #[field(1, default = 1, min = 1, max = 50, renamed = workers)]
        parallelism: Option<i32>,

        /// How a build goes about its steps.
        #[field(2, default = Quick)]
        mode: Mode,

        /// How often a step that failed is run again.
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

        /// Who is told of builds that failed.
        #[field(8, deprecated, renamed = mail)]
        contact: String,
    }

    /// How a build goes about its steps.
    enum Mode {
        /// Those that do not depend on each other at the same time.
        Quick,
        /// One after the other.
        Careful,
    }

    #[convert(PipelineSpec, by_hand = image, here(repository, tag), hub(image))]
    struct Image;

    #[convert(PipelineSpec, by_hand = mode, here(mode), hub(mode))]
    struct ModeOfPipeline;

    #[convert(Step, by_hand = step_mode, here(mode), hub(mode))]
    struct ModeOfStep;
}
