//! The egress selector (`--egress-selector-config-file`; upstream:
//! `server/egressselector/config.go`).

use std::collections::HashSet;

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use serde::Deserialize;
use webhook::{DialMetrics, Proxy, Route, Trust};

use crate::configuration;
use crate::error::{EgressError, FileError, FlagError};
use crate::values::FlagValues;

const GROUP: &str = "apiserver.k8s.io";
const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];
const KIND: &str = "EgressSelectorConfiguration";
/// The field path of errors, as upstream.
const AT: &str = "service.connection";

/// The document, which is the same in both versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EgressSelectorConfiguration {
    #[serde(default)]
    egress_selections: Vec<EgressSelection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EgressSelection {
    /// `controlplane`, `etcd` or `cluster`.
    #[serde(default)]
    name: String,
    #[serde(default)]
    connection: Connection,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Connection {
    /// `Direct`, `HTTPConnect` or `GRPC`.
    #[serde(default)]
    proxy_protocol: String,
    transport: Option<Transport>,
}

/// The transport to a proxy: one of these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transport {
    tcp: Option<TCPTransport>,
    uds: Option<UDSTransport>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TCPTransport {
    /// `https://proxy:8131`, or `http://`.
    #[serde(default)]
    url: String,
    tls_config: Option<TLSConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UDSTransport {
    /// The path of the socket.
    #[serde(default)]
    uds_name: String,
}

/// Files of keys and certificates, in PEM.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TLSConfig {
    /// CAs of the proxy; the system's CAs when empty.
    #[serde(default)]
    ca_bundle: String,
    #[serde(default)]
    client_key: String,
    #[serde(default)]
    client_cert: String,
    /// The server name of the proxy's certificate, when it differs from the address.
    #[serde(default)]
    tls_server_name: String,
}

/// The routes to servers of each kind.
#[derive(Clone, Debug, Default)]
pub struct EgressOptions {
    /// Webhooks and issuers that are configured by URL.
    pub control_plane: Route,
    /// Nodes, pods and services.
    pub cluster: Route,
    /// The metrics of their proxies.
    pub dials: DialMetrics,
}

impl FlagValues {
    pub(super) fn egress(&self) -> Result<EgressOptions, FlagError> {
        let Some(path) = self.path("egress-selector-config-file") else { return Ok(EgressOptions::default()) };
        match std::fs::read(&path) {
            Ok(text) => read(&text).map_err(|source| FlagError::Egress { path, source }),
            Err(source) => Err(FlagError::EgressFile { path, source }),
        }
    }
}

fn read(text: &[u8]) -> Result<EgressOptions, EgressError> {
    let read: EgressSelectorConfiguration = configuration::parse_small(text, GROUP, &VERSIONS, KIND)?;
    let selections = read.egress_selections;
    let mut errors: Vec<FieldError> = selections.iter().filter_map(|each| check(&each.connection).err()).collect();
    errors.extend(names(&selections));
    if !errors.is_empty() {
        return Err(EgressError::Fields(errors));
    }
    let mut options = EgressOptions::default();
    for EgressSelection { name, connection } in &selections {
        let route = route(connection, &options.dials)?;
        match name.to_lowercase().as_str() {
            "controlplane" => options.control_plane = route,
            "cluster" => options.cluster = route,
            _ if route.is_direct() => {}
            _ => return Err(EgressError::EtcdProxy),
        }
    }
    Ok(options)
}

fn check(connection: &Connection) -> Result<(), FieldError> {
    let (at, transport) = (Path::new(AT), connection.transport.as_ref());
    match connection.proxy_protocol.as_str() {
        "Direct" if transport.is_none() => Ok(()),
        "Direct" => {
            let why = "config must be absent for direct connect";
            Err(FieldError::invalid(&at.child("transport"), "direct", why))
        }
        "HTTPConnect" => check_connect(&at, transport),
        "GRPC" => check_grpc(&at, transport),
        other => Err(FieldError::not_supported(&at.child("protocol"), other, &["Direct", "HTTPConnect", "GRPC"])),
    }
}

fn check_connect(at: &Path<'_>, transport: Option<&Transport>) -> Result<(), FieldError> {
    let Some(transport) = transport else {
        return Err(FieldError::required(&at.child("transport"), "transport must be set for HTTPConnect"));
    };
    match (&transport.tcp, &transport.uds) {
        (Some(_), Some(_)) => {
            Err(FieldError::invalid(&at.child("tcp"), BadValue::Omitted, "TCP and UDS cannot both be set"))
        }
        (None, None) => Err(FieldError::required(&at.child("tcp"), "One of TCP or UDS must be set")),
        (Some(tcp), None) => check_tcp(at, tcp),
        (None, Some(uds)) => check_socket(at, &uds.uds_name),
    }
}

fn check_grpc(at: &Path<'_>, transport: Option<&Transport>) -> Result<(), FieldError> {
    let Some(transport) = transport else {
        return Err(FieldError::required(&at.child("transport"), "transport must be set for GRPC"));
    };
    match &transport.uds {
        None => Err(FieldError::required(&at.child("uds"), "UDS must be set with GRPC")),
        Some(uds) => check_socket(at, &uds.uds_name),
    }
}

fn check_socket(at: &Path<'_>, name: &str) -> Result<(), FieldError> {
    match name {
        "" => Err(FieldError::invalid(&at.child("udsName"), "nil", "must be present for UDS connections")),
        _ => Ok(()),
    }
}

fn check_tcp(at: &Path<'_>, tcp: &TCPTransport) -> Result<(), FieldError> {
    let config = at.child("tlsConfig");
    match (tcp.url.split_once("://"), &tcp.tls_config) {
        (Some(("http", _)), None) => Ok(()),
        (Some(("http", _)), Some(_)) => {
            Err(FieldError::invalid(&config, "nil", "config must not be present when using HTTP"))
        }
        (Some(("https", _)), None) => Err(FieldError::required(&config, "TLSConfig must be present when using HTTPS")),
        (Some(("https", _)), Some(tls)) => check_tls(&config, tls),
        _ => {
            let why = "supported connection protocols are http:// and https://";
            Err(FieldError::invalid(&at.child("url"), &tcp.url, why))
        }
    }
}

fn check_tls(at: &Path<'_>, tls: &TLSConfig) -> Result<(), FieldError> {
    let file = |field: &'static str, path: &str, absent: &'static str, missing: &'static str| match path {
        "" if absent.is_empty() => Ok(()),
        "" => Err(FieldError::invalid(&at.child(field), "nil", absent)),
        path if std::path::Path::new(path).exists() => Ok(()),
        path => Err(FieldError::invalid(&at.child(field), path, missing)),
    };
    file("caBundle", &tls.ca_bundle, "", "TLS config ca bundle does not exist")?;
    file("clientCert", &tls.client_cert, "Using TLS requires clientCert", "TLS client cert does not exist")?;
    file("clientKey", &tls.client_key, "Using TLS requires requires clientKey", "TLS client key does not exist")
}

