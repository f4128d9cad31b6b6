use http::{HeaderMap, header};
use request::warnings::Warnings;
use request::{Connection, RequestInfo};

use super::*;
use crate::client_certificate::user_of_certificate;
use crate::token_authenticator::AudienceAgnostic;
use crate::token_file::TokenFile;

fn authentication(anonymous: Anonymous) -> Authentication {
    let inner = TokenFile::parse("alicetoken,alice,uid-alice,dev").unwrap();
    let audiences = vec!["api".to_owned()];
    let tokens = AudienceAgnostic { inner, audiences: audiences.clone() };
    Authentication::new(anonymous, audiences).with_tokens(Arc::new(tokens))
}

/// The client certificate of a connection.
#[derive(Clone, Copy)]
enum Presents {
    Nothing,
    Valid,
    Expired,
    /// The certificate of a front proxy, which names jane.
    Proxy,
}

impl Connection for Presents {
    fn client(&self) -> ClientCertificate {
        match self {
            Presents::Nothing => ClientCertificate::None,
            Presents::Valid => ClientCertificate::of(User::new("cert", [] as [&str; 0])),
            Presents::Expired => ClientCertificate::Invalid(EXPIRED.into()),
            Presents::Proxy => ClientCertificate::Invalid("signed by another authority".into()),
        }
    }

    fn proxy(&self) -> ClientCertificate {
        match self {
            Presents::Proxy => ClientCertificate::of(User::new("proxy", [] as [&str; 0])),
            Presents::Nothing => ClientCertificate::None,
            _ => ClientCertificate::Invalid("signed by another authority".into()),
        }
    }

    fn set_authenticated(&self) {}

    fn close(&self) {}
}

const EXPIRED: &str = "verifying the client certificate: invalid peer certificate: certificate expired";

fn request(authorization: &str, presents: Presents) -> Parts {
    let mut request = http::Request::get("/api").body(()).unwrap().into_parts().0;
    if !authorization.is_empty() {
        request.headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
    }
    let peer = Peer::new(Peer::default().address, Arc::new(presents));
    request.extensions.insert(Arc::new(peer));
    request.extensions.insert(Warnings::default());
    let info = RequestInfo::new(&request.method, &request.uri).unwrap();
    request.extensions.insert(Arc::new(info));
    request
}

async fn names(authentication: &Authentication, request: &mut Parts) -> Result<Option<String>, AuthenticationError> {
    Ok(authentication.authenticate(request).await?.map(|user| format!("{} {}", user.name, user.groups.join(","))))
}

#[tokio::test]
async fn first_valid_credential_decides() {
    let alice = "alice dev,system:authenticated";
    let anonymous = "system:anonymous system:unauthenticated";
    for (authorization, presents, expect) in [
        ("", Presents::Nothing, Ok(Some(anonymous))),
        ("Basic x", Presents::Nothing, Ok(Some(anonymous))),
        ("Bearer alicetoken", Presents::Nothing, Ok(Some(alice))),
        ("Bearer wrong", Presents::Nothing, Err("invalid bearer token")),
        ("", Presents::Valid, Ok(Some("cert system:authenticated"))),
        ("Bearer wrong", Presents::Valid, Ok(Some("cert system:authenticated"))),
        ("Bearer alicetoken", Presents::Expired, Ok(Some(alice))),
        ("", Presents::Expired, Err(EXPIRED)),
    ] {
        let got = names(&authentication(Anonymous::Enabled), &mut request(authorization, presents)).await;
        let got = got.as_ref().map(Option::as_deref).map_err(|error| error.0.as_str());
        assert_eq!(got, expect, "{authorization}");
    }
    assert_eq!(names(&authentication(Anonymous::Disabled), &mut request("", Presents::Nothing)).await, Ok(None));
}

/// Finding A7: no header of a client survives authentication, whichever authenticator decides.
#[tokio::test]
async fn removes_credentials_and_identity_headers() {
    let name = |text: &str| text.parse::<http::HeaderName>().unwrap();
    let configured = RequestHeaders {
        user_names: vec![name("x-user"), name("x-login")],
        groups: vec![name("x-group")],
        extra_prefixes: vec!["x-extra-".into()],
        ..RequestHeaders::default()
    };
    let authentication = authentication(Anonymous::Enabled).with_request_headers(configured);
    for (authorization, presents, expect) in [
        ("Basic x", Presents::Nothing, "system:anonymous"),
        ("Bearer alicetoken", Presents::Nothing, "alice"),
        ("Bearer alicetoken", Presents::Valid, "cert"),
        ("Bearer alicetoken", Presents::Proxy, "jane"),
    ] {
        let mut request = request(authorization, presents);
        for (header, value) in [
            ("x-user", "jane"),
            ("X-Login", "root"),
            ("X-GROUP", "dev"),
            ("x-extra-scopes", "all"),
            ("x-remote-user", "root"),
            ("x-remote-uid", "0"),
            ("x-remote-group", "system:masters"),
            ("x-remote-extra-scopes", "all"),
            ("upgrade", "websocket"),
            // A request with two token subprotocols has no valid token.
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.d3Jvbmc, v5.channel.k8s.io"),
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg"),
            ("accept", "*/*"),
        ] {
            request.headers.append(name(header), value.parse().unwrap());
        }
        let user = authentication.authenticate(&mut request).await.unwrap().unwrap();
        let mut left: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.sort();
        assert_eq!(user.name, expect);
        assert_eq!(
            left,
            ["accept: */*", "sec-websocket-protocol: v5.channel.k8s.io", "upgrade: websocket"],
            "{expect}"
        );
    }
}

#[tokio::test]
async fn warns_of_extra_space_before_token() {
    let mut request = request("Bearer  alicetoken", Presents::Nothing);
    assert!(
        names(&authentication(Anonymous::Enabled), &mut request)
            .await
            .unwrap()
            .unwrap()
            .starts_with("system:anonymous")
    );
    let mut headers = HeaderMap::new();
    request::warnings::write_to(request.extensions.get::<Warnings>().unwrap(), &mut headers);
    assert!(headers[header::WARNING].to_str().unwrap().contains("extra space before the bearer token"));
}

#[tokio::test]
async fn allows_anonymous_requests_to_configured_paths() {
    let to = |path: &str| authentication(Anonymous::Paths(vec![path.into()]));
    assert!(names(&to("/api"), &mut request("", Presents::Nothing)).await.unwrap().is_some());
    assert_eq!(names(&to("/ap"), &mut request("", Presents::Nothing)).await, Ok(None));
}

#[tokio::test]
async fn reviews_token_for_audiences() {
    let authentication = authentication(Anonymous::Disabled);
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
fn certificate_maps_to_user() {
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
