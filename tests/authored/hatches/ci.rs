//! Hand-written functions of the pipeline definitions.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::ci::v1::PipelineSpec;
use crate::ci::{gates, v1, v2};

/// Rejects images with the tag `latest` and too many retries.
pub fn pipeline_spec(v: &mut Validation<'_>, path: &Path<'_>, new: &PipelineSpec, _: Option<&PipelineSpec>) {
    if new.image.ends_with(":latest") {
        v.invalid(&path.child("image"), &new.image, "must not be the latest one");
    }
    // Pipelines with tagged images may retry more often.
    let most = if v.context.enabled(gates::PipelineTags) { 20 } else { 10 };
    if let Some(retries) = new.retries.filter(|retries| *retries > most) {
        v.invalid(&path.child("retries"), retries, format!("must not exceed {most}"));
    }
}

/// Joins repository and tag into an image.
pub fn image_to_hub(from: &mut v2::PipelineSpec, to: &mut PipelineSpec) {
    let colon = if from.tag.is_empty() { "" } else { ":" };
    to.image = format!("{}{colon}{}", from.repository, from.tag);
}

/// The inverse of `image_to_hub`.
pub fn image_from_hub(from: &mut PipelineSpec, to: &mut v2::PipelineSpec) {
    let (repository, tag) = from.image.split_once(':').unwrap_or((&from.image, ""));
    (to.repository, to.tag) = (repository.into(), tag.into());
}

/// Converts the names of modes.
pub fn mode_to_hub(from: &mut v2::PipelineSpec, to: &mut PipelineSpec) {
    to.mode = old_name(&from.mode);
}

/// The inverse of `mode_to_hub`.
pub fn mode_from_hub(from: &mut PipelineSpec, to: &mut v2::PipelineSpec) {
    to.mode = new_name(&from.mode);
}

/// Modes of steps have the same names in both versions.
pub fn step_mode_to_hub(from: &mut v2::Step, to: &mut v1::Step) {
    to.mode = from.mode.as_deref().map(old_name);
}

/// The inverse of `step_mode_to_hub`.
pub fn step_mode_from_hub(from: &mut v1::Step, to: &mut v2::Step) {
    to.mode = from.mode.as_deref().map(new_name);
}

fn old_name(mode: &str) -> String {
    match mode {
        "Quick" => "Fast".into(),
        "Careful" => "Thorough".into(),
        other => other.into(),
    }
}

fn new_name(mode: &str) -> String {
    match mode {
        "Fast" => "Quick".into(),
        "Thorough" => "Careful".into(),
        other => other.into(),
    }
}
