use super::*;
use crate::warnings::Warnings;
use http::{HeaderMap, header};

fn authentication(anonymous: bool) -> Authentication {
    let file = TokenFile::parse("alicetoken,alice,uid-alice,dev").unwrap();
    Authentication::new(anonymous).with_tokens(Arc::new(file))
}

fn request(authorization: &str, certificate: ClientCertificate) -> Parts {
    let mut request = http::Request::get("/api").body(()).unwrap().into_parts().0;
    if !authorization.is_empty() {
        request.headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
    }
    request.extensions.insert(Arc::new(Peer { certificate, ..Peer::default() }));
    request.extensions.insert(Warnings::default());
    request
}

async fn names(authentication: &Authentication, request: &mut Parts) -> Result<Option<String>, AuthenticationError> {
    Ok(authentication.authenticate(request).await?.map(|user| format!("{} {}", user.name, user.groups.join(","))))
}

#[tokio::test]
async fn the_first_proof_wins() {
    let valid = || ClientCertificate::Valid(User::new("cert", ["ops"]));
    let invalid = || ClientCertificate::Invalid("expired".into());
    let alice = "alice dev,system:authenticated";
    let anonymous = "system:anonymous system:unauthenticated";
    for (authorization, certificate, expect) in [
        ("", ClientCertificate::None, Ok(Some(anonymous))),
        ("Basic x", ClientCertificate::None, Ok(Some(anonymous))),
        ("Bearer alicetoken", ClientCertificate::None, Ok(Some(alice))),
        ("Bearer wrong", ClientCertificate::None, Err("invalid bearer token")),
        ("", valid(), Ok(Some("cert ops,system:authenticated"))),
        ("Bearer wrong", valid(), Ok(Some("cert ops,system:authenticated"))),
        ("Bearer alicetoken", invalid(), Ok(Some(alice))),
        ("", invalid(), Err("expired")),
    ] {
        let got = names(&authentication(true), &mut request(authorization, certificate)).await;
        assert_eq!(got.as_ref().map(Option::as_deref).map_err(|e| e.0.as_str()), expect, "{authorization}");
    }
    assert_eq!(names(&authentication(false), &mut request("", ClientCertificate::None)).await, Ok(None));
}

#[tokio::test]
async fn nobody_behind_sees_the_token() {
    let mut request = request("Bearer alicetoken", ClientCertificate::None);
    names(&authentication(true), &mut request).await.unwrap();
    assert!(!request.headers.contains_key(header::AUTHORIZATION));
}

#[tokio::test]
async fn two_spaces_are_warned_of() {
    let mut request = request("Bearer  alicetoken", ClientCertificate::None);
    assert!(names(&authentication(true), &mut request).await.unwrap().unwrap().starts_with("system:anonymous"));
    let mut headers = HeaderMap::new();
    crate::warnings::write_to(request.extensions.get::<Warnings>().unwrap(), &mut headers);
    assert!(headers[header::WARNING].to_str().unwrap().contains("extra space before the bearer token"));
}

#[test]
fn a_certificate_names_a_user() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "jane");
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "dev");
    params.distinguished_name.push(rcgen::DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]), "42");
    let user = user_of_certificate(params.self_signed(&key).unwrap().der()).unwrap().unwrap();
    assert_eq!(
        (user.name.as_str(), user.uid.as_str(), user.groups.as_slice()),
        ("jane", "42", &["dev".to_owned()][..])
    );
    assert!(user.extra["authentication.kubernetes.io/credential-id"][0].starts_with("X509SHA256="));
    params.distinguished_name = rcgen::DistinguishedName::new();
    assert_eq!(user_of_certificate(params.self_signed(&key).unwrap().der()).unwrap(), None);
}
