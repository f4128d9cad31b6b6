//! SelfSubjectReview: the identity of the requesting user.

use async_trait::async_trait;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::authentication::v1::{ExtraValue, SelfSubjectReview, UserInfo};
use machinery::reflect::Owned;
use machinery::status::Status;
use request::User;

/// Returns the requesting user after impersonation.
pub struct SelfSubjectReviewHandler;

#[async_trait]
impl SubresourceHandler for SelfSubjectReviewHandler {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        create_request.validate().await?;
        let mut review = SelfSubjectReview::default();
        review.metadata.creation_timestamp = create_request.context.now;
        review.status.user_info = user_info(&create_request.attributes.user);
        Ok(SubresourceOutput::Object(Owned::of(review)))
    }
}

/// Converts a user to the API type.
pub fn user_info(user: &User) -> UserInfo {
    let extra = user.extra.iter().map(|(key, values)| (key.clone(), ExtraValue { items: values.clone() }));
    UserInfo { username: user.name.clone(), uid: user.uid.clone(), groups: user.groups.clone(), extra: extra.collect() }
}
