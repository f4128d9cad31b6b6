use crate::meta::{Condition, ObjectMeta};

mod v1beta1 {
    /// Request by a kubelet for a certificate that one of its pods will use.
    #[kind(
        plural = "podcertificaterequests",
        scope = Namespaced,
        unconditional_update = false,
        generation = false,
        gate = PodCertificateRequest
    )]
    #[versions(v1beta1(introduced = "1.35"))]
    #[subresource(status, resets(spec))]
    #[column("PodName", spec.podName)]
    #[column("ServiceAccountName", spec.serviceAccountName)]
    #[column("NodeName", spec.nodeName)]
    #[column("SignerName", spec.signerName)]
    #[column("State", by_hand = pod_certificate_request_state, reads(status.conditions), "Whether the request is pending, denied or failed, or a certificate was issued.")]
    #[column("UnverifiedUserAnnotations", labels(spec.unverifiedUserAnnotations))]
    #[selectable(spec.nodeName)]
    #[selectable(spec.podName)]
    #[selectable(spec.signerName)]
    #[strategy(update = update_pod_request)]
    #[condition(issued, some(status.conditions, type = Issued, status = True))]
    #[condition(denied, some(status.conditions, type = Denied, status = True))]
    #[condition(failed, some(status.conditions, type = Failed, status = True))]
    #[condition(closed, any(issued, denied, failed))]
    #[check(spec, below, when(create))]
    #[check(spec, immutable, when(subresource = ""))]
    #[check(self, below = status, when(subresource = status, no_error))]
    #[check(status, by_hand = validate_outcomes, when(part(status)))]
    #[check(status.conditions, below, when(part(status)))]
    #[check(self, below = change, when(part(status), no_error))]
    #[check(
        status,
        invalid(omitted, "immutable after PodCertificateRequest is issued, denied, or failed"),
        when(part(change), was(closed), changed(status))
    )]
    #[check(
        status,
        invalid(
            omitted,
            "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
        ),
        when(
            part(change),
            not(was(closed)),
            any(denied, failed),
            not(none(status.certificateChain, status.notBefore, status.beginRefreshAt, status.notAfter))
        )
    )]
    #[check(
        self,
        field(status.certificateChain, max_bytes = 102400),
        valid,
        by_hand = validate_issued,
        when(part(change), not(was(closed)), not(denied), not(failed), issued)
    )]
    #[check(
        status,
        invalid(omitted, "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\""),
        when(part(change), not(was(closed)), not(closed), changed(status))
    )]
    struct PodCertificateRequest {
        /// Name, namespace, labels and annotations of the pod certificate request.
        #[field(1)]
        metadata: ObjectMeta,

        /// Pod identity, public key and signer for the certificate.
        #[field(2, required)]
        spec: PodCertificateRequestSpec,

        /// Issued chain with its validity times, or the refusal.
        #[field(3)]
        status: PodCertificateRequestStatus,
    }

    /// Pod that needs a certificate, its public key, and the signer.
    #[condition(of_kubernetes, matches(signerName, r"^([^/]*\.)?kubernetes\.io(/|$)"))]
    #[condition(by_request, set(stubPKCS10Request), none(pkixPublicKey, proofOfPossession))]
    #[condition(by_key, unset(stubPKCS10Request), set(pkixPublicKey), set(proofOfPossession))]
    #[check(signerName, format = signer_name)]
    #[check(
        unverifiedUserAnnotations,
        keys(format = caseless_domain_prefixed_key),
        max_total = 262144
    )]
    #[check(podName, name = dns1123_subdomain)]
    #[check(podUID, invalid = "must not be empty", when(unset(podUID)))]
    #[check(podUID, max_bytes = 128)]
    #[check(serviceAccountName, name = dns1123_subdomain)]
    #[check(serviceAccountUID, invalid = "must not be empty", when(unset(serviceAccountUID)))]
    #[check(serviceAccountUID, max_bytes = 128)]
    #[check(nodeName, name = dns1123_subdomain)]
    #[check(nodeUID, invalid = "must not be empty", when(unset(nodeUID)))]
    #[check(nodeUID, max_bytes = 128)]
    #[check(maxExpirationSeconds, required = "must be set")]
    #[check(
        maxExpirationSeconds,
        range(3600, 86400, "must be in the range [3600, 86400]"),
        when(of_kubernetes)
    )]
    #[check(
        maxExpirationSeconds,
        range(3600, 7862400, "must be in the range [3600, 7862400]"),
        when(not(of_kubernetes))
    )]
    #[check(
        self,
        field(stubPKCS10Request, max_bytes = 10240),
        valid,
        by_hand = validate_stub_request,
        when(set(maxExpirationSeconds), by_request)
    )]
    #[check(
        self,
        field(pkixPublicKey, max_bytes = 10240),
        valid,
        field(proofOfPossession, max_bytes = 10240),
        valid,
        by_hand = validate_key,
        when(set(maxExpirationSeconds), by_key)
    )]
    #[check(
        self,
        invalid(
            omitted,
            "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
        ),
        when(set(maxExpirationSeconds), not(by_request), not(by_key))
    )]
    struct PodCertificateRequestSpec {
        /// Signer to issue the certificate, e.g. `example.com/my-signer`.
        #[field(1, required)]
        signer_name: String,

        /// Pod that will receive the certificate.
        #[field(2, required)]
        pod_name: String,

        /// Exact instance of the receiving pod.
        #[field(3, required, go = "types.UID")]
        pod_uid: String,

        /// Service account under which the pod runs.
        #[field(4, required)]
        service_account_name: String,

        /// Exact instance of the pod's service account.
        #[field(5, required, go = "types.UID")]
        service_account_uid: String,

        /// Node on which the pod is placed.
        #[field(6, required, go = "types.NodeName")]
        node_name: String,

        /// Exact instance of the pod's node.
        #[field(7, required, go = "types.UID")]
        node_uid: String,

        /// Longest lifetime in seconds, 3600 to 7862400 (91 days); default 86400.
        #[field(8, default = 86400)]
        max_expiration_seconds: Option<i32>,

        /// DER-encoded PKIX public key to certify; RSA, ECDSA and ED25519 are supported.
        #[field(9, always, deprecated)]
        pkix_public_key: Bytes,

        /// Signature over the pod UID showing the requester has the private key.
        #[field(10, always, deprecated)]
        proof_of_possession: Bytes,

        /// DER bytes of a kubelet-built PKCS#10 CSR from which signers take the key.
        #[field(12, json = "stubPKCS10Request", required)]
        stub_pkcs10_request: Bytes,

        /// Free-form hints from the pod's author; signers must not trust them blindly.
        #[field(11)]
        unverified_user_annotations: Map<String, String>,
    }

    /// Result of a pod certificate request.
    struct PodCertificateRequestStatus {
        /// Outcome so far: `Issued`, `Denied` or `Failed`.
        #[field(1, list = map(type), patch = merge)]
        conditions: Vec<Condition>,

        /// Issued PEM certificates, leaf first followed by intermediates.
        #[field(2)]
        certificate_chain: String,

        /// Start of validity, copied from the leaf certificate.
        #[field(4)]
        not_before: Option<Time>,

        /// When kubelet should start requesting a replacement.
        #[field(5)]
        begin_refresh_at: Option<Time>,

        /// End of validity, copied from the leaf certificate.
        #[field(6)]
        not_after: Option<Time>,
    }
}
