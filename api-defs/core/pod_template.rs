use crate::meta::ObjectMeta;

/// Stored blueprint for pods, as a standalone object.
#[kind(plural = "podtemplates", scope = Namespaced, delete_returns_object, generation)]
#[versions(v1(introduced = "1.0"))]
#[column("Containers", join(template.spec.containers.name))]
#[column("Images", join(template.spec.containers.image))]
#[column("Pod Labels", labels(template.metadata.labels))]
#[check(template, below)]
#[strategy(warnings = warn_pod_template)]
pub struct PodTemplate {
    /// Name and labels of the stored blueprint.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Blueprint that pods would be stamped out from.
    #[field(2)]
    pub template: PodTemplateSpec,
}

/// Metadata and spec used by controllers to stamp out pods.
#[normalize(by_hand = normalize_pod_template_spec)]
#[check(metadata, by_hand = choose_by_meta, when(part(options)))]
#[check(spec, below = options, when(part(options)))]
#[check(self, below = options)]
#[check(self, below = chosen)]
#[check(metadata.labels, at("../labels", labels), when(part(chosen)))]
#[check(metadata.annotations, at("../annotations", annotations), when(part(chosen)))]
#[check(self, by_hand = validate_annotations_of_template, when(part(chosen)))]
#[check(spec, below, when(part(chosen)))]
#[check(self, by_hand = validate_template_against_annotations, when(part(chosen)))]
#[check(spec, below = template, when(part(chosen)))]
pub struct PodTemplateSpec {
    /// Labels and annotations placed on each created pod; labels must satisfy the controller's selector.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Spec given to each created pod.
    #[field(2)]
    pub spec: PodSpec,
}
