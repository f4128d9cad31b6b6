//! Admission of `certificates.k8s.io` (upstream's plugins in `plugin/pkg/admission/certificates`).
//!
//! The server sets the requester of a CSR from the authenticated user and ignores the values in the
//! request (`csrStrategy.PrepareForCreate`). Approving, signing, and attesting require permission
//! on the signer.

use authz::Authorizer;
use endpoints::AdmissionAttributes;
use generated::certificates::v1::{CertificateSigningRequest, ExtraValue};
use generated::certificates::v1beta1::ClusterTrustBundle;
use machinery::reflect::Owned;
use machinery::status::Status;
use x509::CertificateRequest;

use super::{body, forbidden};
use registry::changes_only_ownership;

const GROUP: &str = "certificates.k8s.io";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Sets the requester of a new CSR to the authenticated user.
pub fn record_requester(attributes: &AdmissionAttributes, object: &mut Owned) {
    let Some(request) = object.downcast_mut::<CertificateSigningRequest>() else { return };
    let user = &attributes.user;
    request.spec.username = user.name.clone();
    request.spec.uid = user.uid.clone();
    request.spec.groups = user.groups.clone();
    let extra = user.extra.iter().map(|(key, values)| (key.clone(), ExtraValue { items: values.clone() }));
    request.spec.extra = extra.collect();
}

/// Context of one write to a resource of `certificates.k8s.io`.
pub struct CertificateWrite<'a> {
    pub authorizer: &'a dyn Authorizer,
    pub attributes: &'a AdmissionAttributes,
    pub object: &'a Owned,
    pub old: Option<&'a Owned>,
}

impl CertificateWrite<'_> {
    /// `CertificateApproval`: checks permission on the stored signer, not on the signer in the
    /// body.
    pub async fn approval(&self) -> Result<(), Status> {
        let old = self.stored()?;
        let signer = &old.spec.signer_name;
        if self.may("approve", signer).await {
            return Ok(());
        }
        Err(self.forbidden(format!("user not permitted to approve requests with signerName {signer:?}")))
    }

    /// `CertificateSigning`
    pub async fn signing(&self) -> Result<(), Status> {
        let (old, new) = (self.stored()?, body::<CertificateSigningRequest>(self.object)?);
        let (is, was, signer) = (&new.status, &old.status, &old.spec.signer_name);
        let unchanged = is.certificate == was.certificate && is.conditions == was.conditions;
        if unchanged || self.may("sign", signer).await {
            return Ok(());
        }
        Err(self.forbidden(format!("user not permitted to sign requests with signerName {signer:?}")))
    }

    /// `ClusterTrustBundleAttest`
    pub async fn attestation(&self) -> Result<(), Status> {
        let signer = &body::<ClusterTrustBundle>(self.object)?.spec.signer_name;
        if signer.is_empty() {
            return Ok(());
        }
        if changes_only_ownership(self.object, self.old) || self.may("attest", signer).await {
            return Ok(());
        }
        Err(self.forbidden(format!("user not permitted to attest for signerName {signer:?}")))
    }

    /// `CertificateSubjectRestriction`: rejects client certificates for the group `system:masters`.
    pub fn subject(&self) -> Result<(), Status> {
        let request = body::<CertificateSigningRequest>(self.object)?;
        if request.spec.signer_name != CLIENT_SIGNER {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&request.spec.request);
        let parsed = x509::blocks(&text).next().and_then(|block| CertificateRequest::parse(&block.bytes).ok());
        let Some(parsed) = parsed else {
            return Err(self.forbidden("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"));
        };
        if parsed.organizations.iter().any(|group| group == request::user::SYSTEM_MASTERS) {
            let why = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
            return Err(self.forbidden(why));
        }
        Ok(())
    }

    /// Returns the stored CSR. Its signer determines the required permission.
    fn stored(&self) -> Result<&CertificateSigningRequest, Status> {
        let stored = self.old.and_then(Owned::downcast_ref);
        stored.ok_or_else(|| self.forbidden("expected type CertificateSigningRequest"))
    }

    /// Whether the user has the verb on the signer or on all signers of its domain
    /// (`IsAuthorizedForSignerName`).
    async fn may(&self, verb: &str, signer: &str) -> bool {
        let domain = signer.split('/').next().unwrap_or_default();
        self.may_on(verb, signer).await || self.may_on(verb, &format!("{domain}/*")).await
    }

    async fn may_on(&self, verb: &str, name: &str) -> bool {
        let access_attributes = authz::AuthorizationAttributes {
            version: "*",
            name,
            ..authz::AuthorizationAttributes::resource(&self.attributes.user, verb, GROUP, "signers")
        };
        self.authorizer.authorize(&access_attributes).await.is_allowed()
    }

    fn forbidden(&self, why: impl std::fmt::Display) -> Status {
        forbidden(self.attributes, why)
    }
}

#[cfg(test)]
mod tests;
