use super::*;
use crate::warnings::Warnings;
use http::{HeaderMap, header};

fn authentication(anonymous: Anonymous) -> Authentication {
    let inner = TokenFile::parse("alicetoken,alice,uid-alice,dev").unwrap();
    let audiences = vec!["api".to_owned()];
    let tokens = AudienceAgnostic { inner, audiences: audiences.clone() };
    Authentication::new(anonymous, audiences).with_tokens(Arc::new(tokens))
}

fn request(authorization: &str, certificate: ClientCertificate) -> Parts {
    let mut request = http::Request::get("/api").body(()).unwrap().into_parts().0;
    if !authorization.is_empty() {
        request.headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
    }
    request.extensions.insert(Arc::new(Peer { certificate, ..Peer::default() }));
    request.extensions.insert(Warnings::default());
    let info = crate::RequestInfo::new(&request.method, &request.uri).unwrap();
    request.extensions.insert(Arc::new(info));
    request
}

async fn names(authentication: &Authentication, request: &mut Parts) -> Result<Option<String>, AuthenticationError> {
    Ok(authentication.authenticate(request).await?.map(|user| format!("{} {}", user.name, user.groups.join(","))))
}

#[tokio::test]
async fn the_first_proof_wins() {
    let valid = || ClientCertificate::of(User::new("cert", ["ops"]));
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
        let got = names(&authentication(Anonymous::Everybody), &mut request(authorization, certificate)).await;
        assert_eq!(got.as_ref().map(Option::as_deref).map_err(|e| e.0.as_str()), expect, "{authorization}");
    }
    assert_eq!(names(&authentication(Anonymous::Nobody), &mut request("", ClientCertificate::None)).await, Ok(None));
}

#[tokio::test]
async fn nobody_behind_sees_the_token() {
    let mut request = request("Bearer alicetoken", ClientCertificate::None);
    names(&authentication(Anonymous::Everybody), &mut request).await.unwrap();
    assert!(!request.headers.contains_key(header::AUTHORIZATION));
}

#[tokio::test]
async fn two_spaces_are_warned_of() {
    let mut request = request("Bearer  alicetoken", ClientCertificate::None);
    assert!(
        names(&authentication(Anonymous::Everybody), &mut request)
            .await
            .unwrap()
            .unwrap()
            .starts_with("system:anonymous")
    );
    let mut headers = HeaderMap::new();
    crate::warnings::write_to(request.extensions.get::<Warnings>().unwrap(), &mut headers);
    assert!(headers[header::WARNING].to_str().unwrap().contains("extra space before the bearer token"));
}

#[tokio::test]
async fn anonymous_users_may_be_let_in_to_some_paths() {
    let to = |path: &str| authentication(Anonymous::To(vec![path.into()]));
    assert!(names(&to("/api"), &mut request("", ClientCertificate::None)).await.unwrap().is_some());
    assert_eq!(names(&to("/ap"), &mut request("", ClientCertificate::None)).await, Ok(None));
}

#[tokio::test]
async fn reviews_ask_for_audiences() {
    let authentication = authentication(Anonymous::Nobody);
    let review = async |token: &str, audiences: &[&str]| {
        let audiences: Vec<String> = audiences.iter().map(|a| (*a).to_owned()).collect();
        authentication.review(token, &audiences).await.map(|found| found.map(|found| found.audiences.join(",")))
    };
    assert_eq!(review("alicetoken", &[]).await, Ok(Some("api".into())));
    assert_eq!(review("alicetoken", &["x", "api"]).await, Ok(Some("api".into())));
    for (token, audience) in [("alicetoken", "x"), ("wrong", "api")] {
        assert_eq!(review(token, &[audience]).await, Err(AuthenticationError("invalid bearer token".into())));
    }
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
