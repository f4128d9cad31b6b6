//! Who the caller is: SelfSubjectReview.

use async_trait::async_trait;
use endpoints::{Answer, CreateRequest, SubresourceHandler};
use generated::authentication::v1::{ExtraValue, SelfSubjectReview, UserInfo};
use machinery::reflect::Owned;
use machinery::status::Status;
use serving::User;

/// The caller, after impersonation.
pub struct OfSelf;

#[async_trait]
impl SubresourceHandler for OfSelf {
    async fn create(&self, posted: CreateRequest<'_>) -> Result<Answer, Status> {
        posted.validate().await?;
        let mut review = SelfSubjectReview::default();
        review.metadata.creation_timestamp = posted.context.now;
        review.status.user_info = user_info(&posted.attributes.user);
        Ok(Answer::Object(Owned::of(review)))
    }
}

/// A user as reviews show one.
pub fn user_info(user: &User) -> UserInfo {
    let extra = user.extra.iter().map(|(key, values)| (key.clone(), ExtraValue { items: values.clone() }));
    UserInfo { username: user.name.clone(), uid: user.uid.clone(), groups: user.groups.clone(), extra: extra.collect() }
}
