//! The flags of etcd 3.6, and what they do here.

/// A flag.
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) default: &'static str,
    /// Whether the flag stands for `true` without a value.
    pub(super) is_bool: bool,
    pub(super) effect: Effect,
    pub(super) help: &'static str,
}

/// What a flag does.
pub(super) enum Effect {
    /// It has the effect that it has in etcd.
    Works,
    /// Any value is accepted: it concerns other members, the log of a cluster, or etcd's files.
    None,
    /// Only values that turn the feature off are accepted, with the reason.
    Refused(&'static [&'static str], &'static str),
}

use Effect::{None as Nothing, Refused, Works};

const OFF: &[&str] = &["", "false", "0"];
const NO_DISCOVERY: &str = "this server is the only member and discovers no others";

const fn text(name: &'static str, default: &'static str, help: &'static str) -> Flag {
    Flag { name, default, is_bool: false, effect: Works, help }
}

const fn switch(name: &'static str, help: &'static str) -> Flag {
    Flag { name, default: "false", is_bool: true, effect: Works, help }
}

const fn unused(name: &'static str) -> Flag {
    Flag { name, default: "", is_bool: false, effect: Nothing, help: "" }
}

const fn unused_switch(name: &'static str) -> Flag {
    Flag { name, default: "", is_bool: true, effect: Nothing, help: "" }
}

