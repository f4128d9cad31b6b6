//! TokenReview: authentication of a token.

use async_trait::async_trait;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::authentication::v1::TokenReview;
use machinery::reflect::Owned;
use machinery::status::Status;
use serving::Access;

use super::subject::user_info;
use super::typed;

/// Authenticates the token of the request.
pub struct OfToken(pub Access);

#[async_trait]
impl SubresourceHandler for OfToken {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let mut review: TokenReview = typed(create_request.body.clone())?;
        if review.spec.token.is_empty() {
            return Err(Status::bad_request("token is required for TokenReview in authentication"));
        }
        create_request.validate().await?;
        match self.0.authentication.review(&review.spec.token, &review.spec.audiences).await {
            Ok(Some(found)) => {
                review.status.authenticated = true;
                review.status.user = user_info(&found.user);
                review.status.audiences = found.audiences;
            }
            Ok(None) => {}
            Err(why) => review.status.error = why.0,
        }
        Ok(SubresourceOutput::Object(Owned::of(review)))
    }
}
