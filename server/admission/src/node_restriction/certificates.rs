//! Certificate requests of the kubelet and of pods on its node.

use endpoints::Operation;
use generated::certificates::v1::CertificateSigningRequest;
use generated::certificates::v1beta1::{PodCertificateRequest, PodCertificateRequestSpec};
use generated::core::v1::{Node, Pod, ServiceAccount};
use machinery::reflect::Struct;
use machinery::scalar::go_text::quote;
use machinery::status::Status;
use std::sync::Arc;
use x509::CertificateRequest;

use super::lookup::{ListerResource, NODES, PODS, SERVICE_ACCOUNTS, missing};
use super::pods::MIRROR;
use super::{Lookup, NodeRestrictionDenial, Outcome, Request};

/// The signers of kubelet serving and client certificates.
const KUBELET_SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

impl<L: Lookup> Request<'_, L> {
    /// Requires the node's name as the subject of a kubelet certificate.
    pub(super) fn signing_request(&self) -> Outcome {
        if self.gates.insecure_signing_requests || self.attributes.operation != Operation::Create {
            return Ok(());
        }
        let request: &CertificateSigningRequest = self.new_object()?;
        if !KUBELET_SIGNERS.contains(&request.spec.signer_name.as_str()) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&request.spec.request);
        let block = x509::blocks(&text).next().filter(|block| block.label == "CERTIFICATE REQUEST");
        let Some(block) = block else {
            return Err("unable to parse csr: PEM block type must be CERTIFICATE REQUEST".into());
        };
        let Ok(parsed) = CertificateRequest::parse(&block.bytes) else {
            return Err("unable to parse csr: asn1: syntax error".into());
        };
        let expected = format!("system:node:{}", self.node);
        if parsed.common_name == expected {
            return Ok(());
        }
        Err(format!("can only create a node CSR with CN={expected}").into())
    }

    /// Requires that the pod, the service account, and the node exist, belong together, and belong
    /// to the kubelet.
    pub(super) async fn pod_certificate_request(&self) -> Outcome {
        if !self.gates.pod_certificates {
            return Err("PodCertificateRequest feature gate is disabled".into());
        }
        if self.attributes.operation != Operation::Create {
            return Err(format!("unexpected operation {}", self.operation().trim_matches('"')).into());
        }
        if !self.attributes.subresource.is_empty() {
            return Err(format!("unexpected subresource {}", self.attributes.subresource).into());
        }
        let request: &PodCertificateRequest = self.new_object()?;
        let spec = &request.spec;
        let pod = format!("{}/{}", self.attributes.namespace, spec.pod_name);
        self.node_of_request(spec, &pod).await?;
        self.pod_of_request(spec, &pod).await?;
        self.account_of_request(spec, &pod).await
    }

    async fn node_of_request(&self, spec: &PodCertificateRequestSpec, pod: &str) -> Outcome {
        let (named, me) = (quote(&spec.node_name), quote(self.node));
        if spec.node_name != self.node {
            let why = format!("PodCertificateRequest.Spec.NodeName={named}, which is not the requesting node {me}");
            return Err(why.into());
        }
        let what = format!("node {named}");
        let node = self.named::<Node>(NODES, ("", &spec.node_name), &what).await?;
        if node.metadata.uid != spec.node_uid {
            let (pod, sent, uid) = (quote(pod), quote(&spec.node_uid), quote(&node.metadata.uid));
            return Err(retriable(format!(
                "PodCertificateRequest for pod {pod} names node UID {sent}, inconsistent with the running node ({uid})"
            )));
        }
        Ok(())
    }

    async fn pod_of_request(&self, spec: &PodCertificateRequestSpec, name: &str) -> Outcome {
        let shown = quote(name);
        let key = (self.attributes.namespace.as_str(), spec.pod_name.as_str());
        let pod = self.named::<Pod>(PODS, key, &format!("pod {shown}")).await?;
        if spec.pod_uid != pod.metadata.uid {
            let (sent, uid) = (quote(&spec.pod_uid), quote(&pod.metadata.uid));
            return Err(retriable(format!(
                "PodCertificateRequest for pod {shown} contains pod UID ({sent}) which differs from running pod {uid}"
            )));
        }
        if pod.spec.node_name != spec.node_name {
            let node = quote(&spec.node_name);
            let why = format!("pod {shown} is not running on node {node} named in the PodCertificateRequest");
            return Err(why.into());
        }
        if pod.metadata.annotations.contains_key(MIRROR) {
            return Err(format!("pod {shown} is a mirror pod").into());
        }
        if spec.service_account_name != pod.spec.service_account_name {
            let (sent, account) = (quote(&spec.service_account_name), quote(&pod.spec.service_account_name));
            return Err(format!(
                "PodCertificateRequest for pod {shown} contains serviceAccountName ({sent}) that differs from running pod ({account})"
            )
            .into());
        }
        Ok(())
    }

    async fn account_of_request(&self, spec: &PodCertificateRequestSpec, pod: &str) -> Outcome {
        let (namespace, name) = (&self.attributes.namespace, &spec.service_account_name);
        let what = format!("service account {}", quote(&format!("{namespace}/{name}")));
        let account = self.named::<ServiceAccount>(SERVICE_ACCOUNTS, (namespace, name), &what).await?;
        if spec.service_account_uid != account.metadata.uid {
            let (pod, sent, uid) = (quote(pod), quote(&spec.service_account_uid), quote(&account.metadata.uid));
            return Err(retriable(format!(
                "PodCertificateRequest for pod {pod} names service account UID {sent}, which differs from the running service account ({uid})"
            )));
        }
        Ok(())
    }

    /// Returns an object that the request names. A missing object may appear later, so the error is
    /// retriable.
    async fn named<T: Struct>(
        &self,
        resource: ListerResource,
        key: (&str, &str),
        what: &str,
    ) -> Result<Arc<T>, NodeRestrictionDenial> {
        let retrieving = |why: &str| format!("while retrieving {what} named in the PodCertificateRequest: {why}");
        match self.lookup.find(resource, key).await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(retriable(retrieving(&missing(resource, key.1).message))),
            Err(status) => Err(retrieving(&status.message).into()),
        }
    }
}

/// 500 without a reason, as upstream, because the server's cache may be stale.
fn retriable(message: String) -> NodeRestrictionDenial {
    NodeRestrictionDenial::Status(Status::new(500, "", message))
}
