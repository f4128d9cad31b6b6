//! Whether somebody may do something: SubjectAccessReview and its siblings.

use async_trait::async_trait;
use endpoints::{Answer, CreateRequest, SubresourceHandler};
use generated::authorization::v1::{
    LocalSubjectAccessReview, NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview, SubjectAccessReview,
    SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use machinery::reflect::Owned;
use machinery::status::Status;
use serving::authorization::{Attributes, Decision, Selectors};
use serving::{Access, User};

use super::{attributes, typed, validation};

/// What a subject may do whom the caller names.
pub struct OfSubject(pub Access);

/// What the caller may do.
pub struct OfSelf(pub Access);

/// What a subject may do in the namespace of the request.
pub struct Local(pub Access);

#[async_trait]
impl SubresourceHandler for OfSubject {
    async fn create(&self, posted: CreateRequest<'_>) -> Result<Answer, Status> {
        let mut review: SubjectAccessReview = typed(posted.body.clone())?;
        validation::refuse(&validation::subject_access_review(&review))?;
        posted.validate().await?;
        review.status = of_spec(&self.0, &review.spec).await;
        Ok(Answer::Object(Owned::of(review)))
    }
}

#[async_trait]
impl SubresourceHandler for Local {
    async fn create(&self, posted: CreateRequest<'_>) -> Result<Answer, Status> {
        let mut review: LocalSubjectAccessReview = typed(posted.body.clone())?;
        validation::refuse(&validation::local_subject_access_review(&review))?;
        posted.validate().await?;
        review.status = of_spec(&self.0, &review.spec).await;
        Ok(Answer::Object(Owned::of(review)))
    }
}

#[async_trait]
impl SubresourceHandler for OfSelf {
    async fn create(&self, posted: CreateRequest<'_>) -> Result<Answer, Status> {
        let mut review: SelfSubjectAccessReview = typed(posted.body.clone())?;
        validation::refuse(&validation::self_subject_access_review(&review))?;
        posted.validate().await?;
        let (resource, path) =
            (review.spec.resource_attributes.as_deref(), review.spec.non_resource_attributes.as_deref());
        review.status = judge(&self.0, &posted.attributes.user, resource, path).await;
        Ok(Answer::Object(Owned::of(review)))
    }
}

async fn of_spec(access: &Access, spec: &SubjectAccessReviewSpec) -> SubjectAccessReviewStatus {
    let user = User {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.iter().map(|(key, values)| (key.clone(), values.items.clone())).collect(),
    };
    judge(access, &user, spec.resource_attributes.as_deref(), spec.non_resource_attributes.as_deref()).await
}

/// Asks the authorizers as a request would be asked about.
async fn judge(
    access: &Access,
    user: &User,
    resource: Option<&ResourceAttributes>,
    path: Option<&NonResourceAttributes>,
) -> SubjectAccessReviewStatus {
    let wish = match (resource, path) {
        (Some(resource), _) => attributes::of_resource(user, resource),
        (None, Some(path)) => Attributes::path(user, path.verb.as_str(), &path.path),
        (None, None) => Attributes::path(user, "", ""),
    };
    let decision = access.authorizer.authorize(&wish).await;
    SubjectAccessReviewStatus {
        allowed: decision.is_allowed(),
        denied: matches!(decision, Decision::Deny(_)),
        reason: decision.reason().to_owned(),
        evaluation_error: evaluation_error(&wish.selectors),
    }
}

/// Which selectors did not count because they could not be read (`BuildEvaluationError`).
fn evaluation_error(selectors: &Selectors) -> String {
    let ignored = |name: &str, failed: bool, nothing_left: bool| {
        let partially = if nothing_left { "" } else { "partially " };
        failed.then(|| format!("spec.resourceAttributes.{name} {partially}ignored due to parse error"))
    };
    let field = ignored("fieldSelector", selectors.field_error, selectors.fields.is_empty());
    let label = ignored("labelSelector", selectors.label_error, selectors.labels.is_empty());
    field.into_iter().chain(label).collect::<Vec<_>>().join("; ")
}
