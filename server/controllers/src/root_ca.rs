//! The config map `kube-root-ca.crt` of each namespace, with which pods verify this server (upstream:
//! `rootcacertpublisher.Publisher`).

use std::collections::BTreeMap;

use endpoints::GroupVersionResource;
use generated::core::v1::ConfigMap;
use machinery::status::Status;

use crate::context::Context;
use crate::per_namespace::{self, Wanted};

const FILE: &str = "ca.crt";
const DESCRIPTION: &str = "kubernetes.io/description";
/// Upstream's text, which is part of the object.
const TEXT: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

struct RootCertificate {
    pem: String,
}

impl RootCertificate {
    fn data(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(FILE.to_owned(), self.pem.clone())])
    }
}

impl Wanted for RootCertificate {
    type Object = ConfigMap;
    const RESOURCE: GroupVersionResource = ("", "v1", "configmaps");
    const NAME: &'static str = "kube-root-ca.crt";
    const QUEUE: &'static str = "root_ca_cert_publisher";

    fn object(&self) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Self::NAME.into();
        map.metadata.annotations.insert(DESCRIPTION.into(), TEXT.into());
        map.data = self.data().into_iter().collect();
        map
    }

    fn set_namespace(map: &mut ConfigMap, namespace: &str) {
        map.metadata.namespace = namespace.into();
    }

    fn correct(&self, map: &mut ConfigMap) -> bool {
        let described = map.metadata.annotations.get(DESCRIPTION).is_some_and(|text| text == TEXT);
        let data = self.data().into_iter().collect();
        let differs = map.data != data || !described;
        if differs {
            map.data = data;
            map.metadata.annotations.insert(DESCRIPTION.into(), TEXT.into());
        }
        differs
    }
}

/// Keeps the certificate in each namespace.
///
/// # Errors
/// The server lacks config maps, or its certificate is no text.
pub async fn run(context: Context) -> Result<(), Status> {
    let pem = String::from_utf8(context.server.environment.server_ca.clone()).map_err(Status::internal)?;
    per_namespace::run("root-ca-certificate-publisher-controller", RootCertificate { pem }, context).await
}
