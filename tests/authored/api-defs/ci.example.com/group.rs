//! Pipelines, declared as an author declares a group: tests show what the words of the language do.

#![group("ci.example.com", module = ci)]
#![version(v1)]
#![version(v2, priority = 20)]
#![gate(PipelineRetries, alpha)]
#![gate(PipelineTags, alpha)]
#![gate(PipelineArchives, beta, default = true)]
#![gate(PipelineSteps, ga, default = true, locked)]
