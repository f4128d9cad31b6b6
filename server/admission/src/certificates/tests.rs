//! Rows of upstream's tests of `plugin/pkg/admission/certificates`.

use endpoints::Operation;
use futures_util::FutureExt;
use generated::core::v1::Pod;
use serde_json::{Value, json};

use super::*;
use crate::testing::{FnAuthorizer, owned, request};

const PRINTABLE_TO_BMP: &str = include_str!("../../../../tests/attacks/masters.pem");

/// An authorizer that allows all verbs on the signer with this name.
fn on_signer(name: &'static str) -> FnAuthorizer<impl Fn(&authz::AuthorizationAttributes<'_>) -> bool> {
    FnAuthorizer(move |access_attributes: &authz::AuthorizationAttributes<'_>| {
        (access_attributes.group, access_attributes.resource) == (GROUP, "signers") && access_attributes.name == name
    })
}

fn signing_request(signer: &str, status: Value) -> Owned {
    owned::<CertificateSigningRequest>(&json!({"spec": {"signerName": signer}, "status": status}))
}

#[test]
fn approval_requires_permission_on_stored_signer() {
    let check = |allowed_signer: &'static str, stored: Option<&str>, sent: &str, expect: bool| {
        let (authorizer, attributes) = (on_signer(allowed_signer), request(Operation::Update, "Pod", "pods"));
        let (object, old) = (signing_request(sent, json!({})), stored.map(|signer| signing_request(signer, json!({}))));
        let check =
            CertificateWrite { authorizer: &authorizer, attributes: &attributes, object: &object, old: old.as_ref() };
        let allowed = check.approval().now_or_never().expect("no wait").is_ok();
        assert_eq!(allowed, expect, "{allowed_signer} {stored:?} {sent}");
    };
    check("abc.com/xyz", None, "abc.com/xyz", false);
    check("", Some("abc.com/xyz"), "abc.com/xyz", false);
    check("abc.com/xyz", Some("abc.com/xyz"), "abc.com/xyz", true);
    check("abc.com/*", Some("abc.com/xyz"), "abc.com/xyz", true);
    check("notabc.com/xyz", Some("abc.com/xyz"), "abc.com/xyz", false);
    check("notabc.com/*", Some("abc.com/xyz"), "abc.com/xyz", false);
    check("allowed.com/xyz", Some("notallowed.com/xyz"), "allowed.com/xyz", false);
    check("abc.com", Some("abc.com/xyz"), "abc.com/xyz", false);
    check("*", Some("abc.com/xyz"), "abc.com/xyz", false);
}

#[test]
fn signing_requires_permission_on_stored_signer() {
    let certificate = json!({"certificate": "ZGF0YQ=="});
    let failed = json!({"conditions": [{"type": "Failed", "status": "True"}]});
    let check =
        |allowed_signer: &'static str, (stored, was): (&str, &Value), (sent, is): (&str, &Value), expect: bool| {
            let (authorizer, attributes) = (on_signer(allowed_signer), request(Operation::Update, "Pod", "pods"));
            let (object, old) = (signing_request(sent, is.clone()), signing_request(stored, was.clone()));
            let check =
                CertificateWrite { authorizer: &authorizer, attributes: &attributes, object: &object, old: Some(&old) };
            let allowed = check.signing().now_or_never().expect("no wait").is_ok();
            assert_eq!(allowed, expect, "{allowed_signer} {stored} {was} {sent} {is}");
        };
    let (nothing, signer) = (json!({}), "abc.com/xyz");
    check("", (signer, &certificate), (signer, &certificate), true);
    check("", (signer, &failed), (signer, &failed), true);
    check("", (signer, &nothing), (signer, &certificate), false);
    check("", (signer, &nothing), (signer, &failed), false);
    check("", (signer, &certificate), (signer, &nothing), false);
    check(signer, (signer, &nothing), (signer, &certificate), true);
    check("abc.com/*", (signer, &nothing), (signer, &certificate), true);
    check("notabc.com/xyz", (signer, &nothing), (signer, &certificate), false);
    check("allowed.com/xyz", ("notallowed.com/xyz", &nothing), ("allowed.com/xyz", &certificate), false);
    let other = owned::<Pod>(&json!({}));
    let (authorizer, attributes) = (on_signer(signer), request(Operation::Update, "Pod", "pods"));
    let check =
        CertificateWrite { authorizer: &authorizer, attributes: &attributes, object: &other, old: Some(&other) };
    assert!(check.signing().now_or_never().expect("no wait").is_err(), "objects of another kind");
}

#[test]
fn rejects_client_certificates_for_system_masters() {
    let check = |signer: &str, pem: &str, expect: bool| {
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pem);
        let object = owned::<CertificateSigningRequest>(&json!({"spec": {"signerName": signer, "request": encoded}}));
        let (authorizer, attributes) = (on_signer(""), request(Operation::Create, "Pod", "pods"));
        let check = CertificateWrite { authorizer: &authorizer, attributes: &attributes, object: &object, old: None };
        assert_eq!(check.subject().is_ok(), expect, "{signer} {pem}");
    };
    let requests: Vec<&str> = PRINTABLE_TO_BMP.split_inclusive("-----END CERTIFICATE REQUEST-----\n").collect();
    assert_eq!(requests.len(), 4);
    for pem in requests {
        let pem = &pem[pem.find("-----BEGIN").unwrap_or(0)..];
        check(CLIENT_SIGNER, pem, false);
        check("kubernetes.io/kube-apiserver-client-kubelet", pem, true);
        check("abc.com/xyz", pem, true);
    }
    check(CLIENT_SIGNER, "this is not a request", false);
    check("abc.com/xyz", "this is not a request", true);
}
