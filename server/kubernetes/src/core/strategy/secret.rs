//! Strategy of secrets.

use machinery::hooks::WriteContext;

use generated::core::v1::{Secret, secret_type};

/// Keeps the stored type if the request has none.
pub fn update_secret(_: &WriteContext, new: &mut Secret, old: &Secret) {
    if new.r#type.is_empty() {
        new.r#type.clone_from(&old.r#type);
    }
}

/// Warns if a certificate or its key is not PEM (Go's `tls.X509KeyPair`, as far as the format is
/// concerned).
pub fn warn_secret(_: &WriteContext, secret: &Secret, _: Option<&Secret>) -> Vec<String> {
    if secret.r#type != secret_type::TLS {
        return Vec::new();
    }
    let blocks = |key: &str| secret.data.get(key).map_or_else(Vec::new, |text| block_types(text));
    certificate_error(&blocks("tls.crt")).or_else(|| key_error(&blocks("tls.key"))).into_iter().collect()
}

fn certificate_error(types: &[String]) -> Option<String> {
    match types {
        _ if types.iter().any(|t| t == "CERTIFICATE") => None,
        [] => Some("tls: failed to find any PEM data in certificate input".into()),
        [only] if only.ends_with("PRIVATE KEY") => Some(
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have \
             been switched"
                .into(),
        ),
        skipped => Some(format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following \
             types: [{}]",
            skipped.join(" ")
        )),
    }
}

fn key_error(types: &[String]) -> Option<String> {
    match types {
        _ if types.iter().any(|t| t.ends_with("PRIVATE KEY")) => None,
        [] => Some("tls: failed to find any PEM data in key input".into()),
        [only] if only == "CERTIFICATE" => {
            Some("tls: found a certificate rather than a key in the PEM for the private key".into())
        }
        skipped => Some(format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the \
             following types: [{}]",
            skipped.join(" ")
        )),
    }
}

/// The types of all complete PEM blocks.
fn block_types(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let begins = text.lines().filter_map(|line| line.trim_end().strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
    begins.filter(|name| text.contains(&format!("-----END {name}-----"))).map(str::to_owned).collect()
}
