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
    #[check(self, by_hand = validate_bundle_name)]
    #[check(spec.signerName, optional, format = signer_name)]
    #[check(
        spec,
        field(trustBundle, max_bytes = 1048576),
        valid,
        by_hand = validate_anchors,
        when(changed(spec.trustBundle))
    )]
    #[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
    #[check(spec.signerName, immutable)]
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
