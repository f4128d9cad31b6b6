//! Who asks for a certificate is what the server knows, not what the request says (`csrStrategy.PrepareForCreate`).

use endpoints::Attributes;
use generated::certificates::v1::{CertificateSigningRequest, ExtraValue};
use machinery::reflect::Owned;

/// Records the user of a new request.
pub fn record_requester(attributes: &Attributes, object: &mut Owned) {
    let Some(request) = object.downcast_mut::<CertificateSigningRequest>() else { return };
    let user = &attributes.user;
    request.spec.username = user.name.clone();
    request.spec.uid = user.uid.clone();
    request.spec.groups = user.groups.clone();
    let extra = user.extra.iter().map(|(key, values)| (key.clone(), ExtraValue { items: values.clone() }));
    request.spec.extra = extra.collect();
}
