//! The content of certificate requests, and the rules of the signers for it (upstream:
//! `pkg/apis/certificates/helpers.go`).

use generated::certificates::v1::CertificateSigningRequest;
use machinery::status::Status;
use request::user::{NODE_USER_PREFIX, NODES_GROUP};
use x509::{AlternativeNames, CertificateRequest};

/// Clients of the API server.
const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
/// Kubelets as clients of the API server.
pub const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// Kubelets as servers.
const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
/// No rules, as before there were names of signers.
const LEGACY: &str = "kubernetes.io/legacy-unknown";

const DIGITAL_SIGNATURE: &str = "digital signature";
const KEY_ENCIPHERMENT: &str = "key encipherment";
const CLIENT_AUTH: &str = "client auth";
const SERVER_AUTH: &str = "server auth";

/// Parses the request in an object (`ParseCSR`).
///
/// # Errors
/// The object has no request, or a malformed one.
pub fn parse(object: &CertificateSigningRequest) -> Result<CertificateRequest, Status> {
    let text = String::from_utf8_lossy(object.spec.request.as_ref());
    let block = x509::blocks(&text).next().filter(|block| block.label == "CERTIFICATE REQUEST");
    let block = block.ok_or_else(|| Status::internal("PEM block type must be CERTIFICATE REQUEST"))?;
    let malformed = |_| Status::internal(format!("unable to parse csr {:?}", object.metadata.name));
    let request = CertificateRequest::parse(&block.bytes).map_err(malformed)?;
    match request.names {
        Err(why) => Err(malformed(why)),
        Ok(_) => Ok(request),
    }
}

