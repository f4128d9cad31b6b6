//! Approves requests of kubelets for client certificates (upstream: `approver.sarApprover`).

use std::sync::Arc;

use authz::{AuthorizationAttributes, Authorizer};
use endpoints::Loopback;
use generated::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, request_condition_type,
};
use generated::core::v1::condition_status;
use machinery::status::Status;
use request::User;
use x509::CertificateRequest;

use super::request::{KUBELET_CLIENT, check_kubelet_client, parse};
use super::{LONGEST_DELAY, REQUESTS, decision, for_each_open};
use crate::context::Context;
use crate::queue::Next;

/// The right to a certificate, and the message of its approval.
struct Recognizer {
    /// The subresource that the requester needs to `create`.
    subresource: &'static str,
    /// Upstream's text, which is part of the object.
    message: &'static str,
}

const OWN: Recognizer = Recognizer {
    subresource: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const ANY: Recognizer = Recognizer {
    subresource: "nodeclient",
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

/// Approves requests of kubelets that have the right to a client certificate.
///
/// # Errors
/// The server lacks certificate requests.
pub async fn run(context: Context) -> Result<(), Status> {
    let approver =
        Approver { loopback: context.loopback(), authorizer: context.server.environment.access.authorizer.clone() };
    let handle = |request| approver.handle(request);
    for_each_open("certificatesigningrequest-approving-controller", &context, handle).await
}

struct Approver {
    loopback: Loopback,
    authorizer: Arc<dyn Authorizer>,
}

impl Approver {
    async fn handle(&self, mut object: CertificateSigningRequest) -> Result<Next, Status> {
        if decision(&object) != (false, false) {
            return Ok(Next::Done);
        }
        let request = parse(&object)?;
        let recognizers = recognizers(&object, &request);
        for recognizer in recognizers {
            if self.is_allowed(&object, recognizer.subresource).await {
                object.status.conditions.push(CertificateSigningRequestCondition {
                    r#type: request_condition_type::APPROVED.into(),
                    status: condition_status::TRUE.into(),
                    reason: "AutoApproved".into(),
                    message: recognizer.message.into(),
                    ..CertificateSigningRequestCondition::default()
                });
                return self.loopback.update_subresource(REQUESTS, "approval", object).await.map(|_| Next::Done);
            }
        }
        // As upstream, the request is tried again: the right may be granted later.
        Ok(if recognizers.is_empty() { Next::Done } else { Next::Backoff(LONGEST_DELAY) })
    }

    /// Whether the requester has a right to certificates of kubelets.
    async fn is_allowed(&self, object: &CertificateSigningRequest, subresource: &str) -> bool {
        let spec = &object.spec;
        let user = User {
            name: spec.username.clone(),
            uid: spec.uid.clone(),
            groups: spec.groups.clone(),
            extra: spec.extra.iter().map(|(key, values)| (key.clone(), values.items.clone())).collect(),
        };
        let attributes = AuthorizationAttributes {
            subresource,
            version: "*",
            ..AuthorizationAttributes::resource(&user, "create", REQUESTS.0, REQUESTS.2)
        };
        self.authorizer.authorize(&attributes).await.is_allowed()
    }
}

/// The rights that suffice for a request, in upstream's order; none for requests of other forms.
fn recognizers(object: &CertificateSigningRequest, request: &CertificateRequest) -> &'static [Recognizer] {
    static OF_OWN: [Recognizer; 2] = [OWN, ANY];
    let is_of_kubelet =
        object.spec.signer_name == KUBELET_CLIENT && check_kubelet_client(request, &object.spec.usages).is_ok();
    match (is_of_kubelet, object.spec.username == request.common_name) {
        (false, _) => &[],
        (true, true) => &OF_OWN,
        (true, false) => &OF_OWN[1..],
    }
}
