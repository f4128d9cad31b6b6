//! Certificate signing requests: what was asked for never changes; who asked is admission's to say, which knows the user.

use machinery::hooks::Context;

use crate::certificates::v1::CertificateSigningRequest;

/// Mirrors `csrStrategy.PrepareForUpdate` and those of its subresources.
pub fn update_request(_: &Context, new: &mut CertificateSigningRequest, old: &CertificateSigningRequest) {
    new.spec = old.spec.clone();
}
