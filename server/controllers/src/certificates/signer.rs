//! Signs approved requests for the signers `kubernetes.io/*` (upstream:
//! `signer.CSRSigningController`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use endpoints::Loopback;
use generated::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
    request_condition_type,
};
use generated::core::v1::condition_status;
use machinery::status::Status;
use options::Options;
use registry::Clock;
use x509::{CertificateProfile, CertificateRequest, Issuer};

use super::request::{is_for_built_in_signer, parse};
use super::{REQUESTS, decision, for_each_open, usages};
use crate::context::Context;
use crate::queue::Next;

/// Certificates are valid from before their issue, in seconds, for clients whose clocks are behind.
const BACKDATE: i64 = 5 * 60;
/// The shortest validity, in seconds.
const SHORTEST: i64 = 10 * 60;
/// The end of certificates with a shorter validity is not moved by [`BACKDATE`], in seconds.
const SHORT: i64 = 8 * 60 * 60;
/// Characters in a line of PEM.
const LINE: usize = 64;

/// Signs approved requests. Without an authority for clients, nothing is signed.
///
/// # Errors
/// The server lacks certificate requests, or the files of the authority are unusable.
pub async fn run(context: Context) -> Result<(), Status> {
    let options = &context.server.environment.options;
    let Some(files) = files(options) else {
        tracing::info!(
            "no certificates are signed: --cluster-signing-cert-file and --cluster-signing-key-file are empty"
        );
        return Ok(());
    };
    let signer = Signer {
        loopback: context.loopback(),
        clock: context.server.environment.backend.clock.clone(),
        files,
        longest: options.controllers.signing.duration,
    };
    signer.issuer().await?;
    let handle = |request| signer.handle(request);
    for_each_open("certificatesigningrequest-signing-controller", &context, handle).await
}

/// The files of the authority: those of the flags, or those of the authority that this server made
/// for its clients.
fn files(options: &Options) -> Option<(PathBuf, PathBuf)> {
    let directory = &options.serving.cert_dir;
    let made = || {
        options.authentication.client_ca_file.is_none().then(|| (directory.join("ca.crt"), directory.join("ca.key")))
    };
    options.controllers.signing.files.clone().or_else(made)
}

struct Signer {
    loopback: Loopback,
    clock: Arc<dyn Clock>,
    /// The certificate and the private key of the authority.
    files: (PathBuf, PathBuf),
    /// The longest validity of a certificate.
    longest: Duration,
}

impl Signer {
    /// Reads the files, which an operator may replace while the server runs.
    async fn issuer(&self) -> Result<Issuer, Status> {
        let (certificate, key) = &self.files;
        let both = (read(certificate).await?, read(key).await?);
        Issuer::from_pem(&both.0, &both.1)
            .map_err(|why| Status::internal(format!("{} and {}: {why}", certificate.display(), key.display())))
    }

    async fn handle(&self, mut object: CertificateSigningRequest) -> Result<Next, Status> {
        if decision(&object) != (true, false) || has_failed(&object) {
            return Ok(Next::Done);
        }
        let request = parse(&object)?;
        match is_for_built_in_signer(&object, &request) {
            Ok(true) => object.status.certificate = self.sign(&object.spec, &request).await?.into_bytes().into(),
            Ok(false) => return Ok(Next::Done),
            Err(refusal) => object.status.conditions.push(CertificateSigningRequestCondition {
                r#type: request_condition_type::FAILED.into(),
                status: condition_status::TRUE.into(),
                reason: "SignerValidationFailure".into(),
                message: refusal.to_string(),
                last_update_time: self.clock.now(),
                ..CertificateSigningRequestCondition::default()
            }),
        }
        self.loopback.update_status(REQUESTS, object).await.map(|_| Next::Done)
    }

