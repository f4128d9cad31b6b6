use crate::meta::ObjectMeta;

/// Checks whether a given user or group may perform an action.
#[kind(plural = "subjectaccessreviews", scope = Cluster, verbs(create), virtual)]
#[versions(
    v1(introduced = "1.6"),
    v1beta1(introduced = "1.2", deprecated = "1.19", replacement = "authorization.k8s.io/v1 SubjectAccessReview")
)]
pub struct SubjectAccessReview {
    /// Ordinary object metadata, ignored since access reviews are not persisted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Subject and action to check.
    #[field(2, required)]
    pub spec: SubjectAccessReviewSpec,

    /// The authorizer's decision on the reviewed subject.
    #[field(3)]
    pub status: SubjectAccessReviewStatus,
}

/// Subject and action for an access check; set exactly one attribute block.
pub struct SubjectAccessReviewSpec {
    /// Action on an API resource to check for the subject.
    #[field(1)]
    pub resource_attributes: Option<ResourceAttributes>,

    /// Access to a plain URL path to check for the subject.
    #[field(2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,

    /// Username under test; either it or a group has to be given.
    #[field(3)]
    pub user: String,

    /// Groups under test; given alone, the user is not considered.
    #[field(4, list = atomic)]
    pub groups: Vec<String>,

    /// Additional authenticator attributes of the subject, passed on to authorizers.
    #[field(5)]
    pub extra: Map<String, ExtraValue>,

    /// Unique id of the subject, if known.
    #[field(6)]
    pub uid: String,
}

/// Values of one extra attribute of a user.
#[proto(items)]
pub struct ExtraValue {
    /// The values.
    #[field(1)]
    pub items: Vec<String>,
}

/// Decision produced by an access check.
pub struct SubjectAccessReviewStatus {
    /// True if the authorizers grant the action.
    #[field(1, required)]
    pub allowed: bool,

    /// True on an explicit refusal; both flags are false if no authorizer had an opinion.
    #[field(4)]
    pub denied: bool,

    /// Reason for the decision, if the authorizer gives one.
    #[field(2)]
    pub reason: String,

    /// Trouble met while deciding; the decision may be valid all the same.
    #[field(3)]
    pub evaluation_error: String,
}

mod v1beta1 {
    #[differs(SubjectAccessReviewSpec)]
    struct SubjectAccessReviewSpec {
        /// Groups under test; v1beta1 name of the `groups` field.
        #[field(4, list = atomic, renamed = groups)]
        group: Vec<String>,
    }
}