/// Why a signer refuses a request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("subject organization is not system:nodes")]
    Organization,
    #[error("subject common name does not begin with system:node:")]
    CommonName,
    #[error("DNS or IP subjectAltName is required")]
    NamesRequired,
    #[error("{kind} subjectAltNames are not allowed")]
    Names { kind: &'static str },
    #[error("usages did not match [{}]", .usages.join(" "))]
    Usages { usages: [&'static str; 3] },
    #[error("invalid usage for client certificate: {usage}")]
    ClientUsage { usage: String },
    #[error("missing required usage for client certificate: {CLIENT_AUTH}")]
    NoClientUsage,
}

/// Checks a request by the rules of its signer. Returns false for signers of others.
///
/// # Errors
/// The signer refuses the request.
pub fn is_for_built_in_signer(
    object: &CertificateSigningRequest,
    request: &CertificateRequest,
) -> Result<bool, Refusal> {
    let usages = &object.spec.usages;
    match object.spec.signer_name.as_str() {
        CLIENT => check_client(usages)?,
        KUBELET_CLIENT => check_kubelet_client(request, usages)?,
        KUBELET_SERVING => check_kubelet_serving(request, usages)?,
        LEGACY => {}
        _ => return Ok(false),
    }
    Ok(true)
}

/// `validAPIServerClientUsages`
fn check_client(usages: &[String]) -> Result<(), Refusal> {
    let is_known = |usage: &&String| [DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, CLIENT_AUTH].contains(&usage.as_str());
    if let Some(usage) = usages.iter().find(|usage| !is_known(usage)) {
        return Err(Refusal::ClientUsage { usage: usage.clone() });
    }
    if usages.iter().any(|usage| usage == CLIENT_AUTH) { Ok(()) } else { Err(Refusal::NoClientUsage) }
}

/// `ValidateKubeletClientCSR`
///
/// # Errors
/// The request is not one of a kubelet for its client certificate.
pub fn check_kubelet_client(request: &CertificateRequest, usages: &[String]) -> Result<(), Refusal> {
    check_organization(request)?;
    let none = AlternativeNames::default();
    let names = request.names.as_ref().unwrap_or(&none);
    for (is_absent, kind) in [
        (names.dns.is_empty(), "DNS"),
        (names.emails.is_empty(), "Email"),
        (names.ips.is_empty(), "IP"),
        (names.uris.is_empty(), "URI"),
    ] {
        if !is_absent {
            return Err(Refusal::Names { kind });
        }
    }
    check_common_name(request)?;
    check_usages(usages, [CLIENT_AUTH, DIGITAL_SIGNATURE, KEY_ENCIPHERMENT])
}

/// `ValidateKubeletServingCSR`
fn check_kubelet_serving(request: &CertificateRequest, usages: &[String]) -> Result<(), Refusal> {
    check_organization(request)?;
    let none = AlternativeNames::default();
    let names = request.names.as_ref().unwrap_or(&none);
    if names.dns.is_empty() && names.ips.is_empty() {
        return Err(Refusal::NamesRequired);
    }
    for (is_absent, kind) in [(names.emails.is_empty(), "Email"), (names.uris.is_empty(), "URI")] {
        if !is_absent {
            return Err(Refusal::Names { kind });
        }
    }
    check_usages(usages, [DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, SERVER_AUTH])?;
    check_common_name(request)
}

fn check_organization(request: &CertificateRequest) -> Result<(), Refusal> {
    if request.organizations == [NODES_GROUP] { Ok(()) } else { Err(Refusal::Organization) }
}

fn check_common_name(request: &CertificateRequest) -> Result<(), Refusal> {
    if request.common_name.starts_with(NODE_USER_PREFIX) { Ok(()) } else { Err(Refusal::CommonName) }
}

/// Keys that are not RSA keys need no key encipherment.
fn check_usages(usages: &[String], required: [&'static str; 3]) -> Result<(), Refusal> {
    let has_only_required = usages.iter().all(|usage| required.contains(&usage.as_str()));
    let has_all = required.iter().all(|name| *name == KEY_ENCIPHERMENT || usages.iter().any(|usage| usage == name));
    if has_only_required && has_all { Ok(()) } else { Err(Refusal::Usages { usages: required }) }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    /// The verdict on a request with this subject and these names and usages.
    fn check(signer: &str, organization: &str, name: &str, names: &[&str], usages: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::OrganizationName, organization);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap();
        let mut object = CertificateSigningRequest::default();
        object.spec.request = pem.into_bytes().into();
        object.spec.signer_name = signer.into();
        object.spec.usages = usages.iter().map(|usage| (*usage).to_owned()).collect();
        match is_for_built_in_signer(&object, &parse(&object).unwrap()) {
            Ok(is_for) => is_for.to_string(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn kubelets_get_client_certificates_of_their_form_only() {
        let usages = [DIGITAL_SIGNATURE, CLIENT_AUTH];
        let verdict = |organization, name, names: &[&str], usages: &[&str]| {
            check(KUBELET_CLIENT, organization, name, names, usages)
        };
        assert_eq!(verdict("system:nodes", "system:node:a", &[], &usages), "true");
        let with_rsa = [KEY_ENCIPHERMENT, DIGITAL_SIGNATURE, CLIENT_AUTH];
        assert_eq!(verdict("system:nodes", "system:node:a", &[], &with_rsa), "true");
        let rejected = |organization, name, names: &[&str], usages: &[&str], why| {
            assert_eq!(verdict(organization, name, names, usages), why);
        };
        rejected("dev", "system:node:a", &[], &usages, "subject organization is not system:nodes");
        rejected("system:nodes", "jane", &[], &usages, "subject common name does not begin with system:node:");
        rejected("system:nodes", "system:node:a", &["a"], &usages, "DNS subjectAltNames are not allowed");
        rejected("system:nodes", "system:node:a", &["10.0.0.1"], &usages, "IP subjectAltNames are not allowed");
        let why = "usages did not match [client auth digital signature key encipherment]";
        rejected("system:nodes", "system:node:a", &[], &[CLIENT_AUTH], why);
        rejected("system:nodes", "system:node:a", &[], &[DIGITAL_SIGNATURE, CLIENT_AUTH, SERVER_AUTH], why);
    }

    #[test]
    fn kubelets_get_serving_certificates_with_names_only() {
        let usages = [DIGITAL_SIGNATURE, SERVER_AUTH];
        let verdict = |names| check(KUBELET_SERVING, "system:nodes", "system:node:a", names, &usages);
        assert_eq!(verdict(&["a"]), "true");
        assert_eq!(verdict(&["10.0.0.1"]), "true");
        assert_eq!(verdict(&[]), "DNS or IP subjectAltName is required");
        let client = check(KUBELET_SERVING, "system:nodes", "system:node:a", &["a"], &[DIGITAL_SIGNATURE, CLIENT_AUTH]);
        assert_eq!(client, "usages did not match [digital signature key encipherment server auth]");
    }

    #[test]
    fn clients_need_client_auth_and_signers_of_others_are_skipped() {
        assert_eq!(check(CLIENT, "dev", "jane", &["a"], &[CLIENT_AUTH]), "true");
        let none = check(CLIENT, "dev", "jane", &[], &[DIGITAL_SIGNATURE]);
        assert_eq!(none, "missing required usage for client certificate: client auth");
        let server = check(CLIENT, "dev", "jane", &[], &[CLIENT_AUTH, SERVER_AUTH]);
        assert_eq!(server, "invalid usage for client certificate: server auth");
        assert_eq!(check(LEGACY, "dev", "jane", &[], &["cert sign"]), "true");
        assert_eq!(check("example.com/signer", "dev", "jane", &[], &[CLIENT_AUTH]), "false");
    }
}
