//! The values of flags.

use std::{path::PathBuf, time::Duration};

use rustls::{CipherSuite, crypto::ring::ALL_CIPHER_SUITES};
use tracing::Level;

use super::{
    parse::Values,
    table::{Effect, FLAGS, find},
};
use crate::{Address, Compaction, Error, Limits, Options, TlsOptions};

/// The quota of 0.
const DEFAULT_QUOTA: u64 = 2 << 30;

/// Reads the options from the flags that were given.
pub(super) fn options(given: &Values) -> Result<Options, Error> {
    let read = Reader { given };
    read.check_refused()?;
    read.one_of("logger", &["zap"])?;
    let name = read.text("name").to_owned();
    read.check_cluster(&name)?;
    let data_dir = match read.text("data-dir") {
        "" => PathBuf::from(format!("{name}.etcd")),
        given => given.into(),
    };
    let listen = read.addresses("listen-client-urls")?;
    let client_urls = match read.list("advertise-client-urls") {
        urls if urls.is_empty() => read.list("listen-client-urls"),
        urls => urls,
    };
    let (listen_http, listen_metrics) =
        (read.addresses("listen-client-http-urls")?, read.addresses("listen-metrics-urls")?);
    let tls = read.tls()?;
    if tls.is_none()
        && let Some(flag) = read.first_https()
    {
        return Err(read.invalid(flag, "https needs --cert-file and --key-file"));
    }
    Ok(Options {
        name,
        data_dir,
        listen,
        listen_http,
        listen_metrics,
        client_urls,
        peer_urls: read.list("initial-advertise-peer-urls"),
        token: read.text("initial-cluster-token").to_owned(),
        tls,
        durable: !read.switch("unsafe-no-fsync")?,
        quota: read.quota()?,
        compaction: read.compaction()?,
        limits: read.limits()?,
        reuse_port: read.switch("socket-reuse-port")?,
        log_level: read.log_level()?,
        log_to_stdout: read.one_of("log-outputs", &["default", "stderr", "stdout"])? == "stdout",
    })
}

/// Reads flags with their defaults.
struct Reader<'a> {
    given: &'a Values,
}

