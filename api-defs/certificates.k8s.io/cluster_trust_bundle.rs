use crate::meta::ObjectMeta;

mod v1beta1 {
    /// Publishes root certificates cluster-wide for pods to mount.
    #[kind(
        plural = "clustertrustbundles",
        scope = Cluster,
        unconditional_update = false,
        name = any,
        gate = ClusterTrustBundle,
        metadata = whole
    )]
    #[versions(v1beta1(introduced = "1.33", deprecated = "1.37"), v1alpha1(introduced = "1.26", deprecated = "1.34"))]
    #[column("SignerName", spec.signerName or "<none>")]
    #[selectable(spec.signerName)]
    #[validate(by_hand = validate_cluster_trust_bundle)]
    struct ClusterTrustBundle {
        /// Bundle identity; signer-linked names start with the signer name, slashes as colons.
        #[field(1)]
        metadata: ObjectMeta,

        /// Trust anchors and the signer they belong to.
        #[field(2, required)]
        spec: ClusterTrustBundleSpec,
    }

    /// Contents of a trust bundle.
    struct ClusterTrustBundleSpec {
        /// Signer the roots belong to; unset means not tied to any.
        #[field(1)]
        signer_name: String,

        /// PEM root certificates without duplicates; treat their order as random.
        #[field(2, required)]
        trust_bundle: String,
    }
}