/// The errors of duplicate or unknown names.
fn names(selections: &[EgressSelection]) -> Vec<FieldError> {
    let (path, mut seen) = (Path::new(AT), HashSet::new());
    let error = |(at, selection): (usize, &EgressSelection)| {
        let name = selection.name.to_lowercase();
        if !seen.insert(name.clone()) {
            return Some(FieldError::duplicate(&path.index(at), name));
        }
        let known = ["cluster", "controlplane", "etcd"];
        (!known.contains(&name.as_str())).then(|| FieldError::not_supported(&path, name, &known))
    };
    selections.iter().enumerate().filter_map(error).collect()
}

/// The route of a validated connection.
fn route(connection: &Connection, dials: &DialMetrics) -> Result<Route, EgressError> {
    let Some(transport) = &connection.transport else { return Ok(Route::DIRECT) };
    let proxy = match (&transport.tcp, &transport.uds) {
        (Some(tcp), _) => {
            let uri = tcp.url.parse().map_err(|source| EgressError::ProxyUrl { url: tcp.url.clone(), source })?;
            let trust = tcp.tls_config.as_ref().map(trust).transpose()?;
            Proxy::Tcp(uri, Box::new(trust.unwrap_or_default()))
        }
        (None, Some(uds)) if connection.proxy_protocol == "GRPC" => Proxy::Konnectivity(uds.uds_name.clone().into()),
        (None, Some(uds)) => Proxy::Unix(uds.uds_name.clone().into()),
        (None, None) => return Ok(Route::DIRECT),
    };
    Ok(Route::through(proxy, dials)?)
}