impl Reader<'_> {
    fn text(&self, name: &str) -> &str {
        let default = || find(name).map_or("", |flag| flag.default);
        self.given.get(name).map_or_else(default, String::as_str)
    }

    fn invalid(&self, name: &str, reason: impl Into<String>) -> Error {
        Error::InvalidValue { name: name.to_owned(), value: self.text(name).to_owned(), reason: reason.into() }
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.text(name).split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn one_of(&self, name: &str, allowed: &[&str]) -> Result<&str, Error> {
        let value = self.text(name);
        if allowed.contains(&value) { Ok(value) } else { Err(self.invalid(name, format!("not one of {allowed:?}"))) }
    }

    fn switch(&self, name: &str) -> Result<bool, Error> {
        match self.text(name) {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(self.invalid(name, "not a truth value")),
        }
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Result<N, Error> {
        self.text(name).parse().map_err(|_| self.invalid(name, "not a number in range"))
    }

    fn duration(&self, name: &str) -> Result<Duration, Error> {
        duration(self.text(name)).ok_or_else(|| self.invalid(name, "not a duration, such as 5m"))
    }

    fn check_refused(&self) -> Result<(), Error> {
        for flag in FLAGS {
            if let Effect::Refused(allowed, reason) = flag.effect
                && let Some(value) = self.given.get(flag.name)
                && !allowed.contains(&value.as_str())
            {
                return Err(Error::Unsupported { name: flag.name.to_owned(), value: value.clone(), reason });
            }
        }
        Ok(())
    }

    /// The initial cluster may name this member only.
    fn check_cluster(&self, name: &str) -> Result<(), Error> {
        let members = self.list("initial-cluster");
        match members.iter().all(|member| member.split_once('=').is_some_and(|(member, _)| member == name)) {
            true => Ok(()),
            false => Err(Error::Unsupported {
                name: "initial-cluster".into(),
                value: self.text("initial-cluster").to_owned(),
                reason: "this server is the only member of its cluster; name it as --name does",
            }),
        }
    }

    fn addresses(&self, name: &str) -> Result<Vec<Address>, Error> {
        let parse = |url: &String| {
            let (tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
                (Some(rest), _) => (false, rest),
                (_, Some(rest)) => (true, rest),
                _ => return Err(self.invalid(name, "the scheme is not http or https")),
            };
            let (host, port) = rest.rsplit_once(':').ok_or_else(|| self.invalid(name, "it has no port"))?;
            let port = port.parse().map_err(|_| self.invalid(name, "the port is not a number in range"))?;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            Ok(Address { tls, host: if host.is_empty() { "0.0.0.0" } else { host }.to_owned(), port })
        };
        self.list(name).iter().map(parse).collect()
    }

    fn first_https(&self) -> Option<&'static str> {
        ["listen-client-urls", "listen-client-http-urls", "listen-metrics-urls"]
            .into_iter()
            .find(|name| self.list(name).iter().any(|url| url.starts_with("https://")))
    }

    fn tls(&self) -> Result<Option<TlsOptions>, Error> {
        let file = |name| Some(self.text(name)).filter(|file| !file.is_empty()).map(PathBuf::from);
        let client_ca = file("trusted-ca-file");
        if self.switch("client-cert-auth")? && client_ca.is_none() {
            return Err(self.invalid("client-cert-auth", "it needs --trusted-ca-file"));
        }
        let (certificate, key) = match (file("cert-file"), file("key-file")) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(self.invalid("cert-file", "it needs --key-file")),
            (None, Some(_)) => return Err(self.invalid("key-file", "it needs --cert-file")),
        };
        let tls12 = self.one_of("tls-min-version", &["TLS1.2", "TLS1.3"])? == "TLS1.2";
        let tls13 = self.one_of("tls-max-version", &["", "TLS1.2", "TLS1.3"])? != "TLS1.2";
        if !tls12 && !tls13 {
            return Err(self.invalid("tls-max-version", "it is below --tls-min-version"));
        }
        Ok(Some(TlsOptions { certificate, key, client_ca, cipher_suites: self.cipher_suites()?, tls12, tls13 }))
    }

    fn cipher_suites(&self) -> Result<Vec<CipherSuite>, Error> {
        let suite = |name: &String| {
            // Go leaves out the hash of these names.
            let full = name.trim_end_matches("_SHA256").to_owned();
            let known = ALL_CIPHER_SUITES.iter().map(|suite| suite.suite());
            let same = |suite: &CipherSuite| {
                let known = format!("{suite:?}").replace("TLS13_", "TLS_");
                known == *name || (full.ends_with("POLY1305") && known == format!("{full}_SHA256"))
            };
            known
                .into_iter()
                .find(same)
                .ok_or_else(|| self.invalid("cipher-suites", format!("{name} is not supported")))
        };
        self.list("cipher-suites").iter().map(suite).collect()
    }

    fn quota(&self) -> Result<Option<u64>, Error> {
        Ok(match self.number::<i64>("quota-backend-bytes")? {
            0 => Some(DEFAULT_QUOTA),
            bytes => u64::try_from(bytes).ok(),
        })
    }

    fn compaction(&self) -> Result<Option<Compaction>, Error> {
        let (mode, name) =
            (self.one_of("auto-compaction-mode", &["periodic", "revision"])?, "auto-compaction-retention");
        let number = self.number::<u64>(name);
        Ok(match (mode, number) {
            (_, Ok(0)) => None,
            ("periodic", Ok(hours)) => Some(Compaction::Periodic(Duration::from_secs(hours.saturating_mul(3600)))),
            ("periodic", Err(_)) => match self.duration(name)? {
                Duration::ZERO => None,
                period => Some(Compaction::Periodic(period)),
            },
            (_, revisions) => Some(Compaction::Revisions(revisions?)),
        })
    }

    fn limits(&self) -> Result<Limits, Error> {
        let keepalive = self.duration("grpc-keepalive-interval")?;
        Ok(Limits {
            max_txn_ops: self.number("max-txn-ops")?,
            max_request_bytes: self.number("max-request-bytes")?,
            max_concurrent_streams: self.number("max-concurrent-streams")?,
            // As in etcd, not more often than ten times a second.
            progress_interval: self.duration("watch-progress-notify-interval")?.max(Duration::from_millis(100)),
            keepalive_interval: Some(keepalive).filter(|interval| !interval.is_zero()),
            keepalive_timeout: self.duration("grpc-keepalive-timeout")?,
            min_lease_ttl: self.min_lease_ttl()?,
        })
    }

    /// One and a half election timeouts, in whole heartbeats and rounded up to seconds.
    fn min_lease_ttl(&self) -> Result<u64, Error> {
        let (heartbeat, election): (u64, u64) = (self.number("heartbeat-interval")?, self.number("election-timeout")?);
        if heartbeat == 0 || election < 5 * heartbeat || election > 50_000 {
            let reason = "it must be at least five times --heartbeat-interval, and at most 50000";
            return Err(self.invalid("election-timeout", reason));
        }
        Ok((election / heartbeat * 3 / 2 * heartbeat).div_ceil(1000))
    }

    fn log_level(&self) -> Result<Level, Error> {
        match self.text("log-level") {
            "debug" => Ok(Level::DEBUG),
            "info" => Ok(Level::INFO),
            "warn" => Ok(Level::WARN),
            "error" | "panic" | "fatal" | "dpanic" => Ok(Level::ERROR),
            _ => Err(self.invalid("log-level", "not one of debug, info, warn, error, panic, fatal")),
        }
    }
}

/// Parses a duration of Go, such as `1h30m` or `300ms`.
fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        let seconds = match &rest[digits..unit_end] {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        rest = &rest[unit_end..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_of_go() {
        for (text, expected) in [
            ("5m", Some(Duration::from_secs(300))),
            ("1h30m", Some(Duration::from_secs(5400))),
            ("300ms", Some(Duration::from_millis(300))),
            ("1.5s", Some(Duration::from_millis(1500))),
            ("0", Some(Duration::ZERO)),
            ("", None),
            ("5", None),
            ("5x", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }
}
