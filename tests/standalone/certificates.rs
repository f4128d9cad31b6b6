//! Certificate requests: approved for kubelets, and signed with the authority of the server.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use needs::needs;
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

use super::{eventually, start};
use crate::common::kubectl::Kubectl;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
const KUBELET: &str = "kubernetes.io/kube-apiserver-client-kubelet";

/// A certificate request of this subject.
fn request(name: &str, signer: &str, (organization, user): (&str, &str), key: &KeyPair) -> Value {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::OrganizationName, organization);
    params.distinguished_name.push(DnType::CommonName, user);
    let pem = params.serialize_request(key).unwrap().pem().unwrap();
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
        "spec": {
            "request": STANDARD.encode(pem), "signerName": signer, "expirationSeconds": 600,
            "usages": ["digital signature", "client auth"],
        },
    })
}

impl Kubectl {
    fn status(&self, request: &str) -> Value {
        self.json(&["get", "csr", request])["status"].clone()
    }

    /// Waits for the certificate of a request.
    fn certificate(&self, request: &str) -> Vec<u8> {
        let text = eventually("the certificate", || self.status(request)["certificate"].as_str().map(str::to_owned));
        STANDARD.decode(text).unwrap()
    }

    /// The user that a certificate of a request authenticates.
    fn user_of(&self, request: &str, key: &KeyPair) -> Value {
        let file = |name: &str| self.0.data().join(name).display().to_string();
        fs::write(file("user.crt"), self.certificate(request)).unwrap();
        fs::write(file("user.key"), key.serialize_pem()).unwrap();
        // The kubeconfig has the certificate of the administrator.
        let flags = [
            "--kubeconfig=/dev/null".to_owned(),
            format!("--server={}", self.0.url),
            format!("--certificate-authority={}", self.0.data().join("pki/ca.crt").display()),
            format!("--client-certificate={}", file("user.crt")),
            format!("--client-key={}", file("user.key")),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let user = self.json(&[&["auth", "whoami"], &flags[..]].concat())["status"]["userInfo"].clone();
        json!([user["username"], user["groups"]])
    }
}

#[needs(kubectl)]
#[test]
fn approved_request_gets_a_certificate_that_authenticates() {
    let folder = tempfile::tempdir().unwrap();
    let (kubectl, key) = (start(folder.path()), KeyPair::generate().unwrap());
    kubectl.apply(&request("jane", CLIENT, ("dev", "jane"), &key));
    kubectl.apply(&request("denied", CLIENT, ("dev", "jane"), &key));
    // Requests of users wait for a decision.
    kubectl.run(&["certificate", "deny", "denied"]);
    kubectl.run(&["certificate", "approve", "jane"]);
    assert_eq!(kubectl.user_of("jane", &key), json!(["jane", ["dev", "system:authenticated"]]));
    assert_eq!(kubectl.status("denied")["certificate"], Value::Null);
    // A server that starts again signs with the same authority.
    kubectl.0.kill();
    let kubectl = start(folder.path());
    assert_eq!(kubectl.user_of("jane", &key), json!(["jane", ["dev", "system:authenticated"]]));
}

#[needs(kubectl)]
#[test]
fn kubelets_with_the_right_get_client_certificates_without_a_decision() {
    let folder = tempfile::tempdir().unwrap();
    let (kubectl, key) = (start(folder.path()), KeyPair::generate().unwrap());
    let create = |name: &str, node: &str| {
        let object = request(name, KUBELET, ("system:nodes", node), &key).to_string();
        let flags = ["--as=system:node:a", "--as-group=system:nodes", "--as-group=system:authenticated"];
        kubectl.run_with(&[&["create", "-f", "-"], &flags[..]].concat(), &object);
    };
    for (name, role) in [
        ("create", "system:node-bootstrapper"),
        ("own", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"),
    ] {
        let role = format!("--clusterrole={role}");
        kubectl.run(&["create", "clusterrolebinding", name, "--group=system:nodes", &role]);
    }
    create("own", "system:node:a");
    create("other", "system:node:b");
    assert_eq!(kubectl.user_of("own", &key), json!(["system:node:a", ["system:nodes", "system:authenticated"]]));
    let condition = kubectl.status("own")["conditions"][0].clone();
    assert_eq!((&condition["type"], &condition["reason"]), (&json!("Approved"), &json!("AutoApproved")));
    assert_eq!(kubectl.status("other"), json!({}), "the right is for own certificates only");
}

#[needs(kubectl)]
#[test]
fn signer_refuses_requests_of_another_form() {
    let folder = tempfile::tempdir().unwrap();
    let (kubectl, key) = (start(folder.path()), KeyPair::generate().unwrap());
    kubectl.apply(&request("dev", KUBELET, ("dev", "system:node:a"), &key));
    kubectl.apply(&request("others", "example.com/signer", ("dev", "jane"), &key));
    kubectl.run(&["certificate", "approve", "dev", "others"]);
    let failed = eventually("the failure", || {
        let conditions = kubectl.status("dev")["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == "Failed")
    });
    assert_eq!(failed["reason"], "SignerValidationFailure");
    assert_eq!(failed["message"], "subject organization is not system:nodes");
    for name in ["dev", "others"] {
        assert_eq!(kubectl.status(name)["certificate"], Value::Null);
    }
}