fn trust(tls: &TLSConfig) -> Result<Trust, FileError> {
    let read = |path: &str| std::fs::read(path).map_err(FileError::of(path));
    Ok(Trust {
        authorities: if tls.ca_bundle.is_empty() { Vec::new() } else { read(&tls.ca_bundle)? },
        identity: Some((read(&tls.client_cert)?, read(&tls.client_key)?)),
        server_name: Some(tls.tls_server_name.clone()).filter(|name| !name.is_empty()),
        ..Trust::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selections: &str) -> Result<EgressOptions, EgressError> {
        let head = "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n";
        super::read(format!("{head}{selections}").as_bytes())
    }

    #[test]
    fn parses_routes() {
        let options = check(
            "- {name: Cluster, connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: /run/proxy}}}}\n\
             - {name: controlplane, connection: {proxyProtocol: GRPC, transport: {uds: {udsName: /run/konnectivity}}}}\n\
             - {name: etcd, connection: {proxyProtocol: Direct}}",
        );
        let options = options.unwrap();
        let through = |proxy| Route::through(proxy, &DialMetrics::default()).unwrap();
        assert_eq!(options.cluster, through(Proxy::Unix("/run/proxy".into())));
        assert_eq!(options.control_plane, through(Proxy::Konnectivity("/run/konnectivity".into())));
        let tcp =
            "- {name: cluster, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: http://proxy:1}}}}";
        let proxy = Proxy::Tcp("http://proxy:1".parse().unwrap(), Box::default());
        assert_eq!(check(tcp).unwrap().cluster, through(proxy));
    }

    #[test]
    fn errors_are_upstreams() {
        let of = |connection: &str| format!("- {{name: cluster, connection: {{{connection}}}}}");
        for (selections, expect) in [
            (
                of("proxyProtocol: SOCKS"),
                "service.connection.protocol: Unsupported value: \"SOCKS\": supported values: \"Direct\", \"HTTPConnect\", \"GRPC\"",
            ),
            (
                of("proxyProtocol: HTTPConnect"),
                "service.connection.transport: Required value: transport must be set for HTTPConnect",
            ),
            (
                of("proxyProtocol: HTTPConnect, transport: {tcp: {url: 'ftp://x'}}"),
                "service.connection.url: Invalid value: \"ftp://x\": supported connection protocols are http:// and https://",
            ),
            (
                of("proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://x'}}"),
                "service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS",
            ),
            (
                of("proxyProtocol: GRPC, transport: {uds: {udsName: ''}}"),
                "service.connection.udsName: Invalid value: \"nil\": must be present for UDS connections",
            ),
            (
                "- {name: nodes, connection: {proxyProtocol: Direct}}\n- {name: nodes, connection: {proxyProtocol: Direct}}"
                    .into(),
                "[service.connection: Unsupported value: \"nodes\": supported values: \"cluster\", \"controlplane\", \"etcd\", service.connection[1]: Duplicate value: \"nodes\"]",
            ),
            (
                "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: /x}}}}".into(),
                "a proxy to etcd is not supported yet: see docs/status.md",
            ),
        ] {
            assert_eq!(check(&selections).unwrap_err().to_string(), expect);
        }
    }
}
