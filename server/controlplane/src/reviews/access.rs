//! SubjectAccessReview, SelfSubjectAccessReview, and LocalSubjectAccessReview.

use async_trait::async_trait;
use authz::{AuthorizationAttributes, Decision, Selectors};
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::authorization::v1::{
    LocalSubjectAccessReview, NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview, SubjectAccessReview,
    SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use machinery::reflect::Owned;
use machinery::status::Status;
use request::User;
use serving::Access;

use super::{attributes, typed, validation};

/// Reviews the access of the subject in the request.
pub struct OfSubject(pub Access);

/// Reviews the access of the requesting user.
pub struct SelfSubjectAccessReviewHandler(pub Access);

/// Reviews the access of a subject in the namespace of the request.
pub struct Local(pub Access);

#[async_trait]
impl SubresourceHandler for OfSubject {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let mut review: SubjectAccessReview = typed(create_request.body.clone())?;
        validation::refuse(&validation::subject_access_review(&review))?;
        create_request.validate().await?;
        review.status = of_spec(&self.0, &review.spec).await;
        Ok(SubresourceOutput::Object(Owned::of(review)))
    }
}

#[async_trait]
impl SubresourceHandler for Local {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let mut review: LocalSubjectAccessReview = typed(create_request.body.clone())?;
        validation::refuse(&validation::local_subject_access_review(&review))?;
        create_request.validate().await?;
        review.status = of_spec(&self.0, &review.spec).await;
        Ok(SubresourceOutput::Object(Owned::of(review)))
    }
}

#[async_trait]
impl SubresourceHandler for SelfSubjectAccessReviewHandler {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let mut review: SelfSubjectAccessReview = typed(create_request.body.clone())?;
        validation::refuse(&validation::self_subject_access_review(&review))?;
        create_request.validate().await?;
        let (resource, path) =
            (review.spec.resource_attributes.as_deref(), review.spec.non_resource_attributes.as_deref());
        review.status = authorize(&self.0, &create_request.attributes.user, resource, path).await;
        Ok(SubresourceOutput::Object(Owned::of(review)))
    }
}

async fn of_spec(access: &Access, spec: &SubjectAccessReviewSpec) -> SubjectAccessReviewStatus {
    let user = User {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.iter().map(|(key, values)| (key.clone(), values.items.clone())).collect(),
    };
    authorize(access, &user, spec.resource_attributes.as_deref(), spec.non_resource_attributes.as_deref()).await
}

/// Authorizes the attributes like a request.
async fn authorize(
    access: &Access,
    user: &User,
    resource: Option<&ResourceAttributes>,
    path: Option<&NonResourceAttributes>,
) -> SubjectAccessReviewStatus {
    let access_attributes = match (resource, path) {
        (Some(resource), _) => attributes::of_resource(user, resource),
        (None, Some(path)) => AuthorizationAttributes::path(user, path.verb.as_str(), &path.path),
        (None, None) => AuthorizationAttributes::path(user, "", ""),
    };
    let decision = access.authorizer.authorize(&access_attributes).await;
    SubjectAccessReviewStatus {
        allowed: decision.is_allowed(),
        denied: matches!(decision, Decision::Deny(_)),
        reason: decision.reason().to_owned(),
        evaluation_error: evaluation_error(&access_attributes.selectors),
    }
}

/// Describes the selectors that were ignored because of parse errors (`BuildEvaluationError`).
fn evaluation_error(selectors: &Selectors) -> String {
    let ignored = |name: &str, failed: bool, nothing_left: bool| {
        let partially = if nothing_left { "" } else { "partially " };
        failed.then(|| format!("spec.resourceAttributes.{name} {partially}ignored due to parse error"))
    };
    let field = ignored("fieldSelector", selectors.field_error, selectors.fields.is_empty());
    let label = ignored("labelSelector", selectors.label_error, selectors.labels.is_empty());
    field.into_iter().chain(label).collect::<Vec<_>>().join("; ")
}
