//! The parts of a kubeconfig that a connection needs.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use machinery::json::Issues;
use serde_json::Value;

use crate::error::{Error, Result};

/// A server and the client's credentials.
pub struct Access {
    pub host: String,
    pub port: u16,
    /// PEM; without it the server's certificate is not verified.
    pub authority: Option<Vec<u8>>,
    /// Certificate and key in PEM.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    pub token: Option<String>,
}

/// Reads the current context of a kubeconfig.
pub fn read(path: &Path) -> Result<Access> {
    let missing = |what: &str| Error::Kubeconfig(format!("{} has no {what}", path.display()));
    let text = std::fs::read(path)?;
    let config = machinery::yaml::to_value(&text, &mut Issues::ignore())
        .map_err(|e| Error::Kubeconfig(format!("{}: {e}", path.display())))?;
    let context = named(&config, "contexts", config["current-context"].as_str()).ok_or_else(|| missing("context"))?;
    let cluster =
        named(&config, "clusters", context["context"]["cluster"].as_str()).ok_or_else(|| missing("cluster"))?;
    let user = named(&config, "users", context["context"]["user"].as_str()).map_or(&Value::Null, |user| &user["user"]);
    let cluster = &cluster["cluster"];
    let server = cluster["server"].as_str().and_then(|server| server.strip_prefix("https://"));
    let server = server.ok_or_else(|| missing("https server"))?.trim_end_matches('/');
    let (host, port) = server.rsplit_once(':').unwrap_or((server, "443"));
    let folder = path.parent().unwrap_or(Path::new("."));
    let insecure = cluster["insecure-skip-tls-verify"].as_bool() == Some(true);
    let certificate = data(user, "client-certificate", folder)?.zip(data(user, "client-key", folder)?);
    Ok(Access {
        host: host.trim_matches(['[', ']']).into(),
        port: port.parse().map_err(|_| missing("port that is a number"))?,
        authority: data(cluster, "certificate-authority", folder)?.filter(|_| !insecure),
        certificate,
        token: user["token"].as_str().map(str::to_string),
    })
}

fn named<'c>(config: &'c Value, list: &str, name: Option<&str>) -> Option<&'c Value> {
    config[list].as_array()?.iter().find(|item| item["name"].as_str() == name)
}

/// Returns inline data (`<name>-data`) or the content of a file.
fn data(of: &Value, name: &str, folder: &Path) -> Result<Option<Vec<u8>>> {
    if let Some(text) = of[format!("{name}-data")].as_str() {
        return STANDARD.decode(text).map(Some).map_err(|e| Error::Kubeconfig(format!("has a bad {name}-data: {e}")));
    }
    Ok(of[name].as_str().map(|file| std::fs::read(folder.join(file))).transpose()?)
}
