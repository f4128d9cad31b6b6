//! The headers in which a front proxy names users (`--requestheader-*`).

use http::HeaderName;

/// The headers that name users, and the names of the trusted front proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeaders {
    pub user_names: Vec<HeaderName>,
    pub uids: Vec<HeaderName>,
    pub groups: Vec<HeaderName>,
    /// Prefixes of extra headers, in lower case as header names are.
    pub extra_prefixes: Vec<String>,
    /// Common names of trusted proxies; if empty, every certificate that the authority signed is trusted.
    pub allowed_names: Vec<String>,
}

impl RequestHeaders {
    /// The conventional headers (as kubeadm configures them), for the proxy with this common name.
    pub fn standard(proxy: &str) -> Self {
        let header = |name: &'static str| vec![HeaderName::from_static(name)];
        RequestHeaders {
            user_names: header("x-remote-user"),
            uids: header("x-remote-uid"),
            groups: header("x-remote-group"),
            extra_prefixes: vec!["x-remote-extra-".into()],
            allowed_names: vec![proxy.to_owned()],
        }
    }
}