    /// Issues a certificate, in PEM.
    async fn sign(&self, spec: &CertificateSigningRequestSpec, request: &CertificateRequest) -> Result<String, Status> {
        let issuer = self.issuer().await?;
        let validity = validity(self.longest, spec.expiration_seconds);
        let (not_before, not_after) = period(self.clock.now().unix(), validity, issuer.not_after())?;
        let (key_usages, extended_key_usages) = usages::extensions(&spec.usages)?;
        let profile = CertificateProfile { key_usages, extended_key_usages, not_before, not_after };
        let der = issuer
            .issue(request, &profile)
            .map_err(|why| Status::internal(format!("error auto signing csr: {why}")))?;
        Ok(pem(&der))
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, Status> {
    tokio::fs::read(path).await.map_err(|why| Status::internal(format!("{}: {why}", path.display())))
}

/// Whether signing has failed (`HasTrueCondition`).
fn has_failed(object: &CertificateSigningRequest) -> bool {
    object.status.conditions.iter().any(|condition| {
        let is_true = condition.status.is_empty() || condition.status == condition_status::TRUE;
        condition.r#type == request_condition_type::FAILED && is_true
    })
}

/// The validity of a certificate in seconds (`signer.duration`).
fn validity(longest: Duration, requested: Option<i32>) -> i64 {
    let longest = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
    match requested.map(i64::from) {
        Some(seconds) if seconds <= longest => seconds.max(SHORTEST),
        _ => longest,
    }
}

/// The begin and the end of a certificate (`PermissiveSigningPolicy.apply`).
fn period(now: i64, validity: i64, end_of_issuer: i64) -> Result<(i64, i64), Status> {
    if now >= end_of_issuer {
        return Err(Status::internal("the certificate of the authority has expired"));
    }
    let backdate = if validity < SHORT { 0 } else { BACKDATE };
    let end = now.saturating_add(validity - backdate);
    Ok((now - BACKDATE, end.min(end_of_issuer)))
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in text.as_bytes().chunks(LINE) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: i64 = 365 * 24 * 60 * 60;

    #[test]
    fn validity_is_the_requested_one_within_limits() {
        let year = Duration::from_secs(365 * 24 * 60 * 60);
        assert_eq!(validity(year, None), YEAR);
        assert_eq!(validity(year, Some(3600)), 3600);
        assert_eq!(validity(year, Some(i32::MAX)), YEAR);
        assert_eq!(validity(year, Some(1)), SHORTEST);
    }

    #[test]
    fn certificates_end_with_their_authority_and_short_ones_last_as_requested() {
        let period = |validity, end| period(1000 * YEAR, validity, 1000 * YEAR + end).unwrap();
        let from = 1000 * YEAR - BACKDATE;
        assert_eq!(period(YEAR, 2 * YEAR), (from, 1001 * YEAR - BACKDATE));
        assert_eq!(period(3600, 2 * YEAR), (from, 1000 * YEAR + 3600));
        assert_eq!(period(YEAR, 7200), (from, 1000 * YEAR + 7200));
        assert!(super::period(1, YEAR, 1).is_err());
    }

    #[test]
    fn authority_is_that_of_flags_or_the_one_that_the_server_made() {
        let of = |flags: &[&str]| {
            let all = ["kube-apiserver", "--cert-dir=c"].iter().chain(flags);
            files(&Options::parse_from(all).unwrap())
        };
        assert_eq!(of(&[]), Some(("c/ca.crt".into(), "c/ca.key".into())));
        assert_eq!(of(&["--client-ca-file=a"]), None, "a certificate of another authority would not be accepted");
        let flags = ["--client-ca-file=a", "--cluster-signing-cert-file=d", "--cluster-signing-key-file=e"];
        assert_eq!(of(&flags), Some(("d".into(), "e".into())));
    }

    #[test]
    fn pem_has_short_lines() {
        let text = pem(&[7; 100]);
        assert!(text.lines().all(|line| line.len() <= LINE));
        assert_eq!(x509::blocks(&text).next().unwrap().bytes, [7; 100]);
    }
}
