//! SelfSubjectRulesReview: the rules of the requesting user in a namespace.

use async_trait::async_trait;
use authz::UserRules;
use endpoints::{CreateRequest, SubresourceHandler, SubresourceOutput};
use generated::authorization::v1::{NonResourceRule, ResourceRule, SelfSubjectRulesReview, SubjectRulesReviewStatus};
use machinery::reflect::Owned;
use machinery::status::Status;
use serving::Access;

use super::typed;

/// Handler of SelfSubjectRulesReview.
pub struct SelfSubjectRulesReviewHandler(pub Access);

#[async_trait]
impl SubresourceHandler for SelfSubjectRulesReviewHandler {
    async fn create(&self, create_request: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        let review: SelfSubjectRulesReview = typed(create_request.body.clone())?;
        if review.spec.namespace.is_empty() {
            return Err(Status::bad_request("no namespace on request"));
        }
        create_request.validate().await?;
        let rules = self.0.authorizer.rules(&create_request.attributes.user, &review.spec.namespace).await;
        // The response does not contain the spec.
        Ok(SubresourceOutput::Object(Owned::of(SelfSubjectRulesReview { status: status(rules), ..Default::default() })))
    }
}

fn status(all: UserRules) -> SubjectRulesReviewStatus {
    let mut status = SubjectRulesReviewStatus { incomplete: all.incomplete, ..Default::default() };
    for rule in all.rules {
        if !rule.resources.is_empty() {
            status.resource_rules.push(ResourceRule {
                verbs: rule.verbs.clone(),
                api_groups: rule.api_groups,
                resources: rule.resources,
                resource_names: rule.resource_names,
            });
        }
        if !rule.non_resource_urls.is_empty() {
            status
                .non_resource_rules
                .push(NonResourceRule { verbs: rule.verbs, non_resource_urls: rule.non_resource_urls });
        }
    }
    status.evaluation_error = match all.errors.as_slice() {
        [] | [_] => all.errors.concat(),
        more => format!("[{}]", more.join(", ")),
    };
    status
}
