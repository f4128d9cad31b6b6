//! Certificate signing requests: what was asked for never changes; who asked is admission's to say, which knows the user.

use generated::certificates::v1::CertificateSigningRequest;
use machinery::reflect::{Owned, Ref};
use registry::Context;

/// Mirrors `csrStrategy.PrepareForUpdate` and those of its subresources.
pub fn update(_: &Context, new: &mut Owned, old: Ref<'_>) {
    let new = new.downcast_mut::<CertificateSigningRequest>();
    if let (Some(new), Some(old)) = (new, old.downcast::<CertificateSigningRequest>()) {
        new.spec = old.spec.clone();
    }
}
