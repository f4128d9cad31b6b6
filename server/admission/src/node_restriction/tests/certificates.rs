//! Certificate signing requests and pod certificate requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use generated::certificates::v1::CertificateSigningRequest;
use generated::certificates::v1beta1::PodCertificateRequest;
use generated::core::v1::ServiceAccount;
use rcgen::{CertificateParams, DnType, DnValue, KeyPair};

use super::super::lookup::SERVICE_ACCOUNTS;
use super::*;

const SERVING: &str = "kubernetes.io/kubelet-serving";
const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";

fn signing_request(pem: &str, signer: &str) -> Value {
    json!({"metadata": {"name": "csr"}, "spec": {"request": STANDARD.encode(pem), "signerName": signer, "usages": []}})
}

/// Encodes a PEM certificate request with these common names, in order.
fn pem(names: Vec<DnValue>) -> String {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for name in names {
        params.distinguished_name.push(DnType::CommonName, name);
    }
    params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap()
}

#[test]
fn signing_requests() {
    let text = |name: &str| DnValue::Utf8String(name.into());
    let bmp = |name: &str| DnValue::BmpString(name.try_into().unwrap());
    let (mine, other) = (pem(vec![text("system:node:mynode")]), pem(vec![text("system:node:othernode")]));
    let empty = "-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----";
    let name = "can only create a node CSR with CN=system:node:mynode";
    for (pem, signer, expected) in [
        (mine.as_str(), SERVING, "ok"),
        (&mine, CLIENT, "ok"),
        (&pem(vec![bmp("system:node:mynode")]), CLIENT, "ok"),
        (&pem(vec![text("some-other-identity")]), "kubernetes.io/kube-apiserver-client", "ok"),
        (&other, "example.com/signer", "ok"),
        (&other, SERVING, name),
        (&other, CLIENT, name),
        (&pem(vec![text("system:node:mynode-2")]), CLIENT, name),
        (&pem(vec![text("some-other-identity")]), CLIENT, name),
        (&pem(vec![bmp("system:node:othernode")]), CLIENT, name),
        (&pem(vec![]), CLIENT, name),
        (empty, SERVING, "unable to parse csr"),
        ("", SERVING, "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"),
        ("no pem", CLIENT, "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"),
        (&mine.replace("CERTIFICATE REQUEST", "CERTIFICATE"), CLIENT, "PEM block type must be CERTIFICATE REQUEST"),
        (&format!("{other}{mine}"), CLIENT, name),
    ] {
        let (world, object) = (World::default(), signing_request(pem, signer));
        let case = || Case::new(&world, Create, "certificates.k8s.io:certificatesigningrequests", "", "csr");
        case().object::<CertificateSigningRequest>(&object).check(expected);
        let mut insecure = case().object::<CertificateSigningRequest>(&object);
        insecure.gates.insecure_signing_requests = true;
        insecure.check("ok");
        let mut update = case().object::<CertificateSigningRequest>(&object);
        update.operation = Update;
        update.check("ok");
    }
}

#[test]
fn pod_certificate_requests() {
    let mut world = World::with_pods();
    world.add::<ServiceAccount>(
        SERVICE_ACCOUNTS,
        json!({"metadata": {"namespace": "ns", "name": "sa", "uid": "sa-uid"}}),
    );
    for (name, node, account) in [("pod", "mynode", "sa"), ("far", "othernode", "sa"), ("lost", "mynode", "nosa")] {
        let mut document = pod("my", node, false);
        document["metadata"]["name"] = json!(name);
        document["spec"]["serviceAccountName"] = json!(account);
        world.add::<Pod>(PODS, document);
    }
    let valid = json!({
        "podName": "pod", "podUID": "pod-uid", "serviceAccountName": "sa", "serviceAccountUID": "sa-uid",
        "nodeName": "mynode", "nodeUID": "mynode-uid", "signerName": "example.com/foo",
    });
    let with = |changes: &[(&str, &str)]| {
        let mut spec = valid.clone();
        changes.iter().for_each(|(field, value)| spec[*field] = json!(value));
        json!({"metadata": {"namespace": "ns", "name": "foo"}, "spec": spec})
    };
    let case = |object: &Value| {
        let mut case = Case::new(&world, Create, "certificates.k8s.io:podcertificaterequests", "ns", "foo");
        case.gates.pod_certificates = true;
        case.object::<PodCertificateRequest>(object)
    };
    let forbidden = "403 podcertificaterequests.certificates.k8s.io \"foo\" is forbidden: ";
    for (object, code, message) in [
        (with(&[]), "", "ok"),
        (
            with(&[("nodeName", "othernode")]),
            forbidden,
            "PodCertificateRequest.Spec.NodeName=\"othernode\", which is not the requesting node \"mynode\"",
        ),
        (
            with(&[("nodeUID", "wrong")]),
            "500 ",
            "PodCertificateRequest for pod \"ns/pod\" names node UID \"wrong\", inconsistent with the running node (\"mynode-uid\")",
        ),
        (
            with(&[("podName", "nopod")]),
            "500 ",
            "while retrieving pod \"ns/nopod\" named in the PodCertificateRequest: pod \"nopod\" not found",
        ),
        (
            with(&[("podUID", "wrong")]),
            "500 ",
            "PodCertificateRequest for pod \"ns/pod\" contains pod UID (\"wrong\") which differs from running pod \"pod-uid\"",
        ),
        (
            with(&[("podName", "far")]),
            forbidden,
            "pod \"ns/far\" is not running on node \"mynode\" named in the PodCertificateRequest",
        ),
        (with(&[("podName", "mymirrorpod")]), forbidden, "pod \"ns/mymirrorpod\" is a mirror pod"),
        (
            with(&[("serviceAccountName", "other")]),
            forbidden,
            "PodCertificateRequest for pod \"ns/pod\" contains serviceAccountName (\"other\") that differs from running pod (\"sa\")",
        ),
        (
            with(&[("podName", "lost"), ("serviceAccountName", "nosa")]),
            "500 ",
            "while retrieving service account \"ns/nosa\" named in the PodCertificateRequest: serviceaccount \"nosa\" not found",
        ),
        (
            with(&[("serviceAccountUID", "wrong")]),
            "500 ",
            "PodCertificateRequest for pod \"ns/pod\" names service account UID \"wrong\", which differs from the running service account (\"sa-uid\")",
        ),
    ] {
        assert_eq!(case(&object).answer(), format!("{code}{message}"));
    }
    let mut disabled = case(&with(&[]));
    disabled.gates.pod_certificates = false;
    disabled.check("PodCertificateRequest feature gate is disabled");
    let mut status = case(&with(&[]));
    status.resource = "certificates.k8s.io:podcertificaterequests/status";
    status.check("unexpected subresource status");
    for operation in [Update, Delete] {
        let mut case = case(&with(&[]));
        case.operation = operation;
        case.check("unexpected operation");
    }
    let nodeless = World::default();
    let mut case = Case::new(&nodeless, Create, "certificates.k8s.io:podcertificaterequests", "ns", "foo");
    case.gates.pod_certificates = true;
    let answer = case.object::<PodCertificateRequest>(&with(&[])).answer();
    assert_eq!(
        answer,
        "500 while retrieving node \"mynode\" named in the PodCertificateRequest: node \"mynode\" not found"
    );
}