const fn refused(name: &'static str, allowed: &'static [&'static str], reason: &'static str) -> Flag {
    Flag { name, default: "", is_bool: false, effect: Refused(allowed, reason), help: reason }
}

const fn refused_switch(name: &'static str, reason: &'static str) -> Flag {
    Flag { name, default: "false", is_bool: true, effect: Refused(OFF, reason), help: reason }
}

/// Names of etcd 3.5 and their names of 3.6.
pub(super) const RENAMED: &[(&str, &str)] =
    &[("experimental-watch-progress-notify-interval", "watch-progress-notify-interval")];

pub(super) static FLAGS: &[Flag] = &[
    // Member.
    text("name", "default", "Name of this member."),
    text("data-dir", "", "Path to the data directory; '${name}.etcd' by default. The store is in its folder 'store'."),
    text("listen-client-urls", "http://localhost:2379", "URLs to listen on for gRPC and HTTP of clients."),
    text("listen-client-http-urls", "", "URLs to listen on for HTTP only; gRPC stays on --listen-client-urls."),
    text("listen-metrics-urls", "", "URLs to listen on for /metrics and /health besides."),
    text("advertise-client-urls", "", "Client URLs that this member advertises; --listen-client-urls by default."),
    text(
        "initial-advertise-peer-urls",
        "http://localhost:2380",
        "Peer URLs, from which the member's number is computed.",
    ),
    text("initial-cluster", "", "The members of the cluster: this one."),
    text("initial-cluster-token", "etcd-cluster", "Name of the cluster, from which its number is computed."),
    text("heartbeat-interval", "100", "Milliseconds; with --election-timeout, the shortest lifetime of a lease."),
    text("election-timeout", "1000", "Milliseconds; leases live at least one and a half times as long."),
    text("quota-backend-bytes", "0", "Maximum size of the database; 0 is 2 GiB, a negative number is no limit."),
    text("max-txn-ops", "128", "Maximum number of operations of a transaction."),
    text("max-request-bytes", "1572864", "Maximum size of a request that writes."),
    text("max-concurrent-streams", "4294967295", "Maximum number of streams of a connection."),
    text("grpc-keepalive-interval", "2h", "Interval of pings to clients; 0 disables them."),
    text("grpc-keepalive-timeout", "20s", "How long a client may take to answer a ping."),
    switch("socket-reuse-port", "Let several processes listen at the same address."),
    text("watch-progress-notify-interval", "10m", "Interval of progress notifications of watches."),
    text("auto-compaction-mode", "periodic", "'periodic' or 'revision'."),
    text("auto-compaction-retention", "0", "What a compaction keeps: a duration, hours, or a number of revisions."),
    switch("unsafe-no-fsync", "Acknowledge writes before they are durable."),
    // Security.
    text("cert-file", "", "Certificate of the server."),
    text("key-file", "", "Key of the certificate."),
    switch("client-cert-auth", "Require client certificates."),
    text("trusted-ca-file", "", "Authorities of client certificates. With them, every client needs a certificate."),
    text("cipher-suites", "", "Cipher suites of TLS 1.2, by Go's names."),
    text("tls-min-version", "TLS1.2", "'TLS1.2' or 'TLS1.3'."),
    text("tls-max-version", "", "'TLS1.2' or 'TLS1.3'."),
    // Logging.
    text("logger", "zap", "Only 'zap', which stands for this server's logs."),
    text("log-level", "info", "'debug', 'info', 'warn', 'error', 'panic' or 'fatal'."),
    text("log-outputs", "default", "'default', 'stderr' or 'stdout'."),
    // What this server does not have.
    refused("config-file", &[""], "pass flags, or variables of the environment"),
    refused_switch("auto-tls", "pass --cert-file and --key-file"),
    refused("client-crl-file", &[""], "lists of revoked certificates are not read"),
    refused("client-cert-allowed-hostname", &[""], "names in client certificates are not compared"),
    refused("host-whitelist", &["", "*"], "host names of requests are not compared"),
    refused_switch("enable-pprof", "profiles are not served"),
    refused_switch("enable-log-rotation", "logs go to standard error or standard output"),
    refused_switch("enable-distributed-tracing", "requests are not traced"),
    refused_switch("experimental-enable-distributed-tracing", "requests are not traced"),
    refused("discovery", &[""], NO_DISCOVERY),
    refused("discovery-srv", &[""], NO_DISCOVERY),
    refused("discovery-token", &[""], NO_DISCOVERY),
    refused("discovery-endpoints", &[""], NO_DISCOVERY),
    // Other members, the log of a cluster, etcd's files.
    unused("listen-peer-urls"),
    unused("initial-cluster-state"),
    unused_switch("initial-election-tick-advance"),
    unused_switch("force-new-cluster"),
    unused_switch("strict-reconfig-check"),
    unused_switch("pre-vote"),
    unused("max-learners"),
    unused("raft-read-timeout"),
    unused("raft-write-timeout"),
    unused("wal-dir"),
    unused("max-wals"),
    unused("max-snapshots"),
    unused("snapshot-count"),
    unused("snapshot-catchup-entries"),
    unused("experimental-snapshot-catchup-entries"),
    unused("backend-bbolt-freelist-type"),
    unused("backend-batch-interval"),
    unused("backend-batch-limit"),
    unused_switch("memory-mlock"),
    unused_switch("experimental-memory-mlock"),
    unused("bootstrap-defrag-threshold-megabytes"),
    unused("experimental-bootstrap-defrag-threshold-megabytes"),
    unused("compaction-batch-limit"),
    unused("experimental-compaction-batch-limit"),
    unused("compaction-sleep-interval"),
    unused("experimental-compaction-sleep-interval"),
    unused("corrupt-check-time"),
    unused("experimental-corrupt-check-time"),
    unused_switch("experimental-initial-corrupt-check"),
    unused("compact-hash-check-time"),
    unused("experimental-compact-hash-check-time"),
    unused_switch("experimental-compact-hash-check-enabled"),
    unused_switch("experimental-enable-lease-checkpoint"),
    unused_switch("experimental-enable-lease-checkpoint-persist"),
    unused_switch("experimental-txn-mode-write-with-shared-buffer"),
    unused_switch("experimental-stop-grpc-service-on-defrag"),
    unused("downgrade-check-time"),
    unused("experimental-downgrade-check-time"),
    unused("feature-gates"),
    unused("v2-deprecation"),
    unused("grpc-keepalive-min-time"),
    unused_switch("socket-reuse-address"),
    unused_switch("enable-grpc-gateway"),
    unused("cors"),
    unused("client-cert-file"),
    unused("client-key-file"),
    unused("peer-cert-file"),
    unused("peer-key-file"),
    unused_switch("peer-client-cert-auth"),
    unused("peer-client-cert-file"),
    unused("peer-client-key-file"),
    unused("peer-trusted-ca-file"),
    unused("peer-cert-allowed-cn"),
    unused("peer-cert-allowed-hostname"),
    unused_switch("peer-auto-tls"),
    unused("peer-crl-file"),
    unused_switch("peer-skip-client-san-verification"),
    unused_switch("experimental-peer-skip-client-san-verification"),
    unused("self-signed-cert-validity"),
    unused("auth-token"),
    unused("auth-token-ttl"),
    unused("bcrypt-cost"),
    unused("metrics"),
    unused("log-format"),
    unused("log-rotation-config-json"),
    unused("warning-unary-request-duration"),
    unused("experimental-warning-unary-request-duration"),
    unused("warning-apply-duration"),
    unused("experimental-warning-apply-duration"),
    unused("distributed-tracing-address"),
    unused("experimental-distributed-tracing-address"),
    unused("distributed-tracing-service-name"),
    unused("experimental-distributed-tracing-service-name"),
    unused("distributed-tracing-instance-id"),
    unused("experimental-distributed-tracing-instance-id"),
    unused("distributed-tracing-sampling-rate"),
    unused("experimental-distributed-tracing-sampling-rate"),
    unused("discovery-dial-timeout"),
    unused("discovery-request-timeout"),
    unused("discovery-keepalive-time"),
    unused("discovery-keepalive-timeout"),
    unused_switch("discovery-insecure-transport"),
    unused_switch("discovery-insecure-skip-tls-verify"),
    unused("discovery-cert"),
    unused("discovery-key"),
    unused("discovery-cacert"),
    unused("discovery-user"),
    unused("discovery-password"),
    unused("discovery-fallback"),
    unused("discovery-proxy"),
    unused("discovery-srv-name"),
];

/// Returns a flag by its name, or by its name in etcd 3.5.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    let name = RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
    FLAGS.iter().find(|flag| flag.name == name)
}
