//! Publishes the client CA and the front-proxy CA in a config map for aggregated servers (upstream:
//! `clusterauthenticationtrust.Controller`).

use std::collections::BTreeMap;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::ConfigMap;
use machinery::status::Status;
use options::RequestHeaders;
use serde_json::Value;

const CONFIG_MAPS: GroupVersionResource = ("", "v1", "configmaps");
const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const CLIENT_CA: &str = "client-ca-file";
const PROXY_CA: &str = "requestheader-client-ca-file";
/// The end of a PEM certificate.
const PEM_END: &str = "-----END CERTIFICATE-----";

/// The CA bundles that a server trusts, in PEM.
pub struct TrustedCas<'a> {
    /// Those of client certificates.
    pub clients: &'a [u8],
    /// Those of front proxies, with the headers that the proxies set.
    pub front_proxies: Option<(&'a [u8], &'a RequestHeaders)>,
}

/// Adds this server's CAs and header names to the config map. Entries of other servers are kept.
pub async fn publish(trusted: TrustedCas<'_>, loopback: &Loopback) -> Result<(), Status> {
    if !loopback.serves(CONFIG_MAPS) {
        return Ok(());
    }
    let own_entries = own_entries(trusted);
    loop {
        let stored = loopback.get::<ConfigMap>(CONFIG_MAPS, NAMESPACE, NAME).await?;
        let written = match stored {
            None => {
                let mut map = ConfigMap { data: own_entries.clone(), ..ConfigMap::default() };
                map.metadata.name = NAME.into();
                map.metadata.namespace = NAMESPACE.into();
                loopback.create(CONFIG_MAPS, map).await
            }
            Some(mut map) => {
                let combined = combined(&map.data, &own_entries);
                if combined == map.data {
                    return Ok(());
                }
                map.data = combined;
                loopback.update(CONFIG_MAPS, map).await
            }
        };
        match written {
            // Another server was faster.
            Err(status) if status.code == 409 => {}
            Err(status) => return Err(status),
            Ok(_) => return Ok(()),
        }
    }
}

fn own_entries(trusted: TrustedCas<'_>) -> BTreeMap<String, String> {
    let text = |pem: &[u8]| String::from_utf8_lossy(pem).into_owned();
    let mut data = BTreeMap::from([(CLIENT_CA.to_owned(), text(trusted.clients))]);
    if let Some((ca, headers)) = trusted.front_proxies {
        data.insert(PROXY_CA.to_owned(), text(ca));
        data.extend(lists(headers).map(|(key, names)| (key.to_owned(), Value::from(names).to_string())));
    }
    data
}

fn lists(headers: &RequestHeaders) -> [(&'static str, Vec<String>); 5] {
    let names = |names: &[http::HeaderName]| names.iter().map(|name| name.as_str().to_owned()).collect();
    [
        ("requestheader-username-headers", names(&headers.user_names)),
        ("requestheader-uid-headers", names(&headers.uids)),
        ("requestheader-group-headers", names(&headers.groups)),
        ("requestheader-extra-headers-prefix", headers.extra_prefixes.clone()),
        ("requestheader-allowed-names", headers.allowed_names.clone()),
    ]
}

/// Merges certificates and names into the stored ones (`combinedClusterAuthenticationInfo`).
fn combined(stored: &BTreeMap<String, String>, own_entries: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut all = stored.clone();
    for (key, value) in own_entries {
        let before = all.remove(key).unwrap_or_default();
        let both = match key.as_str() {
            CLIENT_CA | PROXY_CA => certificates(&before, value),
            _ => names(&before, value),
        };
        all.insert(key.clone(), both);
    }
    all
}

fn certificates(before: &str, own_entries: &str) -> String {
    let mut all = before.to_owned();
    for certificate in own_entries.split_inclusive(PEM_END).map(str::trim).filter(|text| text.ends_with(PEM_END)) {
        if !all.contains(certificate) {
            all.push_str(certificate);
            all.push('\n');
        }
    }
    all
}

fn names(before: &str, own_entries: &str) -> String {
    let parse = |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap_or_default();
    let mut all = parse(before);
    for name in parse(own_entries) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Value::from(all).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn keeps_entries_of_other_servers() {
        let pem = |name: &str| format!("-----BEGIN CERTIFICATE-----\n{name}\n{PEM_END}\n");
        let (a, b) = (pem("a"), pem("b"));
        let both = [a.as_str(), b.as_str()].concat();
        for (key, stored, own_entries, expect) in [
            (CLIENT_CA, "", a.as_str(), a.as_str()),
            (CLIENT_CA, &a, &a, &a),
            (CLIENT_CA, &a, &both, &both),
            ("requestheader-group-headers", r#"["x-group"]"#, r#"["x-group","x-a"]"#, r#"["x-group","x-a"]"#),
            ("requestheader-allowed-names", "", "[]", "[]"),
        ] {
            let combined = combined(&data(&[(key, stored), ("other", "kept")]), &data(&[(key, own_entries)]));
            assert_eq!(combined, data(&[(key, expect), ("other", "kept")]));
        }
    }
}
